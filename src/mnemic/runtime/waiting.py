"""Waiting for jobs, and watching them change.

Who waits in a process without a worker of its own runs what is due itself; otherwise the rows are looked at whenever a
job has ended here, and now and then for what ends elsewhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from mnemic.acting import aside, left
from mnemic.core.intake import check_id, check_names, check_seconds
from mnemic.errors import InputError, JobError, NotFoundError, WaitTimeoutError
from mnemic.model.job import DESCRIBE, OPEN, REFINE, REORGANIZE, Job, JobState, changed_at, place_of
from mnemic.model.receipt import Added
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store
from mnemic.runtime.worker import Worker
from mnemic.services.jobdesk import PAGE, JobDesk
from mnemic.services.scoping import Scoping

_LOOK: Final = 0.2  # seconds between looks at what ends elsewhere
_HELP: Final = 0.05  # the same where this thread does the work
_OVERLAP: Final = timedelta(seconds=5)  # changes may be committed in another order than they were made in


class Waiting:
    """The use cases of `jobs.wait` and `jobs.events`."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping, worker: Worker, desk: JobDesk) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._worker = worker
        self._desk = desk

    def wait(
        self,
        cube: str | None,
        jobs: str | Sequence[str] | None,
        *,
        user: object,
        timeout: object = 60,
        patient: bool = True,
    ) -> Sequence[Job]:
        """Wait until jobs are finished; without a worker here, run them.

        Default are all open ones and what they lead to, except those that are planned for a later time by the
        calendar. What only waits for more to come, is done at once. Without patience, what has failed and will be tried
        again is not waited for.
        """
        named = None if jobs is None else [check_id(each, "jobs") for each in check_names(jobs, "jobs")]
        wanted = None if named is None else list(dict.fromkeys(named))
        seconds = check_seconds(timeout, "timeout")
        deadline = time.monotonic() + seconds
        missing = set(wanted or ()) - {job.id for job in self._look(cube, wanted, user)}
        if missing:
            raise NotFoundError(f"there is no job {min(missing)!r} here; `jobs.list` shows those that are")
        seen: dict[str, None] = {}
        while True:
            self._hasten(cube, user)
            if wanted is None:
                seen |= dict.fromkeys(job.id for job in self._look(cube, None, user) if job.kind != REORGANIZE)
            found = self._look(cube, wanted if wanted is not None else list(seen), user)
            waiting = [job for job in found if job.state in OPEN]
            _raise_for_ended(found, explicit=wanted is not None)
            if not waiting:
                return found
            rest = deadline - time.monotonic()
            if left() or rest <= 0 or self._are_put_off(waiting, rest if patient else 0):
                raise _late(waiting, seconds)
            self._pause_or_help(rest)

    def wait_for_task(self, task: object, *, user: object, cube: str | None, timeout: object) -> Sequence[Job]:
        """Wait until all jobs of a caller's task are finished, with what they lead to but for the calendar's."""
        seconds = check_seconds(timeout, "timeout")
        deadline = time.monotonic() + seconds
        while True:
            self._hasten(cube, user)
            found = [job for job in self._desk.task(task, user=user, cube=cube).jobs if job.kind != REORGANIZE]
            waiting = [job for job in found if job.state in OPEN]
            _raise_for_ended(found, explicit=True)
            if not waiting:
                return found
            rest = deadline - time.monotonic()
            if left() or rest <= 0:
                raise _late(waiting, seconds)
            self._pause_or_help(rest)

    def read_by_model(self, added: Added, *, user: object) -> Added:
        """Wait for the language model. What was added is stored and read by rules, come what may."""
        try:
            self.wait(added.cube, None, user=user, patient=False)
        except (JobError, WaitTimeoutError) as error:
            told = f"stored, and read by rules; the language model has not read it yet: {error}"
            return replace(added, notes=(*added.notes, told))
        return added

    def attachments_read(self, added: Added, *, user: object) -> Added:
        """Wait until what came with messages is read. It is stored, and found by its captions, come what may."""
        jobs = [job.id for job in self._desk.list(user=user, open_only=True, kinds=DESCRIBE, cube=added.cube)]
        try:
            if jobs:
                self.wait(added.cube, jobs, user=user, patient=False)
        except (JobError, WaitTimeoutError, NotFoundError) as error:
            told = f"stored; what came with it has not been read yet: {error}"
            return replace(added, notes=(*added.notes, told))
        return added

    def events(self, *, user: object, cube: object, since: object, timeout: object) -> Iterator[Job]:
        """Yield jobs as they change, those that are first; end when nothing has changed for `timeout` seconds."""
        patience = None if timeout is None else check_seconds(timeout, "timeout")
        place = None if since is None else _place(since)
        self._desk.changed(place, user=user, cube=cube)  # who asks for what there is not, is told at once
        return self._changes(place, patience, user, cube)

    def _changes(
        self, since: tuple[datetime, str] | None, patience: float | None, user: object, cube: object
    ) -> Iterator[Job]:
        place = since
        told: dict[str, Job] = {}
        last = time.monotonic()
        while True:
            found = self._desk.changed(place, user=user, cube=cube)
            for job in found:
                is_news = since is None or (changed_at(job), job.id) > since
                if is_news and told.get(job.id) != job:
                    told[job.id] = job
                    last = time.monotonic()
                    yield job
            if len(found) == PAGE:
                place = (changed_at(found[-1]), found[-1].id)
                continue
            if found:
                place = (changed_at(found[-1]) - _OVERLAP, "")
                told = {job.id: job for job in told.values() if changed_at(job) >= place[0] - _OVERLAP}
            if left() or (patience is not None and time.monotonic() - last > patience):
                return
            self._worker.wait_for_change(_LOOK)

    def _are_put_off(self, jobs: Sequence[Job], left: float) -> bool:
        """Tell whether all that is left has failed and is tried again only after the wait would end."""
        end = self._clock.now() + timedelta(seconds=left)
        return all(job.state is JobState.FAILED and job.not_before > end for job in jobs)

    def _hasten(self, cube: str | None, user: object) -> None:
        """Let what a language model is to read not wait for more: somebody waits for it."""
        if REFINE not in self._worker.kinds:
            return
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, user, cube)
            now = self._clock.now()
            late = [
                each.key
                for each in scope.cubes
                for job in tx.jobs.list(each.key, states=[JobState.QUEUED], kinds=[REFINE])
                if job.not_before > now
            ]
        if late:
            with self._store.write() as tx:
                tx.enter(*late)
                for key in late:
                    tx.jobs.hasten(key, REFINE, now)

    def _pause_or_help(self, left: float) -> None:
        if self._worker.enabled:
            self._worker.wake()
            self._worker.wait_for_change(min(left, _LOOK))
            return
        with aside():  # it is others' work, too
            done = self._worker.run_once()
        if not done:
            threading.Event().wait(min(left, _HELP))

    def _look(self, cube: str | None, wanted: Sequence[str] | None, user: object) -> list[Job]:
        with self._store.read() as tx:
            scope = self._scoping.for_read(tx, user, cube)
            if wanted is None:
                return [job for each in scope.cubes for job in tx.jobs.list(each.key, states=OPEN, limit=1_000)]
            found = [tx.jobs.get(each.key, job_id) for each in scope.cubes for job_id in wanted]
        return [job for job in found if job is not None]


