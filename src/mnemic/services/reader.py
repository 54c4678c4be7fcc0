"""When a language model reads a cube: as soon as enough has gathered, or when less has waited for a while."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from mnemic.model.job import REFINE
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.services.queueing import enqueue
from mnemic.services.refining import Refining

Tick = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a language model waits for before it reads: so many messages, or so long with fewer of them."""

    messages: int
    quiet: timedelta


class Reader:
    """Lets a language model read a cube, by jobs."""

    def __init__(self, store: Store, clock: Clock, refining: Refining, waiting: Waiting) -> None:
        self._store = store
        self._clock = clock
        self._refining = refining
        self._waiting = waiting

    def queue(self, cube_key: int) -> None:
        """Queue the job that reads what waits; at once when enough does."""
        with self._store.read() as tx:
            tx.enter(cube_key)
            waiting = tx.messages.count_to_refine(cube_key)
        if not waiting:
            return
        now = self._clock.now()
        enough = waiting >= self._waiting.messages
        later = None if enough else now + self._waiting.quiet
        with self._store.write() as tx:
            tx.enter(cube_key)
            enqueue(tx, cube_key, REFINE, now, not_before=later)
            if enough:
                tx.jobs.hasten(cube_key, REFINE, now)

    def read(self, cube_key: int, tick: Tick) -> None:
        """Read everything that waits."""
        while done := self._refining.step(cube_key):
            tick(done)
