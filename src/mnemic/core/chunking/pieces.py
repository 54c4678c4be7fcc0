"""What a document is cut between: sentences, items of lists, rows of tables, lines of code, in stretches.

A stretch is what may stand in one passage together: under one heading, on one page, of one part, and a table is one of
its own. Pages and headings begin passages anew, so that a change on one page reaches only those beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from mnemic.core.chunking.passage import heading_of, room_of
from mnemic.core.chunking.sizing import parts, size_of
from mnemic.model.reading import Block, BlockKind, Reading
from mnemic.text import sentence_spans

_TOP: Final = 2
"""Headings up to this level open a section."""

_LEAST: Final = 16  # word pieces of a passage, whatever its headings take
_ENDED: Final = re.compile(r"[.!?:;\u2026\u061f\u06d4\u0964\u3002\uff01\uff1f][\"'\u201d\u2019)\]\u300d\u300f]*\s*\Z")
_LEADS: Final = re.compile(r"[:\uff1a]\s*\Z")
_LED: Final = (BlockKind.LIST, BlockKind.CODE, BlockKind.TABLE)


@dataclass(frozen=True, slots=True)
class Piece:
    """What is never cut. `lead` is what stands again in front of a passage that begins with it.

    `glued` keeps it with the piece behind it. `overlaps`: it may be repeated at the top of the next passage.
    """

    start: int
    end: int
    size: int
    block: int
    kind: BlockKind
    page: int | None
    row: int | None = None
    lead: str = ""
    opens: bool = False
    glued: bool = False
    overlaps: bool = False


@dataclass(slots=True)
class Stretch:
    """Pieces that may stand together; the first `repeated` of them belong to the stretch before."""

    headings: tuple[str, ...]
    section: int
    part: str
    room: int
    pieces: list[Piece] = field(default_factory=list)
    repeated: int = 0
    header: str = ""

    @property
    def is_table(self) -> bool:
        """Whether its last piece is a row of a table."""
        return bool(self.pieces) and self.pieces[-1].kind is BlockKind.TABLE

    @property
    def only_headings(self) -> bool:
        """Whether there is nothing but headings in it yet."""
        return all(each.kind is BlockKind.HEADING for each in self.pieces[self.repeated :])


class Stretching:
    """Goes through the blocks of a reading."""

    def __init__(self, reading: Reading, rooms: Rooms, *, overlap: int) -> None:
        self._text = reading.text
        self._blocks = list(reading.placed())
        self._rooms = rooms
        self._overlap = overlap
        self._path: list[tuple[int, str]] = []
        self._section = 0
        self._now = self._new("")

    def run(self) -> Iterator[Stretch]:
        """Yield the stretches in reading order."""
        for number, (start, block) in enumerate(self._blocks):
            if not block.text.strip() and not block.header.strip():
                continue
            if block.kind is BlockKind.HEADING:
                yield from self._heading(number, start, block)
                continue
            yield from self._before(block)
            self._take(number, start, block)
        if self._now.pieces:
            yield self._now

    def _heading(self, number: int, start: int, block: Block) -> Iterator[Stretch]:
        """Open what a heading opens. Headings wait for what they are above, over the end of a page too."""
        level = max(1, block.level)
        waiting = self._now if self._now.only_headings and self._now.part == block.part else None
        if waiting is None and self._now.pieces:
            yield self._now
        self._leave(block.part)
        self._path = [each for each in self._path if each[0] < level] + [(level, heading_of(block.text))]
        self._section += level <= _TOP
        before = waiting.pieces if waiting is not None else []
        opened = self._new(block.part)
        pieces = self._cut(number, start, block, opened.room)
        if before and sum(each.size for each in (*before, *pieces)) > opened.room // 4:
            yield self._closed(before, waiting)
            before = []
        opened.pieces = [*before, *pieces]
        self._now = opened

    def _closed(self, pieces: list[Piece], waiting: Stretch | None) -> Stretch:
        """Return headings above nothing as a stretch of their own."""
        assert waiting is not None  # noqa: S101 - there are pieces only of one
        return Stretch(waiting.headings, waiting.section, waiting.part, waiting.room, pieces)

    def _before(self, block: Block) -> Iterator[Stretch]:
        """End the stretch that goes on here, when this block belongs to another."""
        now = self._now
        if not now.pieces:
            self._now = self._new(block.part)
            return
        last = now.pieces[-1]
        is_table = block.kind is BlockKind.TABLE
        if now.part == block.part and now.only_headings:
            return
        if now.part == block.part and last.page == block.page and not is_table and not now.is_table:
            return
        if is_table and last.kind is BlockKind.CAPTION and last.page == block.page and now.part == block.part:
            yield from self._with_caption(last.block)
            return
        yield now
        self._leave(block.part)
        self._now = self._new(block.part)
        if now.part == block.part and self._overlap and self._runs_on(last, block):
            self._now.pieces, self._now.repeated = [last], 1

    def _leave(self, part: str) -> None:
        """Forget the headings of a sheet, chapter or attachment when another begins."""
        if self._now.part != part:
            self._path = []
            self._section += 1

    def _with_caption(self, number: int) -> Iterator[Stretch]:
        """Take a caption out of what goes before: it stands with the table that it is above."""
        now = self._now
        caption = [each for each in now.pieces if each.block == number]
        rest = [each for each in now.pieces if each.block != number]
        left = Stretch(now.headings, now.section, now.part, now.room, rest, now.repeated)
        self._now = self._new(now.part)
        if left.only_headings:
            self._now.pieces, self._now.repeated = [*rest, *caption], now.repeated
            return
        yield left
        self._now.pieces = caption

    def _runs_on(self, last: Piece, block: Block) -> bool:
        """Tell whether a sentence goes on over the end of a page, or leads a table in."""
        if not last.overlaps or last.size > self._now.room // 4:
            return False
        ended = self._text[last.start : last.end]
        if block.kind in _LED:
            return bool(_LEADS.search(ended))
        return last.page != block.page and not _ENDED.search(ended)

    def _take(self, number: int, start: int, block: Block) -> None:
        if block.kind is BlockKind.TABLE:
            self._now.header = block.header
        self._now.pieces.extend(self._cut(number, start, block, self._now.room))

    def _new(self, part: str) -> Stretch:
        headings = tuple(text for _, text in self._path)
        return Stretch(headings, self._section, part, max(_LEAST, self._rooms(headings)))

    def _cut(self, number: int, start: int, block: Block, room: int) -> list[Piece]:
        """Return the pieces of a block."""
        lead = self._lead(number, block, room)
        inside = self._inside(block, lead, room)
        spans = _spans(block, inside)
        found: list[Piece] = []
        for line, span in enumerate(spans):
            row = None if block.row is None or block.kind is not BlockKind.TABLE else block.row + line
            for begin, end in _parted(block.text, span, inside):
                found.append(
                    Piece(
                        start + begin, start + end, size_of(block.text[begin:end]), number, block.kind, block.page,
                        row=row, lead=lead, opens=not found, glued=block.kind is BlockKind.HEADING,
                        overlaps=block.kind in (BlockKind.PARAGRAPH, BlockKind.NOTE),
                    )
                )  # fmt: skip
        if not found and block.header.strip():  # a table without rows is found by its columns
            found = [Piece(start, start, 0, number, block.kind, block.page)]
        if found and self._leads(number, block):
            found[-1] = replace(found[-1], glued=True)
        return found

    def _inside(self, block: Block, lead: str, room: int) -> int:
        """Return how large a piece may be, beside the headings that wait and what is repeated above it."""
        if block.kind is BlockKind.HEADING:
            return room // 2
        above = sum(each.size for each in self._now.pieces) if self._now.only_headings else 0
        beside = size_of(block.header) if block.kind is BlockKind.TABLE else size_of(lead)
        return max(1, room - min(above, room // 4) - min(beside, room // 2))

    def _lead(self, number: int, block: Block, room: int) -> str:
        """Return what stands again above the rest of a list that is cut: the sentence that leads it in."""
        if block.kind is not BlockKind.LIST or number == 0:
            return ""
        _, before = self._blocks[number - 1]
        if before.kind is not BlockKind.PARAGRAPH or not _LEADS.search(before.text):
            return ""
        begin, end = sentence_spans(before.text)[-1]
        led = before.text[begin:end]
        return led if size_of(led) <= room // 4 else ""

    def _leads(self, number: int, block: Block) -> bool:
        if block.kind is not BlockKind.PARAGRAPH or number + 1 >= len(self._blocks):
            return False
        return self._blocks[number + 1][1].kind in _LED and bool(_LEADS.search(block.text))


class Rooms:
    """How large passages may be under which headings."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._known: dict[tuple[str, ...], int] = {}

    def __call__(self, headings: tuple[str, ...]) -> int:
        """Return the room for text under these headings."""
        if headings not in self._known:
            self._known[headings] = room_of(headings, self._limit)
        return self._known[headings]