def _raise_for_ended(jobs: Sequence[Job], *, explicit: bool) -> None:
    """Raise for a job that will not be done: dead, or cancelled when it was asked for by its id or task."""
    for job in jobs:
        if job.state is JobState.DEAD:
            raise JobError(f"job {job.id} ({job.kind}) is dead after {job.attempts} tries: {job.reason}", job=job.id)
        if explicit and job.state is JobState.CANCELLED:
            raise JobError(f"job {job.id} ({job.kind}) was cancelled; `jobs.retry` queues it again", job=job.id)


def _late(waiting: Sequence[Job], timeout: float) -> WaitTimeoutError:
    count = "1 job" if len(waiting) == 1 else f"{len(waiting)} jobs"
    reason = next((job.reason for job in waiting if job.error), "")
    then = f"what failed is tried again later: {reason}" if reason else "the work goes on, wait again"
    return WaitTimeoutError(f"{count} will not be finished in {timeout:g} s; {then}", jobs=list(waiting))


def _place(since: object) -> tuple[datetime, str]:
    """Return where to go on from: behind a job, or what `cursor_of` gave for one."""
    if isinstance(since, Job):
        return changed_at(since), since.id
    if not isinstance(since, str):
        raise InputError("since", f"needs the job that was told last, or its cursor, got {type(since).__name__}")
    try:
        return place_of(since)
    except ValueError as error:
        raise InputError("since", f"needs `<time of the change> <id>` of the job told last, got {since!r}") from error
