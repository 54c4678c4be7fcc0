"""Carrying the rows of one moment of a store into another store: copied, compared cube by cube, and put right.

Each transaction notes in the target how far it came. A place that was reached is gone on from only when all up to it
still agrees; a cube that differs is erased and copied anew, whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from mnemic.core.digests import Digest
from mnemic.errors import ConflictError, StoreError
from mnemic.model.moving import MOVING
from mnemic.ports.moving import RawReading, RawStore, RawWriting, Row, Shape, Span
from mnemic.services.summing import BYTES, Page, Place, Sums, keys_of, pages, stretches, summed

Progress = Callable[[int, int | None], None]
"""Is told how many rows are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Stand:
    """How far a move from `place` to `to` came, of the store with the id `source`.

    Cubes up to `through` have arrived; of those up to `last`, `table` up to the row `after`. `erased` tells that
    something had to be erased on the way.
    """

    source: str
    place: str
    to: str
    step: int = 0
    through: int = 0
    last: int = 0
    table: str = ""
    after: Row = ()
    erased: bool = False

    @property
    def reached(self) -> Place | None:
        """The last row that arrived, when it is in the middle of a stretch."""
        return Place(self.table, self.after) if self.table else None

    def written(self) -> str:
        """Return it as it is noted."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def read(cls, text: str) -> Stand:
        """Read what `written` wrote."""
        found: dict[str, Any] = json.loads(text)
        return cls(**{**found, "after": tuple(found["after"])})


class Carry:
    """Carries a store into another, pass by pass; each makes the other the same as one moment.

    Of the last pass: `again` are cubes (ids by key) that had arrived and had to be copied once more, `left` and
    `arrived` is what each table of both held, `wrote` whether it had to write.
    """

    def __init__(self, source: RawStore, target: RawStore, stand: Stand, told: Progress) -> None:
        """Go on from `stand`, which is what the target notes."""
        self.stand = stand
        self.again: dict[int, str] = {}
        self.wrote = False
        self.cubes = 0
        self.left: dict[str, Digest] = {}
        self.arrived: dict[str, Digest] = {}
        self._target = target
        self._loose = [shape for shape in source.shapes if shape.cube is None]
        self._shapes = [shape for shape in source.shapes if shape.cube is not None]
        self._told = told
        self._done = self._total = 0

    def carry(self, moment: RawReading) -> None:
        """Make the target the same as this moment. Raises `StoreError` when what arrives is not what was read."""
        self.wrote, self.cubes, self.again, self.left, self.arrived = False, 0, {}, {}, {}
        self._done, self._total = 0, moment.count()
        self._told(0, self._total)
        self._carry_loose(moment)
        self._drop_gone(moment)
        for span, cubes in stretches(moment, (self.stand.through, self.stand.last)):
            sums = (
                self._brought(moment, span) if span[1] > self.stand.through else self._read(moment, self._shapes, span)
            )
            held = self._put_right(moment, span, cubes, sums)
            sums.add_to(self.left)
            held.add_to(self.arrived)
            self.cubes += len(cubes)

    def finish(self, notes: Mapping[str, str]) -> None:
        """Make the target whole, let these be all that it notes, and so let it be opened."""
        with self._target.write() as tx:
            self._claim(tx, None)
            held = tx.notes()
            for name in sorted(held.keys() | notes.keys()):
                tx.note(name, notes.get(name), was=held.get(name))
            tx.finish(erased=self.stand.erased)

    # -- one pass --------------------------------------------------------------------------------------------------

    def _carry_loose(self, moment: RawReading) -> None:
        """Replace the tables that are of no cube, when they differ."""
        sums, held = self._read(moment, self._loose, None), self._held(self._loose, None)
        if sums.differing(held):
            with self._writing(self.stand) as tx:
                for shape in self._loose:
                    tx.empty(shape)
                for page in pages(moment, self._loose, None, Sums()):
                    tx.put(page.shape, page.rows)
            held = self._held(self._loose, None)
            if sums.differing(held):
                raise _unlike(self._target, "what is of no cube")
        sums.add_to(self.left)
        held.add_to(self.arrived)

    def _drop_gone(self, moment: RawReading) -> None:
        """Erase cubes that the source has no more: their names may have been given to others."""
        gone: list[int] = []
        with self._target.read() as reading:
            for span, cubes in stretches(reading):
                gone += sorted(cubes.keys() - set(keys_of(moment, span)))
        if gone:
            self._erase(gone)

    def _read(self, moment: RawReading, shapes: Sequence[Shape], span: Span | None) -> Sums:
        """Sum up what arrived before."""
        sums = Sums()
        for page in pages(moment, shapes, span, sums):
            self._count(page)
        return sums

    def _brought(self, moment: RawReading, span: Span) -> Sums:
        """Copy a stretch, from where an earlier run left off if what it brought is still so; return its sums."""
        sums, behind = Sums(), self.stand.reached
        if behind is not None:
            for page in pages(moment, self._shapes, span, sums, until=behind):
                self._count(page)
            if sums.differing(self._held(self._shapes, span)):
                with self._target.read() as reading:
                    there = list(keys_of(reading, span))
                self._erase(there, replace(self.stand, last=0, table="", after=()))
                sums, behind = Sums(), None
        arrived = replace(self.stand, through=span[1], last=0, table="", after=())
        self._copy(pages(moment, self._shapes, span, sums, behind=behind), arrived, span[1])
        return sums

    def _copy(self, found: Iterator[Page], arrived: Stand, last: int) -> None:
        """Write what is found in transactions of bounded size that note their place, the last one that all is there."""
        batch: list[Page] = []
        for page in found:
            self._count(page)
            batch.append(page)
            if sum(each.bytes for each in batch) >= BYTES:
                self._write(batch, replace(self.stand, last=last, table=page.last.table, after=page.last.key))
                batch = []
        self._write(batch, arrived)

    def _put_right(self, moment: RawReading, span: Span, cubes: Mapping[int, str], sums: Sums) -> Sums:
        """Compare a stretch and copy anew the cubes that differ; return the sums of the target, which are the same."""
        held = self._held(self._shapes, span)
        wrong = sums.differing(held)
        if not wrong:
            return held
        self._erase(sorted(wrong))
        for key in sorted(wrong & cubes.keys()):
            fresh = Sums()
            for page in pages(moment, self._shapes, (key, key), fresh):
                self._write([page], self.stand)
            sums.take([key], fresh)
            self.again[key] = cubes[key]
        held.take(wrong, self._held(self._shapes, (min(wrong), max(wrong))))
        still = sums.differing(held)
        if still:
            raise _unlike(self._target, f"the cube {cubes.get(min(still), min(still))}")
        return held

    # -- the target ------------------------------------------------------------------------------------------------

    def _held(self, shapes: Sequence[Shape], span: Span | None) -> Sums:
        with self._target.read() as reading:
            return summed(reading, shapes, span)

    def _write(self, batch: Sequence[Page], stand: Stand) -> None:
        with self._writing(stand) as tx:
            for page in batch:
                tx.put(page.shape, page.rows)

    def _erase(self, keys: Collection[int], stand: Stand | None = None) -> None:
        with self._writing(replace(stand or self.stand, erased=True)) as tx:
            tx.erase(keys)

    @contextmanager
    def _writing(self, stand: Stand) -> Iterator[RawWriting]:
        """Open a write transaction that notes where the move stands with it."""
        stand = replace(stand, step=self.stand.step + 1)
        with self._target.write() as tx:
            self._claim(tx, stand)
            yield tx
        self.stand, self.wrote = stand, True

    def _claim(self, tx: RawWriting, stand: Stand | None) -> None:
        noted = None if stand is None else stand.written()
        if not tx.note(MOVING, noted, was=self.stand.written()):
            raise ConflictError(
                f"another process moves into {self._target.place} at this moment; this one has stopped",
                target=self._target.place,
            )

    def _count(self, page: Page) -> None:
        self._done = min(self._done + len(page.rows), self._total)
        self._told(self._done, self._total)


def _unlike(target: RawStore, what: str) -> StoreError:
    return StoreError(
        f"{what} is not in {target.place} as it was sent, twice; the move is not finished, and the source is as it was",
        target=target.place,
    )
