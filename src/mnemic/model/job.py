"""Background work: a job is a row, written in the transaction of what caused it.

What a kind of job needs (where it runs, whether beside others of its cube, how often it is tried) is said here, once
for each kind; who does the work is said in `mnemic.wiring.work`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

ORGANIZE: Final = "organize"
"""The job that refines what was added: memories, tiers, promotion."""

EMBED: Final = "embed"
"""The job that embeds what could not be embedded when it was written."""

RETEXT: Final = "retext"
"""The job that indexes the words of older passages anew, after an upgrade that reads text otherwise."""

REFINE: Final = "refine"
"""The job in which a language model reads what was added."""

REORGANIZE: Final = "reorganize"
"""The job that merges what says the same, sums up what belongs together, and closes plans that are over."""

INGEST: Final = "ingest"
"""The job that fetches, reads, cuts, embeds and publishes a version of a document."""

DESCRIBE: Final = "describe"
"""The job that reads what came with messages: pictures, files, sounds."""

QUICK: Final = "quick"
"""The lane of work that a processor does in moments."""

SLOW: Final = "slow"
"""The lane of work that may wait on a language model: it runs beside the other, so that nothing waits for it."""

LANES: Final = (QUICK, SLOW)

SILENCED: Final = "removed with what was forgotten"
"""The error of a job whose own may quote what was forgotten; that of one that ran meanwhile, too."""

_OURS: Final = re.compile(r"^mnemic\.errors\.\w+: ")


class Priority(enum.IntEnum):
    """How urgent a job is. Each gets its share of the turns, so that none starves (`mnemic.core.fairness`)."""

    INTERACTIVE = 0
    NORMAL = 1
    BACKGROUND = 2


class JobState(enum.StrEnum):
    """Where a job is. `done`, `dead` and `cancelled` are final; `failed` will be tried again."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DEAD = "dead"
    CANCELLED = "cancelled"


OPEN: Final = (JobState.QUEUED, JobState.RUNNING, JobState.FAILED)
"""States of work that is still to be done."""

WAITING: Final = (JobState.QUEUED, JobState.FAILED)
"""States of work that nobody does at the moment."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What all jobs of one name have in common.

    `alone`: of the jobs of a cube and lane that are so, one runs at a time, in the order in which they came. `merges`:
    while one waits in a cube, another is not queued beside it. `tries` before a job is dead; `cost` is what a turn
    counts in the sharing between cubes, 1 for work of a moment.
    """

    name: str
    lane: str = QUICK
    priority: Priority = Priority.NORMAL
    alone: bool = True
    merges: bool = True
    tries: int = 5
    cost: float = 1.0


KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind(ORGANIZE),
        Kind(EMBED),
        Kind(RETEXT, priority=Priority.BACKGROUND),
        Kind(REFINE, lane=SLOW, cost=8.0),
        Kind(INGEST, lane=SLOW, alone=False, merges=False, cost=4.0),
        Kind(REORGANIZE, lane=SLOW, priority=Priority.BACKGROUND, cost=8.0),
        Kind(DESCRIBE, lane=SLOW, cost=4.0),
    )
}
"""Every kind of job that there is."""


@dataclass(frozen=True, slots=True)
class Job:
    """A unit of background work. `done` counts what it has finished, for progress.

    `merge` is "" when it merges with another one that waits, else its own id. `payload` names what it is about, small
    and JSON; content stays where it is. `parent` is the job that caused it, `trace` the call that it goes back to.
    """

    id: str
    cube_key: int
    kind: str
    state: JobState
    attempts: int
    created_at: datetime
    not_before: datetime
    lease_until: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    done: int = 0
    error: str | None = None
    lane: str = QUICK
    priority: Priority = Priority.NORMAL
    alone: bool = True
    merge: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)
    parent: str | None = None
    trace: str = ""
    worker: str | None = None
    changed_at: datetime | None = None

    @property
    def reason(self) -> str:
        """Why it failed, in one line: what a traceback ends with, without the class when the error is one of ours."""
        last = (self.error or "").strip().rpartition("\n")[2].strip()
        return _OURS.sub("", last)


def queued(
    job_id: str,
    cube_key: int,
    kind: str,
    now: datetime,
    *,
    not_before: datetime | None = None,
    payload: Mapping[str, Any] | None = None,
    parent: str | None = None,
) -> Job:
    """Return a new job that is due at once, or not before a time."""
    traits = KINDS[kind]
    return Job(
        job_id,
        cube_key,
        kind,
        JobState.QUEUED,
        0,
        now,
        not_before or now,
        lane=traits.lane,
        priority=traits.priority,
        alone=traits.alone,
        merge="" if traits.merges else job_id,
        payload=payload or {},
        parent=parent,
    )


@dataclass(frozen=True, slots=True)
class Share:
    """How much of the workers a cube may have.

    `weight` of its turns beside other cubes' (1 is usual); `running`: jobs at one time; `per_minute`: jobs begun in a
    minute, in bursts of as many. 0 means no limit.
    """

    weight: float = 1.0
    running: int = 0
    per_minute: int = 0


@dataclass(frozen=True, slots=True)
class StateCount:
    """How many jobs are in a state, and when the oldest of them came."""

    state: JobState
    count: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class JobCount:
    """How many jobs of a kind are in a state, in the whole store, and how long the first of them has been due."""

    kind: str
    lane: str
    state: JobState
    count: int
    oldest_due: datetime | None


@dataclass(frozen=True, slots=True)
class Task:
    """A caller's task: the jobs that were queued for it, with what they led to.

    Its state is that of the worst: `running` or `queued` while any is open, then `dead`, `cancelled`, `done`.
    """

    id: str
    state: JobState
    jobs: Sequence[Job]


def cursor_of(job: Job) -> str:
    """Return the place of a job among the changes of all, as text: `<changed_at in ISO 8601> <id>`."""
    return f"{changed_at(job).isoformat()} {job.id}"


def place_of(cursor: str) -> tuple[datetime, str]:
    """Return the place that a cursor names. Raises `ValueError` for a text that is none."""
    at, _, job_id = cursor.partition(" ")
    time = datetime.fromisoformat(at)
    if time.tzinfo is None or not job_id:
        raise ValueError(cursor)
    return time, job_id


def changed_at(job: Job) -> datetime:
    """Return when a job was last changed."""
    return job.changed_at or job.created_at


def state_of(jobs: Sequence[Job]) -> JobState:
    """Return what several jobs come to together; without any, all is done."""
    found = {job.state for job in jobs}
    order = (JobState.RUNNING, JobState.FAILED, JobState.QUEUED, JobState.DEAD, JobState.CANCELLED)
    return next((state for state in order if state in found), JobState.DONE)
