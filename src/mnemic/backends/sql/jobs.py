"""The outbox in SQL: a job is written in the transaction of what caused it; who takes it when stands in `turns.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, or_, select, text, tuple_, update
from sqlalchemy.exc import IntegrityError

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.job import WAITING, Job, JobState, StateCount
from mnemic.model.moment import from_micros, to_micros

_ENDED: Final = (JobState.DONE.value, JobState.DEAD.value, JobState.CANCELLED.value)
_MERGES_WITH: Final = Prepared(
    select(s.job.c.id).where(
        s.job.c.cube_key == bindparam("cube"),
        s.job.c.kind == bindparam("job_kind"),
        s.job.c.merge == bindparam("merged"),
        text("state = 'queued'"),  # as the index says it: a parameter would have SQLite plan again for each value
    )
)
_TURNS: Final = Prepared(
    select(
        select(s.cube_turn.c.turn)
        .where(
            s.cube_turn.c.cube_key == bindparam("cube"),
            s.cube_turn.c.lane == bindparam("job_lane"),
            s.cube_turn.c.priority == bindparam("urgency"),
        )
        .scalar_subquery()
        .label("own"),
        select(s.virtual_time.c.turn)
        .where(s.virtual_time.c.lane == bindparam("job_lane"), s.virtual_time.c.priority == bindparam("urgency"))
        .scalar_subquery()
        .label("virtual"),
    )
)
_LOCK: Final = Prepared(
    select(s.cube_share.c.cube_key).where(s.cube_share.c.cube_key == bindparam("cube")).with_for_update()
)
_STANDING: Final = Prepared(
    select(s.job.c.id)
    .where(
        s.job.c.cube_key == bindparam("cube"),
        s.job.c.lane == bindparam("job_lane"),
        s.job.c.kind == bindparam("job_kind"),
        text(f"place IN ({s.BEHIND}, {s.AT_HEAD}, {s.OFFERED})"),
    )
    .limit(1)
)
_NEW: Final = Prepared(insert(s.job), new=True)
_NOTE: Final = text(
    "INSERT INTO job_task (cube_key, task, job_id) VALUES (:cube, :task, :job)"
    " ON CONFLICT (cube_key, task, job_id) DO NOTHING"
)
_OTHER: Final = s.job.alias("other")
_KEPT: Final = select(_OTHER.c.id).where(_OTHER.c.cube_key == bindparam("cube")).order_by(_OTHER.c.id.desc())
_PRUNE: Final = delete(s.job).where(
    s.job.c.cube_key == bindparam("cube"),
    s.job.c.id <= _KEPT.offset(bindparam("keep")).limit(1).scalar_subquery(),
    s.job.c.state.in_([JobState.DONE.value, JobState.CANCELLED.value]),
)


class SqlJobs:
    """Implements `ports.jobs.Jobs`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, job: Job) -> str:
        """Store a queued job; when one waits that it merges with, return that one's id instead.

        It goes to the head when it is due and the first of its kind. What merges is that always: whether another job
        of its cube runs, is looked at when it is taken. What does not merge is counted under the cube's lock.
        """
        while True:
            waiting = self._merges_with(job)
            if waiting is not None:
                return waiting
            if self._insert(job):
                return job.id  # else another transaction was quicker by a moment

    def _merges_with(self, job: Job) -> str | None:
        if job.merge:
            return None
        merged = {"cube": job.cube_key, "job_kind": job.kind, "merged": job.merge}
        found: str | None = _MERGES_WITH.scalar(self._connection, merged)
        return found

    def _insert(self, job: Job) -> bool:
        place, turn = s.LATER, 0.0
        if job.not_before <= job.created_at:
            there = {"cube": job.cube_key, "job_lane": job.lane}
            place = s.BEHIND if job.merge and self._stands_one(there, job.kind) else s.AT_HEAD
            own, virtual = _TURNS.first(self._connection, {**there, "urgency": int(job.priority)})
            turn = max(own or 0.0, virtual or 0.0)
        return _NEW.run(self._connection, {"id": job.id, **values_of(job), "place": place, "turn": turn}) == 1

    def _stands_one(self, there: Mapping[str, Any], kind: str) -> bool:
        """Lock the cube's line, and tell whether a job of the kind stands there."""
        _LOCK.run(self._connection, {"cube": there["cube"]})
        return _STANDING.scalar(self._connection, {**there, "job_kind": kind}) is not None

    def get(self, cube_key: int, job_id: str) -> Job | None:
        """Return a job of this cube."""
        row = self._connection.execute(select(s.job).where(s.job.c.cube_key == cube_key, s.job.c.id == job_id)).first()
        return rows.job(row) if row else None

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
        query = select(s.job).where(s.job.c.cube_key == cube_key).order_by(s.job.c.id.desc()).limit(limit)
        if states:
            query = query.where(s.job.c.state.in_([state.value for state in states]))
        if kinds:
            query = query.where(s.job.c.kind.in_(list(kinds)))
        if after is not None:
            query = query.where(s.job.c.id < after)
        return [rows.job(row) for row in self._connection.execute(query)]

    def family(self, cube_key: int, ids: Collection[str]) -> Sequence[Job]:
        """Return these jobs and all that they caused, directly or not, oldest first."""
        found: dict[str, Job] = {}
        wanted = list(ids)
        mine = select(s.job).where(s.job.c.cube_key == cube_key)
        rows_found = self._connection.execute(mine.where(s.job.c.id.in_(wanted))).all()
        while rows_found:
            fresh = [rows.job(row) for row in rows_found if row.id not in found]
            found |= {job.id: job for job in fresh}
            caused = mine.where(s.job.c.parent.in_([job.id for job in fresh]), s.job.c.parent.is_not(None))
            rows_found = self._connection.execute(caused).all() if fresh else []
        return [found[job_id] for job_id in sorted(found)]

    def changed(self, cube_key: int, since: tuple[datetime, str] | None, limit: int) -> Sequence[Job]:
        """Return jobs in the order of their last change, from behind (`changed_at`, id) on."""
        query = select(s.job).where(s.job.c.cube_key == cube_key)
        if since is not None:
            query = query.where(tuple_(s.job.c.changed_at, s.job.c.id) > (to_micros(since[0]), since[1]))
        return [
            rows.job(row)
            for row in self._connection.execute(query.order_by(s.job.c.changed_at, s.job.c.id).limit(limit))
        ]

    def counts(self, cube_key: int) -> Sequence[StateCount]:
        """Return how many jobs are in each state that occurs."""
        query = (
            select(s.job.c.state, func.count(), func.min(s.job.c.created_at))
            .where(s.job.c.cube_key == cube_key)
            .group_by(s.job.c.state)
        )
        found = {state: (count, oldest) for state, count, oldest in self._connection.execute(query)}
        return [
            StateCount(state, found[state.value][0], from_micros(found[state.value][1]))
            for state in JobState
            if state.value in found
        ]

    def save(self, job: Job) -> None:
        """Store a job's new state, attempts, times and error. Only for one that waits or has ended, under the lock."""
        place = s.LATER if job.state in WAITING else None
        mine = (s.job.c.cube_key == job.cube_key, s.job.c.id == job.id)
        values = {**values_of(job), "place": place, "worker": None}

        def store(state: JobState) -> int:
            return self._connection.execute(
                update(s.job).where(*mine).values({**values, "state": state.value})
            ).rowcount

        one_waits(self._connection, job, store)

    def drop(self, cube_key: int, job_id: str) -> bool:
        """Erase a job that has ended; False when there is none that has."""
        ended = (s.job.c.cube_key == cube_key, s.job.c.id == job_id, s.job.c.state.in_(_ENDED))
        return self._connection.execute(delete(s.job).where(*ended)).rowcount == 1

    def prune(self, cube_key: int, keep: int) -> int:
        """Erase done and cancelled jobs beyond the newest `keep` jobs of the cube; return how many."""
        return self._connection.execute(_PRUNE, {"cube": cube_key, "keep": keep}).rowcount

    def hasten(self, cube_key: int, kind: str, now: datetime) -> None:
        """Make waiting jobs of a kind due at once."""
        moment = to_micros(now)
        mine = (s.job.c.cube_key == cube_key, s.job.c.kind == kind, text(f"place = {s.LATER}"))
        later = and_(*mine, s.job.c.state == JobState.QUEUED.value, s.job.c.not_before > moment)
        self._connection.execute(update(s.job).where(later).values(not_before=moment, changed_at=moment))

    def note_task(self, cube_key: int, task: str, job_id: str) -> None:
        """Count a job to a caller's task; again changes nothing."""
        self._connection.execute(_NOTE, {"cube": cube_key, "task": task, "job": job_id})

    def follow(self, cube_key: int, cause: str, job_id: str) -> None:
        """Count a job to all tasks that another one, or what caused that, is counted to."""
        line: list[str] = []
        above: str | None = cause
        while above is not None and above not in line:
            line.append(above)
            above = self._connection.scalar(
                select(s.job.c.parent).where(s.job.c.cube_key == cube_key, s.job.c.id == above)
            )
        theirs = (s.job_task.c.cube_key == cube_key, s.job_task.c.job_id.in_(line))
        for task in self._connection.scalars(select(s.job_task.c.task).where(*theirs).distinct()).all():
            self.note_task(cube_key, task, job_id)

    def of_task(self, cube_key: int, task: str) -> Sequence[str]:
        """Return the ids of the jobs that were counted to a task; none when it is unknown."""
        mine = (s.job_task.c.cube_key == cube_key, s.job_task.c.task == task)
        return list(self._connection.scalars(select(s.job_task.c.job_id).where(*mine).order_by(s.job_task.c.job_id)))


