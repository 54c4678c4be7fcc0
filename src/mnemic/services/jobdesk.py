"""Background work as its owner sees it: what there is, what it waits for, and ordering it about.

Everything is asked in a scope; a job of another's cube does not exist. The same answers come from rows whatever queue
carries the jobs, and after a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from mnemic.core.intake import check_count, check_flag, check_id, check_names
from mnemic.errors import ConflictError, InputError, NotFoundError
from mnemic.model.caller import Power
from mnemic.model.job import KINDS, LANES, OPEN, WAITING, Job, JobState, Share, StateCount, Task, state_of
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store, Transaction
from mnemic.services.dispatching import advance, again
from mnemic.services.paging import every_page
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable, writable

PAGE: Final = 500
"""Changes that are told at once, and jobs that are read together."""


_MOST: Final = 1_000_000  # jobs at one time, or in a minute, as in the settings


class JobDesk:
    """The use cases of `memory.jobs`, but waiting."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping, announce: Callable[[Sequence[str]], None]) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._announce = announce

    def list(
        self,
        *,
        user: object,
        open_only: object = False,
        states: object = None,
        kinds: object = None,
        after: object = None,
        limit: object = 100,
        cube: object = None,
    ) -> Sequence[Job]:
        """Return the jobs of a cube, newest first."""
        wanted = _states(states)
        if check_flag(open_only, "open_only"):
            if states is not None:
                raise InputError("states", "give open_only or states, not both")
            wanted = OPEN
        named = () if kinds is None else [check_id(kind, "kinds") for kind in check_names(kinds, "kinds")]
        for kind in named:
            if kind not in KINDS:
                raise InputError("kinds", f"{kind!r} is no kind of job; known: {', '.join(KINDS)}")
        most = check_count(limit, "limit", most=10_000)
        behind = None if after is None else check_id(after, "after")
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            if target is None:
                return ()
            return tuple(tx.jobs.list(target.key, states=wanted, kinds=named, after=behind, limit=most))

    def iterate(
        self,
        *,
        user: object,
        open_only: object = False,
        states: object = None,
        kinds: object = None,
        after: object = None,
        cube: object = None,
    ) -> Iterator[Job]:
        """Yield what `list` gives, to the end."""

        def page(behind: object) -> Sequence[Job]:
            return self.list(
                user=user, open_only=open_only, states=states, kinds=kinds, after=behind, limit=PAGE, cube=cube
            )

        return every_page(page, after, PAGE)

    def get(self, job_id: object, *, user: object, cube: object = None) -> Job:
        """Return a job. Raises `NotFoundError`."""
        with self._store.read() as tx:
            return _found(tx, readable(self._scoping, tx, user, cube), check_id(job_id, "id"))

    def counts(self, *, user: object, cube: object = None) -> Sequence[StateCount]:
        """Return how many jobs are in each state that occurs, with the age of the oldest."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            return () if target is None else tuple(tx.jobs.counts(target.key))

    def task(self, task: object, *, user: object, cube: object = None) -> Task:
        """Return a caller's task: its jobs and what they led to. Raises `NotFoundError`."""
        name = check_id(task, "task")
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            ids = () if target is None else tx.jobs.of_task(target.key, name)
            if target is None or not ids:
                raise NotFoundError(f"there is no task {name!r} here; `add(…, task=…)` names one", task=name)
            jobs = tx.jobs.family(target.key, ids)
        return Task(name, state_of(jobs), tuple(jobs))

    def cancel(self, job_id: object, *, user: object, cube: object = None) -> Job:
        """Cancel a job that waits. What runs already runs to its end. Raises `ConflictError` when it does not wait."""

        def change(job: Job) -> Job:
            if job.state not in WAITING:
                raise ConflictError(f"job {job.id} is {job.state}: only what waits can be cancelled", job=job.id)
            now = self._clock.now()
            return replace(job, state=JobState.CANCELLED, lease_until=None, finished_at=now, changed_at=now)

        return self._changed(job_id, user, cube, change)

    def retry(self, job_id: object, *, user: object, cube: object = None) -> Job:
        """Let a job that is dead, cancelled or failed be tried again from the first try, at once."""

        def change(job: Job) -> Job:
            if job.state not in (JobState.DEAD, JobState.CANCELLED, JobState.FAILED):
                raise ConflictError(
                    f"job {job.id} is {job.state}: what is dead, cancelled or failed can be tried again", job=job.id
                )
            return again(job, self._clock.now())

        return self._changed(job_id, user, cube, change)

    def drop(self, job_id: object, *, user: object, cube: object = None) -> Job:
        """Erase a job that has ended, such as a dead letter that nobody needs; return it as it was."""
        with self._store.write() as tx:
            target = writable(self._scoping, tx, user, cube)
            job = _found(tx, target, check_id(job_id, "id"))
            if not tx.jobs.drop(job.cube_key, job.id):
                raise ConflictError(f"job {job.id} is {job.state}: cancel it before it is dropped", job=job.id)
            return job

    def share(self, *, user: object, cube: object = None) -> Share:
        """Return how much of the workers a cube may have; zeros are what the settings say."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            standing = None if target is None else tx.turns.find(target.key)
            return Share() if standing is None else standing.share

    def set_share(self, share: Share, *, user: object, cube: object = None) -> Share:
        """Say how much of the workers a cube may have."""
        _check_share(share)
        self._scoping.need(Power.ADMIN)  # it takes from others what it gives to this cube
        with self._store.write() as tx:
            target = self._scoping.for_write(
                tx, check_id(user, "user"), None if cube is None else check_id(cube, "cube")
            )
            tx.turns.wait_for(target.key)
            tx.turns.set_share(target.key, share)
            advance(tx, target.key, None, self._clock.now())
        self._announce(LANES)
        return share

    def changed(self, since: tuple[datetime, str] | None, *, user: object, cube: object = None) -> Sequence[Job]:
        """Return jobs in the order of their last change, from behind (`changed_at`, id) on."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            return () if target is None else tuple(tx.jobs.changed(target.key, since, PAGE))

    def _changed(self, job_id: object, user: object, cube: object, change: Callable[[Job], Job]) -> Job:
        with self._store.write() as tx:
            target = writable(self._scoping, tx, user, cube)
            if target is not None:
                tx.turns.wait_for(target.key)
            job = change(_found(tx, target, check_id(job_id, "id")))
            tx.jobs.save(job)
            advance(tx, job.cube_key, None, self._clock.now())
        self._announce([job.lane])
        return job


def _found(tx: Transaction, target: Cube | None, job_id: str) -> Job:
    job = None if target is None else tx.jobs.get(target.key, job_id)
    if job is None:
        raise NotFoundError(f"there is no job {job_id!r} here; `jobs.list` shows those that are", job=job_id)
    return job


def _states(states: object) -> Sequence[JobState]:
    if states is None:
        return ()
    known = [state.value for state in JobState]
    for name in (named := [check_id(state, "states") for state in check_names(states, "states")]):
        if name not in known:
            raise InputError("states", f"{name!r} is no state of a job; known: {', '.join(known)}")
    return [JobState(name) for name in named]


def _check_share(share: Share) -> None:
    weight: object = share.weight  # callers without a type checker give anything
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0.01 <= weight <= 100:
        raise InputError("weight", f"needs a number from 0.01 to 100, got {weight!r}")
    check_count(share.running, "running", least=0, most=_MOST)
    check_count(share.per_minute, "per_minute", least=0, most=_MOST)
