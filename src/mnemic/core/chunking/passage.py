"""What cutting gives: passages with their places, and what search reads of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.chunking.sizing import fitting, size_of
from mnemic.ids import content_hash
from mnemic.model.document import ChunkKind
from mnemic.text import clean, shorten

PATH: Final = 48
"""Word pieces of a heading path that search reads at most; outer headings are left out first."""

_HEADING: Final = 120  # characters of a heading in a path
_STEP: Final = " > "


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document in reading order.

    `start:end` are characters of the text that was read; in front of them, `text` may repeat the header of a table or
    the sentence that leads a list in. `section` counts the headings of the first two levels up to here.
    """

    kind: ChunkKind
    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()
    page: int | None = None
    last_page: int | None = None
    row: int | None = None
    part: str = ""
    section: int = 0

    @property
    def hash(self) -> str:
        """Names what search reads of it."""
        return hash_of(self.kind, self.headings, self.text)


def hash_of(kind: ChunkKind, headings: Sequence[str], text: str) -> str:
    """Return the hash of a chunk: two of the same kind with the same headings and text have the same."""
    return content_hash(kind.value, "\x1f".join(headings), text)


def heading_of(text: str) -> str:
    """Return a heading as it stands in a path."""
    return shorten(clean(text), _HEADING)


def body_of(headings: Sequence[str], text: str) -> str:
    """Return the text of a chunk without the headings at its top; empty when there is nothing else in it."""
    known = {heading_of(each) for each in headings}
    lines = text.split("\n")
    at = 0
    while at < len(lines) and (not lines[at].strip() or heading_of(lines[at]) in known):
        at += 1
    return "\n".join(lines[at:])


def indexed(headings: Sequence[str], text: str) -> str:
    """Return what search reads of a chunk: the headings that lead to it, then its text without those at its top."""
    path, body = _path(headings), body_of(headings, text)
    return f"{path}\n{body}" if path and body else path or body


def room_of(headings: Sequence[str], limit: int) -> int:
    """Return how large the text of a chunk under these headings may be."""
    return limit - size_of(_path(headings))


def _path(headings: Sequence[str]) -> str:
    kept = list(headings)
    while len(kept) > 1 and size_of(_STEP.join(kept)) > PATH:
        kept.pop(0)
    return fitting(_STEP.join(kept), PATH) if kept else ""
