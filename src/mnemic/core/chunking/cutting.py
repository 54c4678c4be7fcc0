"""Cutting a stretch into passages: as large as the limit allows, at the places that its own words choose.

Where a stretch is too large, it is cut between blocks rather than inside of one, and among such places at the one whose
text hashes lowest of all around it (content-defined chunking by local extremes: Teodosiu and others, "Optimizing File
Replication over Limited-Bandwidth Networks using Remote Differential Compression", 2006, section 3.2). Cuts so follow
what is written, not where it stands: what is put in or taken out moves those beside it, and not all that follow.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate

from mnemic.core.chunking.passage import Passage
from mnemic.core.chunking.pieces import Piece, Rooms, Stretch, Stretching
from mnemic.core.chunking.sizing import fitting, parts, size_of
from mnemic.model.document import ChunkKind
from mnemic.model.reading import BlockKind, Reading

_HALF = 2  # a passage is filled to a half at least, where it can be
_QUARTER = 4  # of the room, which what is repeated takes at most, and what is left at the end has at least


def cut(reading: Reading, *, limit: int, overlap: int) -> list[Passage]:
    """Return the passages of a reading, in order: none larger than the limit with its headings, in word pieces.

    Together they hold every character that is not white space. `overlap` is how many sentences the next one repeats.
    """
    text = reading.text
    found: list[Passage] = []
    for stretch in Stretching(reading, Rooms(limit), overlap=overlap).run():
        found.extend(_Cutting(text, stretch, overlap).run())
    return found


class _Cutting:
    """Cuts one stretch."""

    def __init__(self, text: str, stretch: Stretch, overlap: int) -> None:
        self._text = text
        self._stretch = stretch
        self._overlap = overlap
        half = stretch.room // _HALF
        self._header = stretch.header if size_of(stretch.header) <= half else fitting(stretch.header, half)
        self._pieces = stretch.pieces[stretch.repeated :] if self._has_wide_header else stretch.pieces
        self._ends = list(accumulate((each.size for each in self._pieces), initial=0))
        self._marks = self._found_marks() if self._ends[-1] > stretch.room else set()

    def run(self) -> list[Passage]:
        found = self._wide_header()
        at = 0 if self._has_wide_header else self._stretch.repeated
        while at < len(self._pieces):
            first = self._first(at)
            end = self._end(at, first)
            found.append(self._passage(first, end))
            at = end
        return found

    @property
    def _has_wide_header(self) -> bool:
        """Whether passages of the header stand before the rows: then nothing is repeated above it."""
        return self._stretch.header != self._header and self._stretch.is_table

    def _wide_header(self) -> list[Passage]:
        """Return a header that is too large to be repeated as passages of its own."""
        if not self._has_wide_header:
            return []
        header, first = self._stretch.header, self._pieces[0]
        return [
            Passage(
                ChunkKind.TABLE, header[begin:end], first.start, first.start, self._stretch.headings, first.page,
                first.page, None, self._stretch.part, self._stretch.section,
            )
            for begin, end in parts(header, self._stretch.room)
        ]  # fmt: skip

    def _first(self, at: int) -> int:
        """Return the piece that a passage begins with: some sentences before what is new in it."""
        room = self._stretch.room
        first, left = at, min(room // _QUARTER, room - self._cost(at, at))
        while first > 0 and at - first < self._overlap:
            before = self._pieces[first - 1]
            if not before.overlaps or before.size > left:
                break
            left -= before.size
            first -= 1
        return first

    def _end(self, at: int, first: int) -> int:
        """Return the end of the passage with these pieces: as many as fit, cut where it is best."""
        room = self._stretch.room - self._front_size(first, at)
        sizes = [each.size for each in self._pieces[first:at]]
        used, end = sum(sizes), at
        while end < len(self._pieces) and used + self._cost(end, at) <= room:
            used += self._cost(end, at)
            end += 1
        if end == len(self._pieces):
            return end
        return self._best(at, end, room) if end > at else at + 1

    def _cost(self, place: int, at: int) -> int:
        """Return what a piece takes: the first row of a table with the header above it."""
        piece = self._pieces[place]
        is_top = piece.kind is BlockKind.TABLE and (place == at or self._pieces[place - 1].kind is not BlockKind.TABLE)
        return piece.size + (size_of(self._header) if is_top else 0)

    def _front_size(self, first: int, at: int) -> int:
        return size_of(self._lead(first)) if first == at else 0

    def _lead(self, first: int) -> str:
        """Return the sentence that stands again above the rest of a list."""
        piece = self._pieces[first]
        return piece.lead if piece.kind is BlockKind.LIST and not piece.opens else ""

    def _best(self, at: int, end: int, room: int) -> int:
        rest = self._ends[-1] - self._ends[at]
        used, found = 0, [(9, (0, 0), end)]
        for place in range(at + 1, end + 1):
            used += self._pieces[place - 1].size
            is_mark = place in self._marks
            if self._pieces[place - 1].glued or (used < room // (_QUARTER if is_mark else _HALF) and place < end):
                continue
            is_left_over = rest - used < room // _QUARTER
            found.append((2 * is_left_over - is_mark, self._worth(place), place))
        return min(found)[2]

    def _found_marks(self) -> set[int]:
        """Return the places that are better than all around them: where a long stretch is cut, wherever it begins."""
        reach, found = self._stretch.room // _HALF, set()
        places = [place for place in range(1, len(self._pieces)) if not self._pieces[place - 1].glued]
        worths = {place: self._worth(place) for place in places}
        ends, low, high = self._ends, 0, 0
        for number, place in enumerate(places):
            while ends[place] - ends[places[low]] > reach:
                low += 1
            while high < len(places) and ends[places[high]] - ends[place] <= reach:
                high += 1
            around = (worths[other] for other in (*places[low:number], *places[number + 1 : high]))
            if all(worths[place] < other for other in around):
                found.add(place)
        return found

    def _worth(self, place: int) -> tuple[int, int]:
        return self._rank(place), self._hashed(place)

    def _rank(self, place: int) -> int:
        """Return how well it can be cut before a piece: 0 between blocks, 1 inside of one."""
        before, after = self._pieces[place - 1], self._pieces[place]
        gap = self._text[before.end : after.start]
        return int(before.block == after.block and not (after.kind is BlockKind.CODE and gap.count("\n") > 1))

    def _hashed(self, place: int) -> int:
        piece = self._pieces[place]
        return zlib.crc32(self._text[piece.start : piece.end].encode("utf-8", "surrogatepass"))

    def _passage(self, first: int, end: int) -> Passage:
        pieces = self._pieces[first:end]
        rows = [each for each in pieces if each.kind is BlockKind.TABLE]
        return Passage(
            kind=_kind(pieces),
            text=self._written(first, pieces, rows),
            start=pieces[0].start,
            end=pieces[-1].end,
            headings=self._stretch.headings,
            page=pieces[0].page,
            last_page=pieces[-1].page,
            row=rows[0].row if rows else None,
            part=self._stretch.part,
            section=self._stretch.section,
        )

    def _written(self, first: int, pieces: Sequence[Piece], rows: Sequence[Piece]) -> str:
        if rows:
            above = self._text[pieces[0].start : rows[0].start].rstrip() if pieces[0] is not rows[0] else ""
            table = self._text[rows[0].start : rows[-1].end]
            header = f"{self._header}\n{table}".strip("\n") if self._header.strip() else table
            return f"{above}\n\n{header}" if above else header
        told, lead = self._text[pieces[0].start : pieces[-1].end], self._lead(first)
        return f"{lead}\n{told}" if lead else told


def _kind(pieces: Sequence[Piece]) -> ChunkKind:
    if any(each.kind is BlockKind.TABLE for each in pieces):
        return ChunkKind.TABLE
    own = [each for each in pieces if each.kind is not BlockKind.HEADING]
    code = sum(each.end - each.start for each in own if each.kind is BlockKind.CODE)
    return ChunkKind.CODE if own and 2 * code > sum(each.end - each.start for each in own) else ChunkKind.PASSAGE
