"""Jobs in the store: the rows that are the truth about background work, and the order in which they are taken.

`Jobs` is about the jobs of one cube. `Turns` serves all cubes, and content is not reached by it; every change of where
a job stands is made under its cube's lock (`Turns.lock`), so that two workers never decide about one cube at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemic.model.job import Job, JobCount, JobState, Priority, Share, StateCount


class Jobs(Protocol):
    """The outbox: jobs of a cube, written in the transaction of what caused them."""

    def put(self, job: Job) -> str:
        """Store a queued job; when one waits that it merges with, return that one's id instead."""
        ...

    def get(self, cube_key: int, job_id: str) -> Job | None:
        """Return a job of this cube."""
        ...

    def list(
        self,
        cube_key: int,
        *,
        states: Collection[JobState] = (),
        kinds: Collection[str] = (),
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[Job]:
        """Return a cube's jobs, newest first, those before the job `after`; all states and kinds when none is named."""
        ...

    def family(self, cube_key: int, ids: Collection[str]) -> Sequence[Job]:
        """Return these jobs and all that they caused, directly or not, oldest first."""
        ...

    def changed(self, cube_key: int, since: tuple[datetime, str] | None, limit: int) -> Sequence[Job]:
        """Return jobs in the order of their last change, from behind (`changed_at`, id) on."""
        ...

    def counts(self, cube_key: int) -> Sequence[StateCount]:
        """Return how many jobs are in each state that occurs."""
        ...

    def save(self, job: Job) -> None:
        """Store a job's new state, attempts, times and error. Only for one that waits or has ended, under the lock."""
        ...

    def drop(self, cube_key: int, job_id: str) -> bool:
        """Erase a job that has ended; False when there is none that has."""
        ...

    def prune(self, cube_key: int, keep: int) -> int:
        """Erase done and cancelled jobs beyond the newest `keep` jobs of the cube; return how many."""
        ...

    def hasten(self, cube_key: int, kind: str, now: datetime) -> None:
        """Make waiting jobs of a kind due at once."""
        ...

    def note_task(self, cube_key: int, task: str, job_id: str) -> None:
        """Count a job to a caller's task; again changes nothing."""
        ...

    def follow(self, cube_key: int, cause: str, job_id: str) -> None:
        """Count a job to all tasks that another one, or what caused that, is counted to."""
        ...

    def of_task(self, cube_key: int, task: str) -> Sequence[str]:
        """Return the ids of the jobs that were counted to a task; none when it is unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Standing:
    """What a cube may have of the workers. `tokens` are those of its rate, as of `refilled_at`."""

    cube_key: int
    share: Share
    tokens: float
    refilled_at: datetime | None


@dataclass(frozen=True, slots=True)
class Head:
    """A job that is the next of its kind in its cube, with the turn under which it is listed."""

    cube_key: int
    job_id: str
    turn: float


class Turns(Protocol):
    """The order of all cubes' work. A waiting job stands `later`, `behind`, at the `head`, or is `offered`.

    Later: it is not due, or nobody has looked yet. Behind: others of its cube go first. Head: it may be taken. Offered:
    its id is on the way to a worker.
    """

    def heads(self, lane: str, priority: Priority, kinds: Collection[str], limit: int) -> Sequence[Head]:
        """Return heads of these kinds, the lowest turn first."""
        ...

    def due(self, lane: str, now: datetime, limit: int) -> Sequence[int]:
        """Return cubes with jobs that stand `later` and are due, or run or are offered under a lease that is over."""
        ...

    def next_due(self, lane: str) -> datetime | None:
        """Return when the next thing is due that stands `later` or is leased; None when there is nothing."""
        ...

    def lock(self, cube_key: int) -> Standing | None:
        """Lock a cube's turn for this transaction; None when another transaction has it, or the cube is gone."""
        ...

    def wait_for(self, cube_key: int) -> Standing | None:
        """Lock a cube's turn, waiting for who has it; None when the cube is gone."""
        ...

    def find(self, cube_key: int) -> Standing | None:
        """Return where a cube stands, without locking it."""
        ...

    def turn(self, cube_key: int, lane: str, priority: Priority) -> float:
        """Return a cube's turn there, 0 when it never had one."""
        ...

    def virtual(self, lane: str, priority: Priority) -> float:
        """Return the virtual time of a lane and priority."""
        ...

    def charge(self, job: Job, turn: float, virtual: float) -> None:
        """Store a cube's turn and the virtual time where this job belongs; its other heads there stand under the turn.

        The virtual time never goes back. While another transaction moves it, it is left to that one: whoever begins a
        job waits for nobody who begins one of another cube.
        """
        ...

    def spend(self, standing: Standing) -> None:
        """Store the tokens that a cube has left."""
        ...

    def up(self, cube_key: int, job_id: str) -> Job | None:
        """Return a job that may be taken: at the head, or offered; None when it is not, or not any more."""
        ...

    def running(self, cube_key: int, lane: str | None = None) -> Sequence[Job]:
        """Return the cube's jobs that run, in a lane when one is named."""
        ...

    def expired(self, cube_key: int, lane: str, now: datetime) -> Sequence[Job]:
        """Return jobs that run under a lease that is over."""
        ...

    def recall(self, lane: str, now: datetime, *, cube_key: int | None = None) -> int:
        """Put offered jobs whose time is over by `now` back to the head, of all cubes or one; return how many."""
        ...

    def catch_up(self, now: datetime, ahead: datetime) -> int:
        """Make due what was planned, and end leases that were given, by a clock that stood beyond `ahead`.

        It has been put back since. Return how many jobs that concerned.
        """
        ...

    def advance(self, cube_key: int, lane: str, now: datetime, kinds: Collection[str], *, anew: bool) -> int:
        """Put what is due behind, and the first of each kind that has no head at the head; return how many of these.

        They stand under their cube's turn; when its work begins anew, under the virtual time if that is later.
        """
        ...

    def step_back(self, cube_key: int, job_id: str, *, until: datetime | None = None) -> None:
        """Put a job from the head behind, or `later` until a time."""
        ...

    def offer(self, cube_key: int, job_id: str, until: datetime) -> Job:
        """Mark a head as offered until a time."""
        ...

    def start(self, cube_key: int, job_id: str, worker: str, now: datetime, lease_until: datetime) -> Job:
        """Mark a waiting job as running, as one more attempt."""
        ...

    def extend(self, jobs: Collection[Job], worker: str, lease_until: datetime) -> set[str]:
        """Prolong leases and store progress; return the ids of those that this worker still holds."""
        ...

    def end(self, job: Job, worker: str) -> bool:
        """Store the new state of a job that this worker holds; False when another has taken it over."""
        ...

    def dead(self, cube_key: int) -> Sequence[Job]:
        """Return the cube's dead jobs."""
        ...

    def set_share(self, cube_key: int, share: Share) -> None:
        """Store how much of the workers a cube may have."""
        ...

    def counts(self) -> Sequence[JobCount]:
        """Return how many jobs of each kind are in each state, in the whole store."""
        ...

    def leaders(self) -> Mapping[str, tuple[datetime | None, datetime | None, str]]:
        """Return periodic work by name: when it last ended, when it is next due, and how it ended."""
        ...

    def lead(self, name: str, worker: str, now: datetime, lease_until: datetime, *, due: datetime) -> bool:
        """Take periodic work that is due by `now` and that nobody does.

        Who has it under a lease far longer than this one has had a clock that was ahead, and has it no more.
        `due`, a time to come, is its first time when it is new, and its next one when it was planned for a later one.
        """
        ...

    def led(self, name: str, worker: str, now: datetime, next_due: datetime, outcome: str) -> bool:
        """Note that it is done, and when it is due next; False when another has taken it over."""
        ...
