"""The outbox in SQL: a job is written in the transaction of what caused it, and claimed under a lease."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, or_, select, text, update

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.job import Job, JobState
from mnemic.model.moment import to_micros

_WAITING = Prepared(
    select(s.job.c.id).where(
        s.job.c.cube_key == bindparam("cube"),
        s.job.c.kind == bindparam("job_kind"),
        text("state = 'queued'"),  # as the index says it: a parameter would have SQLite plan again for each value
    )
)
_NEW = Prepared(insert(s.job))
_WAITS = (JobState.QUEUED.value, JobState.FAILED.value)
_OTHER = s.job.alias("other")
_RUNNING = (
    select(_OTHER.c.id)
    .where(
        _OTHER.c.cube_key == s.job.c.cube_key,
        _OTHER.c.kind.in_(bindparam("kinds", expanding=True)),
        _OTHER.c.state == JobState.RUNNING.value,
        _OTHER.c.lease_until > bindparam("now"),
    )
    .exists()
)
_DUE = (
    select(s.job)
    .where(
        or_(
            s.job.c.state.in_(_WAITS) & (s.job.c.not_before <= bindparam("now")),
            (s.job.c.state == JobState.RUNNING.value) & (s.job.c.lease_until <= bindparam("now")),
        ),
        s.job.c.kind.in_(bindparam("kinds", expanding=True)),
        ~_RUNNING,
    )
    .order_by(s.job.c.not_before, s.job.c.id)
    .limit(1)
)
_KEPT = 200  # jobs of a cube of which those that are done stay
_OLD = select(_OTHER.c.id).where(_OTHER.c.cube_key == bindparam("cube")).order_by(_OTHER.c.id.desc())
_PRUNE = delete(s.job).where(
    s.job.c.cube_key == bindparam("cube"),
    s.job.c.id <= _OLD.offset(_KEPT).limit(1).scalar_subquery(),
    s.job.c.state == JobState.DONE.value,
)


class SqlJobs:
    """Implements `ports.store.Jobs`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, job: Job) -> str:
        """Store a queued job; when the cube has one of this kind waiting already, return that one's id instead."""
        waiting = _WAITING.scalar(self._connection, {"cube": job.cube_key, "job_kind": job.kind})
        if waiting is not None:
            return str(waiting)
        _NEW.run(self._connection, {"id": job.id, **_values(job)})
        return job.id

    def is_due(self, now: datetime, kinds: Collection[str]) -> bool:
        """Tell whether there is a job of these kinds to claim, without waiting for a writer."""
        return self._connection.execute(_DUE, {"now": to_micros(now), "kinds": sorted(kinds)}).first() is not None

    def claim(self, worker: str, now: datetime, lease_until: datetime, kinds: Collection[str]) -> Job | None:
        """Take the next due job of these kinds of a cube in which none of them runs; expired leases are taken over."""
        moment = to_micros(now)
        row = self._connection.execute(_DUE, {"now": moment, "kinds": sorted(kinds)}).first()
        if row is None:
            return None
        taken = {
            "state": JobState.RUNNING.value,
            "attempts": row.attempts + 1,
            "lease_until": to_micros(lease_until),
            "worker": worker,
            "started_at": moment,
        }
        changed = update(s.job).where(s.job.c.id == row.id).values(taken).returning(s.job)
        return rows.job(self._connection.execute(changed).one())

    def extend(self, job: Job, worker: str, lease_until: datetime) -> bool:
        """Prolong a lease; False when another worker holds the job now."""
        held = (s.job.c.id == job.id, s.job.c.worker == worker, s.job.c.state == JobState.RUNNING.value)
        values = {"lease_until": to_micros(lease_until), "done": job.done}
        return self._connection.execute(update(s.job).where(*held).values(values)).rowcount == 1

    def finish(self, job: Job, worker: str) -> None:
        """Store the new state of a job that this worker holds; what another has taken over is left to it."""
        held = (s.job.c.id == job.id, s.job.c.worker == worker, s.job.c.state == JobState.RUNNING.value)
        finished = self._connection.execute(update(s.job).where(*held).values(_values(job))).rowcount
        if finished and job.state is JobState.DONE:
            self._connection.execute(_PRUNE, {"cube": job.cube_key})

    def revive(self, cube_key: int, done: str, now: datetime) -> None:
        """Let the dead jobs of a cube be tried again, except those of the kind `done`, which has made up for them."""
        dead = (s.job.c.cube_key == cube_key, s.job.c.state == JobState.DEAD.value, s.job.c.kind != done)
        again = {"state": JobState.FAILED.value, "attempts": 0, "not_before": to_micros(now), "finished_at": None}
        self._connection.execute(update(s.job).where(*dead).values(again))

    def hasten(self, cube_key: int, kind: str, now: datetime) -> None:
        """Make a waiting job of a kind due at once."""
        moment = to_micros(now)
        later = (s.job.c.state == JobState.QUEUED.value, s.job.c.not_before > moment)
        mine = (s.job.c.cube_key == cube_key, s.job.c.kind == kind, *later)
        self._connection.execute(update(s.job).where(*mine).values(not_before=moment))

    def get(self, cube_key: int, job_id: str) -> Job | None:
        """Return a job of this cube."""
        row = self._connection.execute(select(s.job).where(s.job.c.cube_key == cube_key, s.job.c.id == job_id)).first()
        return rows.job(row) if row else None

    def list(self, cube_key: int, *, open_only: bool = False, limit: int = 100) -> Sequence[Job]:
        """Return a cube's jobs, newest first."""
        query = select(s.job).where(s.job.c.cube_key == cube_key).order_by(s.job.c.id.desc()).limit(limit)
        if open_only:
            query = query.where(
                s.job.c.state.in_([JobState.QUEUED.value, JobState.RUNNING.value, JobState.FAILED.value])
            )
        return [rows.job(row) for row in self._connection.execute(query)]


def _values(job: Job) -> dict[str, object]:
    return {
        "cube_key": job.cube_key,
        "kind": job.kind,
        "state": job.state.value,
        "attempts": job.attempts,
        "created_at": to_micros(job.created_at),
        "not_before": to_micros(job.not_before),
        "lease_until": rows.micros(job.lease_until),
        "started_at": rows.micros(job.started_at),
        "finished_at": rows.micros(job.finished_at),
        "done": job.done,
        "error": job.error,
    }
