"""What a model's reply is taken for: text, references, the mark that memory does not hold the answer, and what follows.

Marks are ours and stand in brackets: `[none]` at one end of the reply, `[search]` and `[next]` where they were offered;
from the first of those on, a reply is not text. A bracket with numbers alone is a reference, in any script's digits; a
number that no memory has is removed. Inside code nothing is a mark or a reference. A mark is never shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

SEARCH: Final = "search"
NEXT: Final = "next"

SUGGESTION: Final = 300
"""Characters of a next question, and of words to search for; what is longer is no question."""

_OPENS: Final = "[\u3010\uff3b"
_CLOSES: Final = "]\u3011\uff3d"
_OPEN: Final = rf"[\{_OPENS}]"
_CLOSE: Final = rf"[\{_CLOSES}]"
_NONE: Final = rf"\*{{0,2}}{_OPEN}\s*none\s*{_CLOSE}\*{{0,2}}"
_NONE_FIRST: Final = re.compile(rf"\A[\s*]*{_NONE}[ \t]*[:\uff1a.\u3002,\u2013\u2014-]*\s*", re.IGNORECASE)
_NONE_LAST: Final = re.compile(rf"\s*{_NONE}[\s.\u3002*]*\Z", re.IGNORECASE)
_REFERENCE: Final = re.compile(
    rf"[ \t]?{_OPEN}\s*(?P<list>\d{{1,3}}(?:\s*[,;\u3001\uff0c\uff1b\u060c&\u2013-]\s*\d{{1,3}})*)\s*"
    rf"(?:\u2020[^{_CLOSES}\n]*)?{_CLOSE}(?!\()"
)
_NUMBER_OR_DASH: Final = re.compile(r"\d+|[\u2013-]")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_LISTED: Final = re.compile(r"^[\s>*\u2022-]*(?:\d{1,2}[.)]\s+)?[\s*]*")
_UNFINISHED: Final = re.compile(rf"{_OPEN}[^{_CLOSES}\n]{{0,12}}\Z")
_LIST_MARK_LAST: Final = re.compile(r"\n[ \t>*\u2022\d.)-]*\Z")


@dataclass(frozen=True, slots=True)
class Read:
    """A reply, read. `cited` are the numbers of the memories that it names, each once, in order; `none` tells that it
    says that memory does not hold the answer. `dropped` counts the references that name no memory.
    """

    text: str
    cited: tuple[int, ...]
    none: bool
    suggestions: tuple[str, ...] = ()
    dropped: int = 0


def marks_for(*, depth: int, suggest: int) -> tuple[str, ...]:
    """Return the marks that a prompt offers, beside `[none]`."""
    return (*((SEARCH,) if depth else ()), *((NEXT,) if suggest else ()))


def read_reply(reply: str, references: Collection[int], *, marks: Sequence[str] = (), suggest: int = 0) -> Read:
    """Read a whole reply; `references` are the numbers that were given out. `text` may come out empty."""
    body, tail = _parted(reply, marks)
    none = bool(_NONE_FIRST.search(body) or _NONE_LAST.search(body))
    text, cited, dropped = _checked(visible(reply, marks), references)
    if not _REFERENCE.sub("", text).strip():
        text = ""  # references to nothing said
    return Read(text, cited, none, _suggestions(tail, suggest) if NEXT in marks else (), dropped)


def visible(reply: str, marks: Sequence[str] = (), *, whole: bool = True) -> str:
    """Return what may be shown of a reply. Of one that is still being written (not `whole`), what cannot change any
    more: what is shown of the longer reply begins with it.
    """
    body = _parted(reply, marks)[0]
    text = _NONE_FIRST.sub("", body)
    if whole:
        return _NONE_LAST.sub("", text).strip()
    held = None
    while held != text:
        held = text
        text = _NONE_LAST.sub("", _UNFINISHED.sub("", _LIST_MARK_LAST.sub("", text))).rstrip().rstrip("*")
    return text.lstrip()


def searches_in(reply: str, left: int) -> tuple[str, ...]:
    """Return what a reply wants to be looked for, `left` searches at most; empty when it is an answer."""
    first = _mark(SEARCH).search(reply)
    if first is None:
        return ()
    return tuple(_items(reply[first.start() :]))[:left]


def without_references(text: str) -> str:
    """Return a text without its references, which mean nothing away from their memories."""
    return _checked(text, ())[0]


def _parted(reply: str, marks: Sequence[str]) -> tuple[str, str]:
    """Cut a reply before the first of the marks that stands outside code."""
    if not marks:
        return reply, ""
    code = [match.span() for match in _CODE.finditer(reply)]
    for match in _mark("|".join(marks)).finditer(reply):
        if not any(start < match.start() < end for start, end in code):
            at = match.start()
            return _LIST_MARK_LAST.sub("", reply[:at]), reply[at:]
    return reply, ""


def _mark(names: str) -> re.Pattern[str]:
    return re.compile(rf"\*{{0,2}}{_OPEN}\s*(?:{names})\s*\d{{0,2}}\s*{_CLOSE}\*{{0,2}}[ \t]*[:\uff1a]?", re.IGNORECASE)


def _items(tail: str) -> Iterator[str]:
    """Yield the lines of what follows a mark, each once, without marks and list signs."""
    seen: set[str] = set()
    for line in _mark(f"{SEARCH}|{NEXT}").sub("\n", tail).splitlines():
        words = _LISTED.sub("", line).strip().strip('"\u201c\u201d*` ').strip()
        if 1 < len(words) <= SUGGESTION and words.casefold() not in seen:
            seen.add(words.casefold())
            yield words


def _suggestions(tail: str, most: int) -> tuple[str, ...]:
    first = _mark(NEXT).search(tail)
    return tuple(_items(tail[first.start() :]))[:most] if first else ()


def _checked(text: str, references: Collection[int]) -> tuple[str, tuple[int, ...], int]:
    """Return a text with real references only, the numbers of those, and how many were removed."""
    code = [match.span() for match in _CODE.finditer(text)]
    cited: dict[int, None] = {}
    dropped = 0

    def put(match: re.Match[str]) -> str:
        nonlocal dropped
        if any(start <= match.start() < end for start, end in code):
            return match.group()
        named = list(_numbers(match["list"]))
        real = [one for one in named if one in references]
        cited.update(dict.fromkeys(real))
        dropped += len(named) - len(real)
        if len(real) == len(named):
            return match.group()
        lead = match.group()[:1] if match.group()[:1] in " \t" and real else ""
        return f"{lead}[{', '.join(map(str, real))}]" if real else ""

    return _REFERENCE.sub(put, text).strip(), tuple(cited), dropped


def _numbers(listed: str) -> Iterator[int]:
    """Yield the numbers of "1, 3" and "2-4"."""
    last: int | None = None
    through = False
    for piece in _NUMBER_OR_DASH.findall(listed):
        if piece in "-\u2013":
            through = True
            continue
        now = int(piece)
        yield from range(last + 1, now) if through and last is not None and last < now else ()
        yield now
        last, through = now, False
