"""Web pages: the main text as trafilatura finds it, with the structure that the page itself has.

trafilatura says which words are the page's own and not its surroundings; blocks come from the elements. Tables and code
that stand between such words are kept, since what looks for prose tends to lose them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.decoding import decoded_for
from mnemic.backends.readers.tree import Walk, parsed
from mnemic.model.reading import BlockKind

if TYPE_CHECKING:
    from lxml.html import HtmlElement
    from trafilatura.settings import Document

_CHARSET: Final = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_DECLARATION: Final = re.compile(r"\A\s*<\?xml[^>]*\?>")
_HEAVY: Final = 2 << 20
"""Characters of a page beyond which it is taken as a whole: telling main text apart takes too long."""
_WORD: Final = re.compile(r"\w+")
_ENOUGH: Final = 0.5
_STRUCTURED: Final = frozenset({BlockKind.TABLE, BlockKind.CODE, BlockKind.HEADING, BlockKind.CAPTION, BlockKind.NOTE})


@dataclass(slots=True)
class _Piece:
    """A block that is not told yet, and the links in it."""

    kind: BlockKind
    text: str
    more: dict[str, Any]
    links: list[str] = field(default_factory=list)


class _Pieces:
    """Gathers blocks instead of telling them."""

    def __init__(self) -> None:
        self.all: list[_Piece] = []
        self._links: list[str] = []

    def block(self, kind: BlockKind, text: str, **more: Any) -> None:
        if text.strip():
            self.all.append(_Piece(kind, text, more, self._links))
            self._links = []

    def link(self, address: str) -> None:
        self._links.append(address)


def read(asked: Asked, telling: Telling) -> None:
    """Read a web page."""
    raw = asked.path.read_bytes()
    text = _DECLARATION.sub("", _decoded(telling, raw))
    root = parsed(text)
    main = _main(text)
    _tell_facts(telling, root, main)
    pieces = _Pieces()
    base = next((element.get("href") or "" for element in root.iter("base")), "")
    Walk(pieces, base=base, around=main is None).tell(root.find("body"))
    for piece in _kept(pieces.all, main):
        for address in piece.links:
            telling.link(address)
        telling.block(piece.kind, piece.text, **piece.more)


def _decoded(telling: Telling, raw: bytes) -> str:
    """Decode a page; what it says of its encoding is believed when it is not UTF-8."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        declared = _CHARSET.search(raw[:4_096])
    if declared:
        try:
            text = raw.decode(declared[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            return decoded_for(telling, raw)
        telling.fact("encoding", declared[1].decode("ascii").lower())
        return text
    return decoded_for(telling, raw)


def _main(text: str) -> Document | None:
    from trafilatura import bare_extraction  # noqa: PLC0415 - half a second

    if len(text) > _HEAVY:
        return None
    found = bare_extraction(text, with_metadata=True, include_comments=False, favor_recall=True)
    return None if found is None or isinstance(found, dict) else found


def _tell_facts(telling: Telling, root: HtmlElement, main: Document | None) -> None:
    titles = list(root.iter("title"))
    telling.title = (main.title if main is not None else None) or (titles[0].text_content() if titles else "")
    telling.fact("language", root.get("lang") or root.get("xml:lang"))
    if main is not None:
        facts = {"author": main.author, "created": main.date, "site": main.sitename, "description": main.description}
        for name, value in facts.items():
            telling.fact(name, value)
        telling.fact("keywords", ", ".join(main.tags or ()))
        if main.url:
            telling.fact("address", main.url)


def _kept(pieces: list[_Piece], main: Document | None) -> Iterator[_Piece]:
    """Yield the blocks of the main text; all of them when it was not found or is next to nothing."""
    words = _words(main.text or "") if main is not None else []
    if not words:
        yield from pieces
        return
    known = _Runs(words)
    marks = [known.has(piece.text) for piece in pieces]
    if not any(marks):
        yield from pieces
        return
    first, last = marks.index(True), len(marks) - 1 - marks[::-1].index(True)
    for at, piece in enumerate(pieces):
        between = first <= at <= last and piece.kind in _STRUCTURED
        if marks[at] or between or (piece.kind is BlockKind.HEADING and _leads(pieces, marks, at)):
            yield piece


def _leads(pieces: list[_Piece], marks: list[bool], at: int) -> bool:
    """Tell whether a heading stands right before a block that is kept, headings between them aside."""
    for after in range(at + 1, len(pieces)):
        if pieces[after].kind is not BlockKind.HEADING:
            return marks[after]
    return False


class _Runs:
    """The runs of words of a text, to find blocks in it."""

    def __init__(self, words: list[str]) -> None:
        self._pairs = set(itertools.pairwise(words))
        self._words = set(words)

    def has(self, text: str) -> bool:
        """Tell whether most of a text's pairs of words stand in the other."""
        words = _words(text)
        if len(words) < 2:
            return bool(words) and words[0] in self._words
        pairs = list(itertools.pairwise(words))
        return sum(1 for pair in pairs if pair in self._pairs) >= _ENOUGH * len(pairs)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
