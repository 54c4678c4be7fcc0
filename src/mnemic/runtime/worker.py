"""The worker: claims jobs under a lease, runs them, retries what failed, and tells who waits.

Two threads for each open memory, one for work that may wait on a language model and one for the rest, and one more that
keeps the lease alive while a job runs. A job that fails is tried again with growing pauses and ends `dead`, with its
traceback, after the last try; a job of a process that died is taken over seconds later, when its lease runs out.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from mnemic.core.intake import check_id, check_names
from mnemic.errors import (
    BudgetError,
    InputError,
    JobError,
    MnemicError,
    NotFoundError,
    StoreError,
    WaitTimeoutError,
)
from mnemic.ids import new_id
from mnemic.model.job import REFINE, REORGANIZE, SLOW, Job, JobState
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.services.scoping import Scoping

_log = logging.getLogger(__name__)

Tick = Callable[[int], None]
Handler = Callable[[int, Tick], None]

LEASE: Final = timedelta(seconds=12)
"""A job is taken over by others when its worker was silent for so long."""

BEAT: Final = LEASE / 4
"""How often a worker prolongs the lease of the job that it runs."""

ATTEMPTS: Final = 5
"""Tries before a job is dead."""

_POLL = 2.0  # seconds between looks for jobs that another process has queued
_GRACE = 1.0  # seconds that closing waits for a language model
_OPEN: Final = (JobState.QUEUED, JobState.RUNNING, JobState.FAILED)


class Stopping(Exception):  # noqa: N818 - a signal, not a fault
    """The memory is being closed: the job goes back into the queue."""


class Worker:
    """Runs the jobs of a store on threads that start with the first `wake`: one for slow kinds, one for the others."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        scoping: Scoping,
        handlers: Mapping[str, Handler],
        *,
        idle: Callable[[], None],
        enabled: bool = True,
    ) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._handlers = handlers
        self._idle = idle
        self._enabled = enabled
        self._name = f"{os.getpid()}-{new_id()}"
        self._changed = threading.Condition()
        self._pending: set[str] = set()
        self._stopping = False
        kinds = frozenset(handlers)
        self._lanes = {name: lane for name, lane in (("quick", kinds - SLOW), ("slow", kinds & SLOW)) if lane}
        self._threads: dict[str, threading.Thread] = {}

    def wake(self) -> None:
        """Say that there may be work."""
        if not self._enabled or self._stopping:
            return
        with self._changed:
            for lane in self._lanes:
                self._pending.add(lane)
                if lane not in self._threads or not self._threads[lane].is_alive():
                    name = f"mnemic-worker-{lane}"
                    self._threads[lane] = threading.Thread(target=self._loop, args=(lane,), name=name, daemon=True)
                    self._threads[lane].start()
            self._changed.notify_all()

    def close(self) -> None:
        """Stop after the current step; the job that it belongs to goes back into the queue.

        What waits on a language model is given a moment, and then left: nothing of it is written any more, and its job
        is taken over when its lease has run out.
        """
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        for lane, thread in self._threads.items():
            thread.join(_GRACE if lane == "slow" else None)
        self._threads.clear()

    def run_once(self) -> bool:
        """Run the next due job on this thread, a quick one if there is; tell whether there was one."""
        return any(self._run_next(kinds) for kinds in self._lanes.values())

    def _run_next(self, kinds: Collection[str]) -> bool:
        with self._store.read() as tx:
            if not tx.jobs.is_due(self._clock.now(), kinds):
                return False
        with self._store.write() as tx:
            now = self._clock.now()
            job = tx.jobs.claim(self._name, now, now + LEASE, kinds)
        if job is None:
            return False
        ended = self._run(job) if job.attempts <= ATTEMPTS else self._given_up(job)
        with self._store.write() as tx:
            tx.jobs.finish(ended, self._name)
            if ended.state is JobState.DONE:  # what stood in the way of others, such as an outage, may be over too
                tx.jobs.revive(job.cube_key, job.kind, self._clock.now())
        with self._changed:
            self._changed.notify_all()
        return True

    def wait(
        self,
        cube: str | None,
        jobs: str | Sequence[str] | None,
        *,
        user: str,
        timeout: float = 60,
        patient: bool = True,
    ) -> Sequence[Job]:
        """Wait until jobs are finished; without a thread of its own, run them here.

        Default are all open ones and what they lead to, except those that are planned for a later time by the
        calendar. What only waits for more to come, is done at once. Without patience, what has failed and will be tried
        again is not waited for.
        """
        wanted = None if jobs is None else [check_id(each, "jobs") for each in check_names(jobs, "jobs")]
        deadline = time.monotonic() + _seconds(timeout)
        missing = set(wanted or ()) - {job.id for job in self._look(cube, wanted, user)}
        if missing:
            raise NotFoundError(f"there is no job {min(missing)!r} here; `jobs.list` shows those that are")
        seen: dict[str, None] = {}
        while True:
            self._hasten(cube, user)
            if wanted is None:
                seen |= dict.fromkeys(job.id for job in self._look(cube, None, user) if job.kind != REORGANIZE)
            found = self._look(cube, wanted if wanted is not None else list(seen), user)
            waiting = [job for job in found if job.state in _OPEN]
            dead = next((job for job in found if job.state is JobState.DEAD), None)
            if dead is not None:
                raise JobError(f"job {dead.id} ({dead.kind}) is dead after {dead.attempts} tries: {dead.reason}",
                               job=dead.id)  # fmt: skip
            if not waiting:
                return found
            left = deadline - time.monotonic()
            if left <= 0 or self._are_put_off(waiting, left if patient else 0):
                raise _late(waiting, timeout)
            self._pause_or_help(left)

    def _are_put_off(self, jobs: Sequence[Job], left: float) -> bool:
        """Tell whether all that is left has failed and is tried again only after the wait would end."""
        end = self._clock.now() + timedelta(seconds=left)
        return all(job.state is JobState.FAILED and job.not_before > end for job in jobs)

    def _hasten(self, cube: str | None, user: str) -> None:
        """Let what a language model is to read not wait for more: somebody waits for it."""
        if REFINE not in self._handlers:
            return
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, user, cube)
            now = self._clock.now()
            late = [
                each.key
                for each in scope.cubes
                for job in tx.jobs.list(each.key, open_only=True)
                if job.kind == REFINE and job.state is JobState.QUEUED and job.not_before > now
            ]
        if late:
            with self._store.write() as tx:
                for key in late:
                    tx.jobs.hasten(key, REFINE, now)

    def _pause_or_help(self, left: float) -> None:
        if self._enabled:
            self.wake()
            with self._changed:
                self._changed.wait(min(left, 0.2))
        elif not self.run_once():
            with self._changed:
                self._changed.wait(min(left, 0.05))

    def _look(self, cube: str | None, wanted: Sequence[str] | None, user: str) -> list[Job]:
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, user, cube)
            if wanted is None:
                return [job for each in scope.cubes for job in tx.jobs.list(each.key, open_only=True)]
            found = [tx.jobs.get(each.key, job_id) for each in scope.cubes for job_id in wanted]
        return [job for job in found if job is not None]

    def _loop(self, lane: str) -> None:
        while not self._stopping:
            try:
                busy = self._run_next(self._lanes[lane])
                if not busy and lane == "quick":
                    self._idle()
            except Exception:  # noqa: BLE001 - boundary: worker loop; it logs, waits and looks again
                if self._is_ending():  # the store was closed under a call that was left
                    return
                _log.exception("worker_failed")
                busy = False
            if busy:
                continue
            with self._changed:
                if lane not in self._pending and not self._stopping:
                    self._changed.wait(_POLL)
                self._pending.discard(lane)

    def _is_ending(self) -> bool:
        return self._stopping

    def _run(self, job: Job) -> Job:
        """Run a claimed job; return it in its new state."""
        lease = _Lease(job, self._extend)

        def tick(count: int) -> None:
            lease.done += count
            if self._stopping or lease.lost:
                raise Stopping

        try:
            with lease:
                self._handlers[job.kind](job.cube_key, tick)
        except Stopping:
            return self._put_back(job, lease.done)
        except Exception as error:  # noqa: BLE001 - boundary: a job
            if self._is_ending():  # the store was closed under a call that was left: that is no failure of the job
                return self._put_back(job, lease.done)
            told = {"job": job.id, "kind": job.kind, "attempt": job.attempts, "reason": str(error)}
            foreseen = isinstance(error, MnemicError)  # an outage says why; only a fault of ours needs its traceback
            _log.log(logging.WARNING if foreseen else logging.ERROR, "job_failed", extra=told, exc_info=not foreseen)
            return self._failed(job, error, lease.done)
        now = self._clock.now()
        return replace(job, state=JobState.DONE, lease_until=None, finished_at=now, done=lease.done, error=None)

    def _put_back(self, job: Job, done: int) -> Job:
        """Return a job up for takeover at once."""
        return replace(job, attempts=job.attempts - 1, lease_until=self._clock.now(), done=done)

    def _extend(self, job: Job) -> bool:
        with self._store.write() as tx:
            return tx.jobs.extend(job, self._name, self._clock.now() + LEASE)

    def _given_up(self, job: Job) -> Job:
        told = f"the process died {ATTEMPTS} times while it ran this job"
        return replace(job, state=JobState.DEAD, lease_until=None, finished_at=self._clock.now(), error=told)

    def _failed(self, job: Job, error: Exception, done: int) -> Job:
        told = "".join(traceback.format_exception(error))[-4_000:]
        now = self._clock.now()
        asked = error.fields.get("retry_after") if isinstance(error, MnemicError) else None
        pause = max(2.0**job.attempts, asked if isinstance(asked, int | float) else 0.0)
        failed = replace(job, state=JobState.FAILED, lease_until=None, done=done, error=told)
        if isinstance(error, BudgetError):  # it will be possible again: that is no failure of the job
            return replace(failed, attempts=job.attempts - 1, not_before=now + timedelta(seconds=pause))
        if job.attempts >= ATTEMPTS:
            return replace(failed, state=JobState.DEAD, finished_at=now)
        return replace(failed, not_before=now + timedelta(seconds=pause))


def _late(waiting: Sequence[Job], timeout: float) -> WaitTimeoutError:
    count = "1 job" if len(waiting) == 1 else f"{len(waiting)} jobs"
    reason = next((job.reason for job in waiting if job.error), "")
    then = f"what failed is tried again later: {reason}" if reason else "the work goes on, wait again"
    return WaitTimeoutError(f"{count} will not be finished in {timeout:g} s; {then}", jobs=list(waiting))


class _Lease:
    """Keeps a job's lease alive on a thread of its own while the block runs; `lost` when another worker has it."""

    def __init__(self, job: Job, extend: Callable[[Job], bool]) -> None:
        self._job = job
        self._extend = extend
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="mnemic-lease", daemon=True)
        self.done = 0
        self.lost = False

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(BEAT.total_seconds()):
            try:
                self.lost = not self._extend(replace(self._job, done=self.done))
            except StoreError:
                _log.exception("lease_not_extended", extra={"job": self._job.id})


def _seconds(timeout: object) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout >= 0:
        raise InputError("timeout", f"needs a number of seconds, 0 or more, got {timeout!r}")
    return timeout
