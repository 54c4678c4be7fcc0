"""The queue that asks the database: nothing to install, nothing to lose.

Who waits is woken by the store's bell, one for each job, and by the time at which the next job is due; because another
process may use the same file without being heard, somebody looks every two seconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import Final

from mnemic.backends.queues.waiting import Waiters
from mnemic.model.job import Job
from mnemic.ports.clock import Clock
from mnemic.ports.queue import Bell, Rows

_LOOK: Final = 2.0  # seconds between looks that nobody asked for
_LEAST: Final = 0.05  # seconds between looks at what is due and cannot be had, as another process works on its cube


class DatabaseQueue:
    """Implements `ports.queue.Queue`. It listens to the bell from the first `take` on."""

    def __init__(self, rows: Rows, bell: Bell, clock: Clock) -> None:
        self._rows = rows
        self._bell = bell
        self._clock = clock
        self._waiters: Waiters[None] = Waiters()
        self._lock = threading.Lock()
        self._leave: Callable[[], None] | None = None
        self._closed = False

    def announce(self, lanes: Collection[str]) -> None:
        """Say that jobs of these lanes were committed."""
        self._bell.ring(lanes)

    def take(self, worker: str, lane: str, kinds: Collection[str], *, most: int, wait: float) -> Sequence[Job]:
        """Take up to so many jobs of a lane; when there is none, wait for one, `wait` seconds at most."""
        self._listen()
        deadline = time.monotonic() + wait
        with self._waiters.entered(lane, kinds) as me:
            while not (self._closed or me.interrupted):
                self._waiters.heed(me)
                jobs = self._rows.claim(worker, lane, kinds, most)
                if jobs:
                    self._waiters.ring([lane])  # there may be more, and a ring tells of one
                    return jobs
                if time.monotonic() >= deadline:
                    return ()
                self._waiters.looked(me, self._until_due(lane))
                self._waiters.wait(me, deadline)
        return ()

    def settle(self, job: Job) -> None:
        """Do nothing: the row says it all."""

    def interrupt(self) -> None:
        """Let all who wait in `take` return now."""
        self._waiters.interrupt()

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the queue over."""
        return [("queue", True, f"jobs are taken from the database; {len(self._waiters)} wait for one here")]

    def close(self) -> None:
        """Listen no longer, and let all who wait return."""
        with self._lock:
            self._closed = True
            leave, self._leave = self._leave, None
        self.interrupt()
        if leave is not None:
            leave()

    def _listen(self) -> None:
        with self._lock:
            if self._leave is None and not self._closed:
                self._leave = self._bell.listen(self._waiters.ring)

    def _until_due(self, lane: str) -> float:
        due = self._rows.next_due([lane])
        return _LOOK if due is None else min(_LOOK, max(_LEAST, (due - self._clock.now()).total_seconds()))
