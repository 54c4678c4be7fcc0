"""Reading text anew after an upgrade that reads it otherwise: the full-text terms of every older entry are made again.

Until it is done, a search looks for words as they are read now among passages that were read before, so it says so.
"""

from __future__ import annotations

from typing import Final

from mnemic.model.job import RETEXT
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.services.indexing import entry_texts, identity
from mnemic.services.queueing import enqueue

BATCH: Final = 200
"""Entries in one transaction."""


class Retexting:
    """Makes the terms of a cube's entries anew, a batch at a time."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def queue(self) -> int:
        """Queue a job for each cube that has stale entries; return how many cubes have."""
        with self._store.read() as tx:
            tx.enter_all()
            cubes = tx.terms.stale_cubes()
        if cubes:
            with self._store.write() as tx:
                tx.enter(*cubes)
                for cube_key in cubes:
                    enqueue(tx, cube_key, RETEXT, self._clock.now())
        return len(cubes)

    def step(self, cube_key: int) -> int:
        """Put one batch in order; return how many entries it had, 0 when none is left."""
        with self._store.read() as tx:
            tx.enter(cube_key)
            waiting = tx.terms.stale(cube_key, BATCH)
            texts = entry_texts(tx, cube_key, [entry for _, entry in waiting])
        with self._store.write() as tx:
            tx.enter(cube_key)
            revision = tx.cubes.touch(cube_key)
            if waiting:
                keyed = [(key, texts.get(identity(entry), "")) for key, entry in waiting]
                tx.terms.renew(cube_key, revision, keyed)
            else:
                tx.terms.settle(cube_key)
        return len(waiting)
