"""Moving a whole store to an empty one: the use cases of `mnemic migrate`.

A pass makes the target the same as one moment of the source. What was written to the source meanwhile is found by
comparing, and passes go on until both agree; `final` closes the source when most has arrived, so that nobody writes
behind the move. Until it is finished nothing else opens the target; a move that was killed goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mnemic.core.digests import Digest
from mnemic.errors import ConflictError, InputError, StoreError
from mnemic.ids import new_id
from mnemic.model.moving import MOVED, MOVED_TO, MOVING, OWN_NOTES, STORE_ID, Moved, TableMoved, why_closed
from mnemic.ports.clock import Clock
from mnemic.ports.moving import RawReading, RawStore
from mnemic.services.carrying import Carry, Progress, Stand
from mnemic.services.carrying_files import Carried, CarryFiles
from mnemic.services.summing import ALL, compare

PASSES: Final = 5
"""Passes over a store that is written to meanwhile, before it is said that this does not end by itself."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """A move that goes on: since when, whether it was begun before, and what carries it."""

    at: datetime
    resumed: bool
    carry: Carry


class Move:
    """The use cases of moving one store to another. Both are the caller's to close."""

    def __init__(
        self, source: RawStore, target: RawStore, clock: Clock, *, version: str, files: CarryFiles | None = None
    ) -> None:
        """`files` brings those that rows name; None where both stores have them in one place."""
        self._files = files
        self._carried = Carried()
        self._source = source
        self._target = target
        self._clock = clock
        self._version = version

    def run(self, *, final: bool = False, progress: Progress | None = None) -> Moved:
        """Move until both agree; with `final` the source is closed on the way, and opens no more.

        Raises `ConflictError` when the target is not empty, and `StoreError` naming the cubes when what is written to
        the source meanwhile leaves no end; running it again goes on.
        """
        begun = self._begin(progress)
        again: dict[int, str] = {}
        for _ in range(PASSES):
            stamp = self._source.stamp()
            notes = self._pass(begun.carry)
            again |= begun.carry.again
            if final and MOVED_TO not in notes:
                self._close_source()
            elif not begun.carry.wrote or self._source.stamp() == stamp:
                return self._finish(begun, notes, again)
        raise self._restless(begun.carry)

    def copy(self, progress: Progress | None = None) -> Moved:
        """Make the target a copy of one moment of the source, which goes on being written to."""
        begun = self._begin(progress)
        with self._source.read() as moment:
            if moment.copy_into(self._target):
                begun.carry.stand = self._copied(begun.carry.stand)
            begun.carry.carry(moment)
            self._carry_files(moment)
            notes = moment.notes()
        return self._finish(begun, notes, {})

    def compare(self, progress: Progress | None = None) -> Moved:
        """Compare the two stores as they are now; nothing is written."""
        started = self._clock.now()
        with self._source.read() as moment, self._target.read() as held:
            found = compare(moment, held, self._source.shapes, progress or _silent)
            closed = MOVED_TO in moment.notes()
            files = Carried() if self._files is None else self._files.compare(moment, self._source)
        seconds = (self._clock.now() - started).total_seconds()
        tables = self._tables(found.left, found.arrived)
        differing = tuple(found.differing)
        return Moved(
            self._source.place, self._target.place, found.cubes, tables, seconds, differing=differing, closed=closed,
            files=files.files, file_bytes=files.bytes, absent=files.absent,
        )  # fmt: skip

    # -- steps -----------------------------------------------------------------------------------------------------

    def _begin(self, progress: Progress | None) -> _Begun:
        started = self._clock.now()
        if self._source.place == self._target.place:
            raise InputError("to", f"{self._target.place} is the store itself; name another folder or database")
        fresh = Stand(self._identify(), self._source.place, self._target.place)
        with self._target.write() as tx:
            noted = tx.notes().get(MOVING)
            if noted is None and tx.cubes(0, 1):
                raise ConflictError(
                    f"{self._target.place} holds memories already, and a move needs an empty folder or database; "
                    "`mnemic migrate --check` compares the two",
                    target=self._target.place,
                )
            stand = fresh if noted is None else self._gone_on(Stand.read(noted), fresh)
            tx.note(MOVING, stand.written(), was=noted)
        carry = Carry(self._source, self._target, stand, progress or _silent)
        return _Begun(started, noted is not None, carry)

    def _identify(self) -> str:
        """Return the id of the source, which gets one when it has none."""
        with self._source.read() as reading:
            notes = reading.notes()
        if MOVING in notes:
            raise StoreError(
                f"{self._source.place} cannot be moved: {why_closed(notes)}",
                source=self._source.place,
            )
        if STORE_ID in notes:
            return notes[STORE_ID]
        with self._source.write() as tx:
            tx.note(STORE_ID, new_id(), was=None)
            return tx.notes()[STORE_ID]

    def _gone_on(self, stand: Stand, fresh: Stand) -> Stand:
        if stand.source != fresh.source:
            raise ConflictError(
                f"a move from another store ({stand.place}) into {self._target.place} is not finished; finish it, or "
                "name an empty folder or database",
                target=self._target.place,
                source=stand.place,
            )
        return replace(
            stand, place=fresh.place, to=fresh.to, step=stand.step + 1
        )  # who still works on it is stopped by that

    def _pass(self, carry: Carry) -> Mapping[str, str]:
        with self._source.read() as moment:
            carry.carry(moment)
            self._carry_files(moment)
            return moment.notes()

    def _carry_files(self, moment: RawReading) -> None:
        if self._files is not None:
            self._carried = self._files.carry(moment, self._source)

    def _copied(self, stand: Stand) -> Stand:
        """Note that all has arrived at once, to be compared; what the copy brought with it knows of no move."""
        stand = replace(stand, through=ALL[1])
        with self._target.write() as tx:
            tx.note(MOVING, stand.written(), was=tx.notes().get(MOVING))
        return stand

    def _close_source(self) -> None:
        told = {"place": self._target.place, "at": self._clock.now().isoformat()}
        with self._source.write(alone=True) as tx:
            tx.note(MOVED_TO, json.dumps(told), was=None)

    def _finish(self, begun: _Begun, notes: Mapping[str, str], again: Mapping[int, str]) -> Moved:
        ended = self._clock.now()
        tables = self._tables(begun.carry.left, begun.carry.arrived)
        told = {
            "from": self._source.place,
            "at": ended.isoformat(),
            "version": self._version,
            "tables": {each.table: [each.rows, each.hash] for each in tables},
        }
        kept = {name: value for name, value in notes.items() if name not in OWN_NOTES}
        begun.carry.finish({**kept, MOVED: json.dumps(told)})
        return Moved(
            self._source.place,
            self._target.place,
            begun.carry.cubes,
            tables,
            (ended - begun.at).total_seconds(),
            again=tuple(again.values()),
            resumed=begun.resumed,
            closed=MOVED_TO in notes,
            files=self._carried.files,
            file_bytes=self._carried.bytes,
            absent=self._carried.absent,
        )

    def _tables(self, left: Mapping[str, Digest], arrived: Mapping[str, Digest]) -> tuple[TableMoved, ...]:
        found = []
        for shape in self._source.shapes:
            mine, theirs = left.get(shape.name, Digest()), arrived.get(shape.name, Digest())
            found.append(TableMoved(shape.name, mine.rows, mine.hex, theirs.rows, theirs.hex))
        return tuple(found)

    def _restless(self, carry: Carry) -> StoreError:
        names = list(carry.again.values())
        told = f"{', '.join(names[:5])}{' and others' if len(names) > 5 else ''}" if names else "the schedule"
        return StoreError(
            f"{self._source.place} was written to whenever it was moved, {PASSES} times, at last {told}; stop what "
            "writes to it, or add --final, which closes it. What was moved stays: running it again goes on",
            source=self._source.place,
            cubes=names,
        )


def reopen(store: RawStore) -> str | None:
    """Let a store be opened again that was closed when it was moved for good; return where it was moved to."""
    with store.write() as tx:
        noted = tx.notes().get(MOVED_TO)
        tx.note(MOVED_TO, None, was=noted)
    return None if noted is None else str(json.loads(noted)["place"])


def _silent(done: int, total: int | None) -> None:
    """Tell nobody."""
