"""Files and the rows that name them, kept in step: a file is there before its row, and goes after it.

Who dies in between leaves a file without a row, which is erased when it is found an hour old, or a marked row, whose
file is erased later: never a row without a file. Files are erased by who holds their cube's lock, so that the same
bytes that come at that moment are not lost: `note` looks, under the same lock, whether they are still there.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from mnemic.errors import NotFoundError, StoreError
from mnemic.model.scope import Cube
from mnemic.ports.blobs import Blob, Blobs
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store, Transaction

_log = logging.getLogger(__name__)

_AT_ONCE: Final = 200
"""Files that are erased while a cube is locked."""

_SWEPT: Final = 100
"""Cubes whose files are compared with their rows each time."""

_LATER: Final = "its files could not be erased now and are named by nothing any more; upkeep tries again"

ORPHANED: Final = timedelta(hours=1)
"""After so long, a file without a row belongs to nobody who is still at it."""


class BlobKeeper:
    """Notes files, and erases those that nothing names any more."""

    def __init__(self, store: Store, blobs: Blobs, clock: Clock) -> None:
        self._store = store
        self._blobs = blobs
        self._clock = clock
        self._swept = 0  # the key of the last cube that was swept

    def note(self, tx: Transaction, cube: Cube, blobs: Collection[Blob], at: datetime | None = None) -> None:
        """Note that these files, which were put before, are kept: in the transaction that stores what names them.

        The cube is touched already. Raises `StoreError` when one was erased at this moment: putting it again helps.
        """
        for blob in blobs:
            if not self._blobs.has(cube.id, blob.digest):
                raise StoreError("the same file was erased at this moment; add it again", digest=blob.digest)
        tx.blobs.note(cube.key, blobs, at or self._clock.now())

    def doom(self, tx: Transaction, cube: Cube) -> int:
        """Mark the files that nothing names any more; return how many there are. Then `settle` after the commit."""
        return len(tx.blobs.doom(cube.key))

    def settle(self, cube_key: int, cube_id: str) -> int:
        """Erase the marked files of a cube; return how many there were."""
        gone = 0
        while True:
            with self._store.write() as tx:
                tx.enter(cube_key)
                try:
                    tx.cubes.touch(cube_key)
                except NotFoundError:  # erased meanwhile: `settle_erased` does the rest
                    return gone
                marked = tx.blobs.doom(cube_key)[:_AT_ONCE]
                if marked:
                    gone += self._blobs.erase(cube_id, marked)
                    tx.blobs.drop(cube_key, marked)
            if len(marked) < _AT_ONCE:
                return gone

    def settled(self, cube: Cube) -> tuple[str, ...]:
        """Erase the marked files of a cube; when that fails, say so: what is forgotten is, and they go later."""
        try:
            self.settle(cube.key, cube.id)
        except StoreError:
            _log.exception("files_not_erased")
            return (_LATER,)
        return ()

    def settled_cube(self, cube_id: str) -> tuple[str, ...]:
        """Erase the files of an erased cube; as `settled`."""
        try:
            self._blobs.erase_all(cube_id)
        except StoreError:
            _log.exception("files_not_erased")
            return (_LATER,)
        return ()

    # -- upkeep ----------------------------------------------------------------------------------------------------

    def settle_all(self) -> int:
        """Erase what was not when it should have been, as somebody died or a disk failed; return how many files.

        That is what is marked, what is left of erased cubes, and, in some of the cubes each time, what has no row.
        """
        gone = self._settle_erased()
        with self._store.read() as tx:
            tx.enter_all()
            marked = tx.blobs.cubes_with_doomed()
        for key, cube_id in marked:
            gone += self.settle(key, cube_id)
        gone += sum(self._sweep(cube) for cube in self._next_cubes())
        if gone:
            _log.info("files_erased", extra={"files": gone})
        return gone

    def _settle_erased(self) -> int:
        """Erase the files of erased cubes. Each is looked at for an hour, as somebody may have been putting a file."""
        gone = 0
        with self._store.read() as tx:
            erased = tx.blobs.erased_cubes()
        for cube_id, at in erased:
            gone += self._blobs.erase_all(cube_id)
            if self._clock.now() - at > ORPHANED:
                with self._store.write() as tx:
                    tx.blobs.drop_erased(cube_id)
        return gone

    def _next_cubes(self) -> Sequence[Cube]:
        """Return the cubes whose turn it is to be swept."""
        with self._store.read() as tx:
            tx.enter_all()
            keys = [key for key in tx.cubes.every_key() if key > self._swept][:_SWEPT]
            cubes = [tx.cubes.of_key(key) for key in keys]
        self._swept = keys[-1] if len(keys) == _SWEPT else 0
        return [cube for cube in cubes if cube is not None]

    def _sweep(self, cube: Cube) -> int:
        """Erase the files of a cube that have had no row for an hour: who put them died before the row was written."""
        before = self._clock.now() - ORPHANED
        old = [found.digest for found in self._blobs.list(cube.id) if found.put_at < before]
        with self._store.read() as tx:
            tx.enter(cube.key)
            orphans = sorted(set(old) - set(tx.blobs.known(cube.key, old)))
        gone = 0
        for start in range(0, len(orphans), _AT_ONCE):
            some = orphans[start : start + _AT_ONCE]
            with self._store.write() as tx:
                tx.enter(cube.key)
                try:
                    tx.cubes.touch(cube.key)
                except NotFoundError:
                    return gone
                some = sorted(set(some) - set(tx.blobs.known(cube.key, some)))
                gone += self._blobs.erase(cube.id, some)
        return gone