def _spans(block: Block, room: int) -> list[tuple[int, int]]:
    """Return where a block may be cut: between sentences, items, rows or lines."""
    text = block.text
    if block.kind is BlockKind.HEADING or (block.kind is BlockKind.CODE and size_of(text) <= room):
        return [(0, len(text))] if text.strip() else []
    if block.kind in (BlockKind.CODE, BlockKind.LIST, BlockKind.TABLE):
        return _lines(text)
    return _sentences(text)


def _sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of sentences, each with what closes it: quotes and brackets behind its full stop."""
    starts = [start for start, _ in sentence_spans(text)]
    if not starts:
        return []
    starts[0] = len(text) - len(text.lstrip())
    ends = [*starts[1:], len(text)]
    return [(start, start + len(text[start:end].rstrip())) for start, end in zip(starts, ends, strict=True)]


def _lines(text: str) -> list[tuple[int, int]]:
    """Return the spans of lines. Blank ones count too: rows are numbered by them."""
    spans: list[tuple[int, int]] = []
    start = 0
    for line in text.split("\n"):
        spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def _parted(text: str, span: tuple[int, int], room: int) -> list[tuple[int, int]]:
    begin, end = span
    part = text[begin:end]
    if not part.strip():
        return []
    if size_of(part) <= room:
        return [(begin, end)]
    return [(begin + left, begin + right) for left, right in parts(part, max(1, room))]
