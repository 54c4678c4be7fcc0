"""The worker: takes jobs from the queue, runs them on threads, and keeps their leases alive.

Each lane has threads of its own, so that nothing waits for a language model that could do without. One more thread
keeps the leases of all jobs that run here. How a job ends (tried again, dead) is decided in `services.dispatching`.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from mnemic.errors import MnemicError, QueueError, StoreError
from mnemic.ids import new_id
from mnemic.model.job import LANES, QUICK, SLOW, Job, JobState
from mnemic.ports.queue import Queue
from mnemic.ports.store import Store
from mnemic.runtime.watching import JobWatch
from mnemic.services.dispatching import LEASE, Dispatching, kinds_of, tries_of

_log = logging.getLogger(__name__)

Tick = Callable[[int], None]
"""Told how much was done since the last call; raises when the work is to stop."""

Handler = Callable[[Job, Tick], None]
"""Does a job, in transactions of its own; run twice, it changes nothing more."""

BEAT: Final = LEASE / 4
"""How often a worker prolongs the leases of the jobs that it runs."""

_LOOK: Final = 2.0  # seconds that a thread waits for work before it looks around
_GRACE: Final = 1.0  # seconds that closing waits for a language model
_NUDGE: Final = 0.1  # seconds between two calls to threads that are to end
_REST: Final = 1.0  # seconds before another try when the store or the queue cannot be reached
_TRACEBACK: Final = 4_000  # characters of it that are kept


class Stopping(Exception):  # noqa: N818 - a signal, not a fault
    """The worker is being closed, or has lost the job: the work is to stop."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a worker works with."""

    store: Store
    queue: Queue
    dispatching: Dispatching


