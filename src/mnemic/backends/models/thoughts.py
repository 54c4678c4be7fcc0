"""Takes the thoughts of reasoning models out of what they say, from whole texts and from streams.

Only what stands at the beginning of a reply, after white space, is a thought: a block such as `<think>…</think>`, or
OpenAI's harmony channels, of which only `final` is an answer. So an answer that talks about think tags stays as it is.
A block that is never closed is a thought to its end. Templates of DeepSeek and Qwen open the block in the prompt: then
all before a lone `</think>` is a thought, unless that is quoted, in a code fence or in JSON. A stream cannot know that
before it comes: a wary filter shows nothing until then, or until the end; another shows what comes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_BLOCKS: Final = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<thoughts>": "</thoughts>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[think]": "[/think]",  # Mistral's Magistral
}
_LONE: Final = "</think>"
_TAGS: Final = re.compile("|".join(map(re.escape, (*_BLOCKS, _LONE))), re.IGNORECASE | re.ASCII)
_LONGEST_TAG: Final = max(map(len, (*_BLOCKS, *_BLOCKS.values())))

_HARMONY: Final = ("<|channel|>", "<|start|>")
_MESSAGE: Final = "<|message|>"
_ENDS: Final = ("<|end|>", "<|return|>", "<|call|>", *_HARMONY)
_LONGEST_HEADER: Final = 200
"""Characters between a harmony token and `<|message|>`: with more, it was none."""

_QUOTES: Final = frozenset("`'\"\u2018\u201c\u00ab")


def without_thoughts(text: str) -> str:
    """Return a whole reply without its thoughts and without white space at its beginning."""
    thoughts = ThoughtFilter(wary=True)
    return thoughts.feed(text) + thoughts.end()


class ThoughtFilter:
    """Takes a reply in pieces and gives what may be shown of it, however it is cut.

    With `wary` all of it together is `without_thoughts` of the whole.
    """

    def __init__(self, *, wary: bool = False) -> None:
        self._wary = wary
        self._held = ""
        self._scanned = 0
        self._ended = False
        self._step: Callable[[], str | None] = self._begin
        self._close = ""
        self._final = False

    def trust(self) -> None:
        """Be wary no more: the server is known to keep thoughts apart."""
        self._wary = False
        if self._step == self._wait:
            self._step = self._show

    def feed(self, piece: str) -> str:
        """Return what may be shown now."""
        self._held += piece
        shown = []
        while (part := self._step()) is not None:
            shown.append(part)
        return "".join(shown)

    def end(self) -> str:
        """Return what may be shown at the end of the reply."""
        self._ended = True
        return self.feed("")

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    # Each step looks at what is held and returns what to show of it, or None when it needs more.

    def _begin(self) -> str | None:
        self._held = self._held.lstrip()
        if not self._held:
            return None
        start = self._held[:_LONGEST_TAG].lower()
        for opening, closing in _BLOCKS.items():
            if start.startswith(opening):
                self._take(len(opening))
                self._close, self._step = closing, self._skip
                return ""
        if start.startswith(_HARMONY):
            self._step = self._read_header
            return ""
        if not self._ended and any(opening.startswith(start) for opening in (*_BLOCKS, *_HARMONY)):
            return None
        is_json = start[0] in "{["  # no thought begins so, and its strings may hold any tag
        self._step = self._wait if self._wary and not is_json else self._show
        return ""

    def _skip(self) -> str | None:
        found = re.search(re.escape(self._close), self._held, re.IGNORECASE | re.ASCII)
        if found is None:
            self._take(len(self._held) if self._ended else max(0, len(self._held) - len(self._close) + 1))
            return None
        self._take(found.end())
        self._wary, self._step = False, self._begin
        return ""

    def _wait(self) -> str | None:
        while (found := _TAGS.search(self._held, self._scanned)) is not None:
            self._scanned = found.end()
            if _is_quoted(self._held, found.start()):
                continue
            if found.group().lower() == _LONE:
                self._take(found.end())
                self._wary, self._step = False, self._begin
            else:  # an answer that talks about tags
                self._step = self._show
            return ""
        self._scanned = max(self._scanned, len(self._held) - _LONGEST_TAG + 1)
        if not self._ended:
            return None
        self._step = self._show
        return ""

    def _show(self) -> str | None:
        return self._take(len(self._held)) or None

    def _read_header(self) -> str | None:
        at = self._held.find(_MESSAGE)
        if at < 0 or at > _LONGEST_HEADER:
            if len(self._held) > _LONGEST_HEADER + len(_MESSAGE):
                self._step = self._show
                return ""
            return None  # at the end it is a header without a message, and not shown
        self._final = re.search(r"<\|channel\|>\s*final\b", self._take(at + len(_MESSAGE))) is not None
        self._step = self._read_message
        return ""

    def _read_message(self) -> str | None:
        ends = [at for at in map(self._held.find, _ENDS) if at >= 0]
        if ends:
            said = self._take(min(ends))
            self._step = self._pass_end
            return said if self._final else ""
        kept = 0 if self._ended else _begun(self._held)
        said = self._take(len(self._held) - kept)
        return (said or None) if self._final else None

    def _pass_end(self) -> str | None:
        for token in _ENDS[:3]:
            if self._held.startswith(token):
                self._take(len(token))
        self._step = self._read_next
        return ""

    def _read_next(self) -> str | None:
        """Go on to the next message of harmony, if any; what stands between messages is not shown."""
        ahead = [at for at in map(self._held.find, _HARMONY) if at >= 0]
        if not ahead:
            self._take(len(self._held) - (0 if self._ended else _begun(self._held)))
            return None
        self._take(min(ahead))
        self._step = self._read_header
        return ""


def _begun(text: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a harmony token."""
    longest = max(map(len, _ENDS)) - 1
    for count in range(min(longest, len(text)), 0, -1):
        if any(token.startswith(text[-count:]) for token in _ENDS):
            return count
    return 0


def _is_quoted(text: str, at: int) -> bool:
    """Tell whether a tag is spoken about: it stands after a quotation mark, or in a code fence."""
    return text[at - 1 : at] in _QUOTES or text.count("```", 0, at) % 2 == 1
