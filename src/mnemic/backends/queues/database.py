"""The queue that asks the database: nothing to install, nothing to lose.

Who waits is woken by the store's bell, and by the time at which the next job is due; because another process may use
the same file without being heard, it looks by itself every two seconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Sequence
from typing import Final

from mnemic.model.job import Job
from mnemic.ports.clock import Clock
from mnemic.ports.queue import Bell, Rows

_LOOK: Final = 2.0  # seconds between looks that nobody asked for


class DatabaseQueue:
    """Implements `ports.queue.Queue`."""

    def __init__(self, rows: Rows, bell: Bell, clock: Clock) -> None:
        self._rows = rows
        self._bell = bell
        self._clock = clock
        self._woken = threading.Condition()
        self._rings = 0
        self._interruptions = 0
        self._leave = bell.listen(self._wake)

    def announce(self, lanes: Collection[str]) -> None:
        """Say that jobs of these lanes were committed."""
        self._bell.ring(lanes)

    def take(self, worker: str, lane: str, kinds: Collection[str], *, most: int, wait: float) -> Sequence[Job]:
        """Take up to so many jobs of a lane; when there is none, wait for one, `wait` seconds at most."""
        deadline = time.monotonic() + wait
        interruptions = self._interruptions
        while True:
            rings = self._rings
            jobs = self._rows.claim(worker, lane, kinds, most)
            left = deadline - time.monotonic()
            if jobs or left <= 0 or self._interruptions != interruptions:
                return jobs
            left = min(left, self._until_due(lane))
            with self._woken:
                self._woken.wait_for(lambda: self._rings != rings or self._interruptions != interruptions, left)  # noqa: B023 - called at once

    def settle(self, job: Job) -> None:
        """Do nothing: the row says it all."""

    def interrupt(self) -> None:
        """Let all who wait in `take` return now."""
        with self._woken:
            self._interruptions += 1
            self._woken.notify_all()

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the queue over."""
        return [("queue", True, "jobs are taken from the database")]

    def close(self) -> None:
        """Listen no longer."""
        self._leave()

    def _wake(self, _lanes: Collection[str]) -> None:
        with self._woken:
            self._rings += 1
            self._woken.notify_all()

    def _until_due(self, lane: str) -> float:
        due = self._rows.next_due([lane])
        return _LOOK if due is None else min(_LOOK, max(0.0, (due - self._clock.now()).total_seconds()))