class Worker:
    """Runs jobs on threads that start with the first `wake`."""

    def __init__(
        self,
        place: Workplace,
        handlers: Mapping[str, Handler],
        *,
        idle: Callable[[], None],
        threads: int = 1,
        enabled: bool = True,
        kinds: Collection[str] | None = None,
        watch: JobWatch | None = None,
    ) -> None:
        """`kinds` are those that it runs; without them, all that it has handlers for."""
        self._place = place
        self._handlers = handlers
        self._idle = idle
        self._threads_each = threads
        self.enabled = enabled
        mine = set(handlers) if kinds is None else set(handlers) & set(kinds)
        self._lanes = {lane: found for lane in LANES if (found := sorted(mine & set(kinds_of(lane))))}
        self._name = f"{os.getpid()}-{new_id()}"
        self._changed = threading.Condition()
        self._stopping = False
        self._threads: dict[str, threading.Thread] = {}
        self._leases = _Leases(place.dispatching)
        self._watch = watch or JobWatch()

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of jobs that it runs."""
        return {kind for kinds in self._lanes.values() for kind in kinds}

    @property
    def busy(self) -> int:
        """How many jobs it runs at the moment."""
        return len(self._leases)

    def wake(self) -> None:
        """Say that there may be work; the first call starts the threads."""
        self._place.queue.announce(LANES)
        if self.enabled and not self._stopping:
            self._start()

    def _start(self) -> None:
        with self._changed:
            for lane in self._lanes:
                for number in range(self._threads_each):
                    name = f"mnemic-worker-{lane}-{number}"
                    if name in self._threads and self._threads[name].is_alive():
                        continue
                    given = (lane, f"{self._name}-{lane}-{number}")
                    self._threads[name] = threading.Thread(target=self._work, args=given, name=name, daemon=True)
                    self._threads[name].start()

    def close(self) -> None:
        """Stop after the current step; the job that it belongs to goes back into the queue.

        What waits on a language model is given a moment, and then left: nothing of it is written any more, and its job
        is taken over when its lease has run out.
        """
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        grace = time.monotonic() + _GRACE
        self._place.queue.interrupt()
        for name, thread in list(self._threads.items()):
            while thread.is_alive() and (f"-{SLOW}-" not in name or time.monotonic() < grace):
                thread.join(_NUDGE)
                self._place.queue.interrupt()  # who was on its way to wait for work has not heard the first one
        self._threads.clear()
        self._leases.close()

    def run_once(self) -> bool:
        """Run the next due job on this thread, a quick one if there is; tell whether there was one."""
        for lane, kinds in self._lanes.items():
            name = f"{self._name}-{threading.get_ident()}"  # what another thread takes over is not this one's any more
            for job in self._place.dispatching.claim(name, lane, kinds, 1):
                self._do(job, name)
                return True
        return False

    def wait_for_change(self, seconds: float) -> None:
        """Wait until a job has ended here, so many seconds at most."""
        with self._changed:
            self._changed.wait(seconds)

    def _work(self, lane: str, name: str) -> None:
        self._watch.threads(lane, 1)
        try:
            self._loop(lane, name)
        finally:
            self._watch.threads(lane, -1)

    def _loop(self, lane: str, name: str) -> None:
        kinds = self._lanes[lane]
        while not self._stopping:
            try:
                jobs = self._place.queue.take(name, lane, kinds, most=1, wait=_LOOK)
                for job in jobs:
                    self._do(job, name)
                if not jobs and lane == QUICK:
                    self._idle()
            except QueueError as error:
                _log.warning("queue_away", extra={"reason": str(error)})
                self._rest()
            except Exception:  # noqa: BLE001 - boundary: worker loop; it logs, waits and looks again
                if self._is_ending():  # the store was closed under a call that was left
                    return
                _log.exception("worker_failed")
                self._rest()

    def _rest(self) -> None:
        with self._changed:
            if not self._stopping:
                self._changed.wait(_REST)

    def _is_ending(self) -> bool:
        return self._stopping

    def _do(self, job: Job, name: str) -> None:
        """Run a job and store how it ended."""
        with self._watch.job(job) as ending:
            ended = self._run(job, name)
            if self._place.dispatching.end(ended, name):
                ending.stored(ended)
                self._place.queue.settle(ended)
                self._place.queue.announce(LANES)  # others of its cube may have stepped forward, or been queued by it
        with self._changed:
            self._changed.notify_all()

    def _run(self, job: Job, name: str) -> Job:
        """Return a taken job in its new state."""
        if self._stopping:
            return self._place.dispatching.put_back(job, job.done)
        if job.attempts > tries_of(job.kind):
            told = f"the process died {job.attempts - 1} times while it ran this job"
            return replace(job, state=JobState.DEAD, lease_until=None, error=told)
        with self._leases.of(job, name) as lease:

            def tick(count: int) -> None:
                lease.done += count
                if self._stopping or lease.lost:
                    raise Stopping

            try:
                with self._place.store.entered(job.cube_key):
                    self._handlers[job.kind](job, tick)
            except Stopping:
                return self._place.dispatching.put_back(job, lease.done)
            except Exception as error:  # noqa: BLE001 - boundary: a job
                if self._is_ending():  # the store was closed under a call that was left: that is no failure of the job
                    return self._place.dispatching.put_back(job, lease.done)
                _tell(job, error)
                told = "".join(traceback.format_exception(error))[-_TRACEBACK:]
                return self._place.dispatching.failed(job, error, told, lease.done)
            return self._place.dispatching.done(job, lease.done)


def _tell(job: Job, error: Exception) -> None:
    told = {"job": job.id, "kind": job.kind, "attempt": job.attempts, "reason": str(error)}
    foreseen = isinstance(error, MnemicError)  # an outage says why; only a fault of ours needs its traceback
    _log.log(logging.WARNING if foreseen else logging.ERROR, "job_failed", extra=told, exc_info=not foreseen)


class _Lease:
    """The lease of one job that runs here; `lost` when another worker has it."""

    def __init__(self, leases: _Leases, job: Job, name: str) -> None:
        self._leases = leases
        self.job = job
        self.name = name
        self.done = 0
        self.lost = False

    def __enter__(self) -> Self:
        self._leases.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._leases.remove(self)


class _Leases:
    """Keeps all leases of a worker alive, on one thread that runs while there are any, and a beat longer."""

    def __init__(self, dispatching: Dispatching) -> None:
        self._dispatching = dispatching
        self._changed = threading.Condition()
        self._held: list[_Lease] = []
        self._thread: threading.Thread | None = None

    def __len__(self) -> int:
        return len(self._held)

    def of(self, job: Job, name: str) -> _Lease:
        """Return a block in which the lease is kept."""
        return _Lease(self, job, name)

    def add(self, lease: _Lease) -> None:
        """Keep a lease from now on."""
        with self._changed:
            self._held.append(lease)
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="mnemic-leases", daemon=True)
                self._thread.start()

    def remove(self, lease: _Lease) -> None:
        """Keep it no longer."""
        with self._changed:
            self._held.remove(lease)

    def close(self) -> None:
        """Let the thread end."""
        with self._changed:
            thread, self._thread = self._thread, None
            self._changed.notify_all()
        if thread is not None:
            thread.join(_GRACE)

    def _beat(self) -> None:
        ended = threading.current_thread()
        due = time.monotonic() + BEAT.total_seconds()
        while True:
            with self._changed:
                if self._thread is not ended:
                    return
                if (left := due - time.monotonic()) > 0:
                    self._changed.wait(left)
                    continue
                held = list(self._held)
                if not held:
                    self._thread = None
                    return
            due = time.monotonic() + BEAT.total_seconds()
            for name in {lease.name for lease in held}:
                self._extend(name, [lease for lease in held if lease.name == name])

    def _extend(self, name: str, leases: list[_Lease]) -> None:
        try:
            kept = self._dispatching.extend([replace(lease.job, done=lease.done) for lease in leases], name)
        except StoreError:
            _log.exception("lease_not_extended", extra={"jobs": [lease.job.id for lease in leases]})
            return
        for lease in leases:
            lease.lost = lease.job.id not in kept