def one_waits(connection: Connection, job: Job, store: Callable[[JobState], int]) -> int:
    """Store a job's state; one that would wait beside another that it merges with, queued in this moment, as failed."""
    if job.state is not JobState.QUEUED or job.merge:
        return store(job.state)
    try:
        with connection.begin_nested():
            return store(job.state)
    except IntegrityError:
        return store(JobState.FAILED)


def values_of(job: Job) -> dict[str, Any]:
    """Return a job's columns, but its id and where it stands."""
    return {
        "cube_key": job.cube_key,
        "kind": job.kind,
        "lane": job.lane,
        "priority": int(job.priority),
        "alone": int(job.alone),
        "merge": job.merge,
        "state": job.state.value,
        "attempts": job.attempts,
        "created_at": to_micros(job.created_at),
        "not_before": to_micros(job.not_before),
        "lease_until": rows.micros(job.lease_until),
        "started_at": rows.micros(job.started_at),
        "finished_at": rows.micros(job.finished_at),
        "changed_at": to_micros(job.changed_at or job.created_at),
        "done": job.done,
        "error": None if job.error is None else rows.plain(job.error),
        "payload": rows.to_json(dict(job.payload)),
        "parent": job.parent,
        "trace": job.trace,
    }


def is_waiting() -> Any:
    """Return the condition that a job waits."""
    return or_(*(s.job.c.state == state.value for state in WAITING))
