"""The order of all cubes' work in SQL. Content is not reached by it; it alone looks across cubes, by small indexes.

A cube's row in `cube_share` is its lock: PostgreSQL locks the row and skips those that others have, SQLite has one
writer anyway. Heads are listed by lane, priority and turn, so that finding the next job takes as long with ten million
that wait behind as with none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    Boolean,
    Connection,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    null,
    select,
    text,
    update,
)

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.jobs import is_waiting, one_waits, values_of
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.job import KINDS, SILENCED, WAITING, Job, JobCount, JobState, Priority, Share
from mnemic.model.moment import from_micros, to_micros
from mnemic.ports.jobs import Head, Standing

_ADMITTED: Final = 1_000  # jobs of a cube that are put behind at once
_AT_HEAD: Final = text(f"place = {s.AT_HEAD}")  # as the indexes say it
_LATER: Final = text(f"place = {s.LATER}")
_OTHER: Final = s.job.alias("other")
_LATER_OTHER: Final = text(f"other.place = {s.LATER}")
_BEHIND: Final = text(f"place = {s.BEHIND}")
_RUNNING: Final = text("state = 'running'")
_LEASED: Final = text("lease_until IS NOT NULL")
_MINE: Final = (s.job.c.cube_key == bindparam("cube"), s.job.c.id == bindparam("job_id"))
_IS_SILENCED: Final = literal_column(f"coalesce(error, '') = '{SILENCED}'", Boolean)
_KNOWN: Final[BindParameter[str]] = bindparam(
    "known", expanding=True
)  # kinds of this version: those of a newer one are left for it
_OF_LANE: Final = (s.job.c.cube_key == bindparam("cube"), s.job.c.lane == bindparam("job_lane"))

_HEADS: Final = Prepared(
    select(s.job.c.cube_key, s.job.c.id, s.job.c.turn)
    .where(
        _AT_HEAD,
        s.job.c.lane == bindparam("job_lane"),
        s.job.c.priority == bindparam("urgency"),
        s.job.c.kind.in_(bindparam("kinds", expanding=True)),
    )
    .order_by(s.job.c.turn)
    .limit(bindparam("most")),
    lists=["kinds"],
)
_DUE: Final = Prepared(
    select(s.job.c.cube_key)
    .where(
        _LATER,
        s.job.c.lane == bindparam("job_lane"),
        s.job.c.not_before <= bindparam("now"),
        s.job.c.kind.in_(_KNOWN),
    )
    .order_by(s.job.c.not_before)
    .limit(bindparam("most")),
    lists=["known"],
)
_OVER: Final = Prepared(
    select(s.job.c.cube_key)
    .where(_LEASED, s.job.c.lane == bindparam("job_lane"), s.job.c.lease_until <= bindparam("now"))
    .order_by(s.job.c.lease_until)
    .limit(bindparam("most"))
)
_NEXT_DUE: Final = Prepared(
    select(func.min(s.job.c.not_before).label("at")).where(
        _LATER, s.job.c.lane == bindparam("job_lane"), s.job.c.kind.in_(_KNOWN)
    ),
    lists=["known"],
)
_NEXT_OVER: Final = Prepared(
    select(func.min(s.job.c.lease_until).label("at")).where(_LEASED, s.job.c.lane == bindparam("job_lane"))
)
_SHARE: Final = select(s.cube_share).where(s.cube_share.c.cube_key == bindparam("cube"))
_FIND: Final = Prepared(_SHARE)
_LOCK: Final = Prepared(_SHARE.with_for_update(skip_locked=True))
_WAIT_FOR: Final = Prepared(_SHARE.with_for_update())
_VIRTUAL: Final = Prepared(
    select(s.virtual_time.c.turn).where(
        s.virtual_time.c.lane == bindparam("job_lane"), s.virtual_time.c.priority == bindparam("urgency")
    )
)
_FIRST_TIME: Final = Prepared(
    text(
        "INSERT INTO virtual_time (lane, priority, turn) VALUES (:job_lane, :urgency, :to)"
        " ON CONFLICT (lane, priority) DO NOTHING"
    )
)
_EARLIER: Final = s.virtual_time.alias("earlier")
_MOVE_ON: Final = Prepared(
    update(s.virtual_time)
    .where(
        s.virtual_time.c.priority == bindparam("urgency"),
        s.virtual_time.c.lane.in_(
            select(_EARLIER.c.lane)
            .where(
                _EARLIER.c.lane == bindparam("job_lane"),
                _EARLIER.c.priority == bindparam("urgency"),
                _EARLIER.c.turn < bindparam("to"),
            )
            .with_for_update(skip_locked=True)
        ),
    )
    .values(turn=bindparam("to"))
)
_TURN: Final = Prepared(
    select(s.cube_turn.c.turn).where(
        s.cube_turn.c.cube_key == bindparam("cube"),
        s.cube_turn.c.lane == bindparam("job_lane"),
        s.cube_turn.c.priority == bindparam("urgency"),
    )
)
_CHARGE: Final = Prepared(
    text(
        "INSERT INTO cube_turn (cube_key, lane, priority, turn) VALUES (:cube, :job_lane, :urgency, :to)"
        " ON CONFLICT (cube_key, lane, priority) DO UPDATE SET turn = excluded.turn"
    )
)
_SPEND: Final = Prepared(
    update(s.cube_share)
    .where(s.cube_share.c.cube_key == bindparam("cube"))
    .values(tokens=bindparam("left"), refilled_at=bindparam("at"))
)
_LIST_UNDER: Final = Prepared(
    update(s.job)
    .where(
        s.job.c.cube_key == bindparam("cube"),
        s.job.c.lane == bindparam("job_lane"),
        s.job.c.priority == bindparam("urgency"),
        _AT_HEAD,
    )
    .values(turn=bindparam("to"))
)
_UP_JOB: Final = Prepared(select(s.job).where(*_MINE, text(f"place IN ({s.AT_HEAD}, {s.OFFERED})")))
_RUNNING_JOBS: Final = Prepared(select(s.job).where(s.job.c.cube_key == bindparam("cube"), _RUNNING))
_RUNNING_IN_LANE: Final = Prepared(select(s.job).where(*_OF_LANE, _RUNNING))
_STARTED: Final = Prepared(
    update(s.job)
    .where(*_MINE, is_waiting())
    .values(
        state=JobState.RUNNING.value,
        place=None,
        attempts=s.job.c.attempts + 1,
        lease_until=bindparam("until"),
        worker=bindparam("by"),
        started_at=bindparam("now"),
        changed_at=bindparam("now"),
        error=case((_IS_SILENCED, null()), else_=s.job.c.error),
    )
    .returning(s.job)
)
_STANDS_BEHIND: Final = Prepared(
    select(s.job.c.id).where(*_OF_LANE, text(f"place IN ({s.LATER}, {s.BEHIND})")).limit(1)
)
_ADMIT: Final = Prepared(
    update(s.job)
    .where(
        s.job.c.cube_key == bindparam("cube"),
        s.job.c.id.in_(
            select(_OTHER.c.id)
            .where(
                _OTHER.c.cube_key == bindparam("cube"),
                _OTHER.c.lane == bindparam("job_lane"),
                _LATER_OTHER,
                _OTHER.c.not_before <= bindparam("now"),
                _OTHER.c.kind.in_(_KNOWN),
            )
            .order_by(_OTHER.c.not_before)
            .limit(_ADMITTED)
        ),
    )
    .values(place=s.BEHIND),
    lists=["known"],
)
_OF_KIND: Final = (*_OF_LANE, s.job.c.kind == bindparam("job_kind"))
_HAS_HEAD: Final = Prepared(
    select(s.job.c.id)
    .where(*_OF_KIND, text(f"place IN ({s.AT_HEAD}, {s.OFFERED}) AND (place = {s.AT_HEAD} OR alone = 1)"))
    .limit(1)
)
_NEXT: Final = Prepared(
    select(s.job.c.id, s.job.c.priority).where(*_OF_KIND, _BEHIND).order_by(s.job.c.priority, s.job.c.id).limit(1)
)
_TO_HEAD: Final = Prepared(update(s.job).where(*_MINE).values(place=s.AT_HEAD, turn=bindparam("to")))
_STEP_BEHIND: Final = Prepared(update(s.job).where(*_MINE, is_waiting()).values(place=s.BEHIND, lease_until=None))
_STEP_LATER: Final = Prepared(
    update(s.job).where(*_MINE, is_waiting()).values(place=s.LATER, lease_until=None, not_before=bindparam("until"))
)
_OFFER: Final = Prepared(
    update(s.job).where(*_MINE, is_waiting()).values(place=s.OFFERED, lease_until=bindparam("until")).returning(s.job)
)
_EXTEND: Final = Prepared(
    update(s.job)
    .where(*_MINE, s.job.c.worker == bindparam("by"), s.job.c.attempts == bindparam("attempt"), _RUNNING)
    .values(lease_until=bindparam("until"), done=bindparam("so_far"))
)
_ENDS: Final = (
    "state", "place", "worker", "attempts", "not_before", "lease_until", "finished_at", "changed_at", "done", "error",
)  # fmt: skip
_ERROR: Final[BindParameter[str]] = bindparam("error", type_=s.Words)
_SAID_AT_THE_END: Final = case((and_(_IS_SILENCED, _ERROR.is_not(None)), s.job.c.error), else_=_ERROR)
_END: Final = Prepared(
    update(s.job)
    .where(*_MINE, s.job.c.worker == bindparam("by"), _RUNNING)
    .values({**{name: bindparam(name) for name in _ENDS}, "error": _SAID_AT_THE_END})
)
_DEAD_JOBS: Final = Prepared(select(s.job).where(s.job.c.cube_key == bindparam("cube"), text("state = 'dead'")))
_KNOWN_PERIODIC: Final = text(
    "INSERT INTO periodic (name, next_due) VALUES (:name, :due) ON CONFLICT (name) DO UPDATE"
    " SET next_due = excluded.next_due WHERE periodic.next_due > excluded.next_due AND excluded.next_due > :now"
)
_OPEN_SETS: Final = (
    _LATER,
    _BEHIND,
    _AT_HEAD,
    text(f"place = {s.OFFERED} AND lease_until IS NOT NULL"),
    _RUNNING,
    text("state = 'dead'"),
)


_AHEAD: Final = timedelta(minutes=1)  # a lease that reaches so much further was given by a clock that is ahead


class SqlTurns:
    """Implements `ports.jobs.Turns`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def heads(self, lane: str, priority: Priority, kinds: Collection[str], limit: int) -> Sequence[Head]:
        """Return heads of these kinds, the lowest turn first."""
        wanted = {"job_lane": lane, "urgency": int(priority), "kinds": sorted(kinds), "most": limit}
        return [Head(row.cube_key, row.id, row.turn) for row in _HEADS.rows(self._connection, wanted)]

    def due(self, lane: str, now: datetime, limit: int) -> Sequence[int]:
        """Return cubes with jobs that stand `later` and are due, or run or are offered under a lease that is over."""
        wanted = {"job_lane": lane, "now": to_micros(now), "most": limit}
        found = [
            *_DUE.rows(self._connection, {**wanted, "known": sorted(KINDS)}),
            *_OVER.rows(self._connection, wanted),
        ]
        return list(dict.fromkeys(row.cube_key for row in found))

    def next_due(self, lane: str) -> datetime | None:
        """Return when the next thing is due that stands `later` or is leased; None when there is nothing."""
        planned = _NEXT_DUE.scalar(self._connection, {"job_lane": lane, "known": sorted(KINDS)})
        found = (planned, _NEXT_OVER.scalar(self._connection, {"job_lane": lane}))
        return min((from_micros(at) for at in found if at is not None), default=None)

    def lock(self, cube_key: int) -> Standing | None:
        """Lock a cube's turn for this transaction; None when another transaction has it, or the cube is gone."""
        return _standing(_LOCK.first(self._connection, {"cube": cube_key}))

    def wait_for(self, cube_key: int) -> Standing | None:
        """Lock a cube's turn, waiting for who has it; None when the cube is gone."""
        return _standing(_WAIT_FOR.first(self._connection, {"cube": cube_key}))

    def find(self, cube_key: int) -> Standing | None:
        """Return where a cube stands, without locking it."""
        return _standing(_FIND.first(self._connection, {"cube": cube_key}))

    def turn(self, cube_key: int, lane: str, priority: Priority) -> float:
        """Return a cube's turn there, 0 when it never had one."""
        mine = {"cube": cube_key, "job_lane": lane, "urgency": int(priority)}
        return float(_TURN.scalar(self._connection, mine) or 0.0)

    def virtual(self, lane: str, priority: Priority) -> float:
        """Return the virtual time of a lane and priority."""
        return float(_VIRTUAL.scalar(self._connection, {"job_lane": lane, "urgency": int(priority)}) or 0.0)

    def charge(self, job: Job, turn: float, virtual: float) -> None:
        """Store a cube's turn and the virtual time where this job belongs; its other heads there go under the turn."""
        there = {"job_lane": job.lane, "urgency": int(job.priority)}
        _CHARGE.run(self._connection, {"cube": job.cube_key, **there, "to": turn})
        _LIST_UNDER.run(self._connection, {"cube": job.cube_key, **there, "to": turn})
        moved = _MOVE_ON.run(self._connection, {**there, "to": virtual})
        if not moved and _VIRTUAL.scalar(self._connection, there) is None:
            _FIRST_TIME.run(self._connection, {**there, "to": virtual})

    def spend(self, standing: Standing) -> None:
        """Store the tokens that a cube has left."""
        at = rows.micros(standing.refilled_at)
        _SPEND.run(self._connection, {"cube": standing.cube_key, "left": standing.tokens, "at": at})

    def up(self, cube_key: int, job_id: str) -> Job | None:
        """Return a job that may be taken: at the head, or offered."""
        row = _UP_JOB.first(self._connection, {"cube": cube_key, "job_id": job_id})
        return rows.job(row) if row else None

    def running(self, cube_key: int, lane: str | None = None) -> Sequence[Job]:
        """Return the cube's jobs that run, in a lane when one is named."""
        if lane is None:
            return [rows.job(row) for row in _RUNNING_JOBS.rows(self._connection, {"cube": cube_key})]
        wanted = {"cube": cube_key, "job_lane": lane}
        return [rows.job(row) for row in _RUNNING_IN_LANE.rows(self._connection, wanted)]

    def expired(self, cube_key: int, lane: str, now: datetime) -> Sequence[Job]:
        """Return jobs that run under a lease that is over."""
        return [job for job in self.running(cube_key, lane) if job.lease_until is not None and job.lease_until <= now]

    def recall(self, lane: str, now: datetime, *, cube_key: int | None = None) -> int:
        """Put offered jobs whose time is over by `now` back to the head, of all cubes or one; return how many."""
        over: list[Any] = [
            text(f"place = {s.OFFERED}"),
            _LEASED,
            s.job.c.lane == lane,
            s.job.c.lease_until <= to_micros(now),
        ]
        if cube_key is not None:
            over.append(s.job.c.cube_key == cube_key)
        back = {"place": s.AT_HEAD, "lease_until": None}
        return self._connection.execute(update(s.job).where(*over).values(back)).rowcount

    def catch_up(self, now: datetime, ahead: datetime) -> int:
        """Make due what was planned, and end leases that were given, by a clock that stood beyond `ahead`."""
        moment, late = to_micros(now), to_micros(ahead)
        planned = update(s.job).where(_LATER, s.job.c.not_before > moment, s.job.c.changed_at > late)
        leased = update(s.job).where(_LEASED, s.job.c.lease_until > late)
        found = self._connection.execute(planned.values(not_before=moment, changed_at=moment)).rowcount
        return found + self._connection.execute(leased.values(lease_until=moment)).rowcount

    def advance(self, cube_key: int, lane: str, now: datetime, kinds: Collection[str], *, anew: bool) -> int:
        """Put what is due behind, and the first of each kind that has no head at the head; return how many of these."""
        mine = {"cube": cube_key, "job_lane": lane}
        if _STANDS_BEHIND.scalar(self._connection, mine) is None:
            return 0
        _ADMIT.run(self._connection, {**mine, "now": to_micros(now), "known": sorted(KINDS)})
        moved = 0
        for kind in kinds:
            first = _NEXT.first(self._connection, {**mine, "job_kind": kind})
            if first is None or _HAS_HEAD.scalar(self._connection, {**mine, "job_kind": kind}) is not None:
                continue
            priority = Priority(first.priority)
            turn = self.turn(cube_key, lane, priority)
            under = max(turn, self.virtual(lane, priority)) if anew else turn
            moved += _TO_HEAD.run(self._connection, {"cube": cube_key, "job_id": first.id, "to": under})
        return moved

    def step_back(self, cube_key: int, job_id: str, *, until: datetime | None = None) -> None:
        """Put a job from the head behind, or `later` until a time."""
        mine = {"cube": cube_key, "job_id": job_id}
        if until is None:
            _STEP_BEHIND.run(self._connection, mine)
        else:
            _STEP_LATER.run(self._connection, {**mine, "until": to_micros(until)})

    def offer(self, cube_key: int, job_id: str, until: datetime) -> Job:
        """Mark a head as offered until a time."""
        wanted = {"cube": cube_key, "job_id": job_id, "until": to_micros(until)}
        return rows.job(_OFFER.first(self._connection, wanted))

    def start(self, cube_key: int, job_id: str, worker: str, now: datetime, lease_until: datetime) -> Job:
        """Mark a waiting job as running, as one more attempt."""
        values = {"cube": cube_key, "job_id": job_id, "by": worker, "now": to_micros(now)}
        return rows.job(_STARTED.first(self._connection, {**values, "until": to_micros(lease_until)}))

    def extend(self, jobs: Collection[Job], worker: str, lease_until: datetime) -> set[str]:
        """Prolong leases and store progress; return the ids of those that this worker still holds."""
        until = to_micros(lease_until)
        return {
            job.id
            for job in jobs
            if _EXTEND.run(
                self._connection,
                {
                    "cube": job.cube_key,
                    "job_id": job.id,
                    "by": worker,
                    "attempt": job.attempts,
                    "until": until,
                    "so_far": job.done,
                },
            )
        }

    def end(self, job: Job, worker: str) -> bool:
        """Store the new state of a job that this worker holds; False when another has taken it over."""
        place = s.LATER if job.state in WAITING else None
        kept = worker if job.state is JobState.RUNNING else None
        values = {**values_of(job), "place": place, "worker": kept}
        given = {name: value for name, value in values.items() if name in _ENDS}
        mine = {"cube": job.cube_key, "job_id": job.id, "by": worker}

        def store(state: JobState) -> int:
            return _END.run(self._connection, {**mine, **given, "state": state.value})

        return one_waits(self._connection, job, store) == 1

    def dead(self, cube_key: int) -> Sequence[Job]:
        """Return the cube's dead jobs."""
        return [rows.job(row) for row in _DEAD_JOBS.rows(self._connection, {"cube": cube_key})]

    def set_share(self, cube_key: int, share: Share) -> None:
        """Store how much of the workers a cube may have."""
        values = {"weight": share.weight, "most_running": share.running, "per_minute": share.per_minute}
        mine = s.cube_share.c.cube_key == cube_key
        self._connection.execute(update(s.cube_share).where(mine).values(**values, refilled_at=None))

    def counts(self) -> Sequence[JobCount]:
        """Return how many jobs of each kind are in each state, in the whole store; of what is done, none are told."""
        found: dict[tuple[str, str, str], tuple[int, int]] = {}
        counted = select(s.job.c.kind, s.job.c.lane, s.job.c.state, func.count(), func.min(s.job.c.not_before))
        for which in _OPEN_SETS:
            grouped = counted.where(which).group_by(s.job.c.kind, s.job.c.lane, s.job.c.state)
            for kind, lane, state, count, oldest in self._connection.execute(grouped):
                known, since = found.get((kind, lane, state), (0, oldest))
                found[kind, lane, state] = (known + count, min(since, oldest))
        return [
            JobCount(kind, lane, JobState(state), count, from_micros(oldest))
            for (kind, lane, state), (count, oldest) in sorted(found.items())
        ]

    def leaders(self) -> Mapping[str, tuple[datetime | None, datetime | None, str]]:
        """Return periodic work by name: when it last ended, when it is next due, and how it ended."""
        found = self._connection.execute(select(s.periodic).order_by(s.periodic.c.name))
        return {row.name: (rows.moment(row.ended_at), from_micros(row.next_due), row.outcome) for row in found}

    def lead(self, name: str, worker: str, now: datetime, lease_until: datetime, *, due: datetime) -> bool:
        """Take periodic work that is due by `now` and that nobody does; `due` is its next time when none is earlier."""
        moment = to_micros(now)
        self._connection.execute(_KNOWN_PERIODIC, {"name": name, "due": to_micros(due), "now": moment})
        lease = s.periodic.c.lease_until
        free = lease.is_(None) | (lease <= moment) | (lease > to_micros(lease_until + _AHEAD))
        mine = (s.periodic.c.name == name, s.periodic.c.next_due <= moment, free)
        taken: dict[str, Any] = {"worker": worker, "lease_until": to_micros(lease_until)}
        return self._connection.execute(update(s.periodic).where(*mine).values(taken)).rowcount == 1

    def led(self, name: str, worker: str, now: datetime, next_due: datetime, outcome: str) -> bool:
        """Note that it is done, and when it is due next; False when another has taken it over."""
        mine = (s.periodic.c.name == name, s.periodic.c.worker == worker)
        values = {
            "next_due": to_micros(next_due),
            "ended_at": to_micros(now),
            "outcome": outcome,
            "worker": None,
            "lease_until": None,
        }
        return self._connection.execute(update(s.periodic).where(*mine).values(values)).rowcount == 1


def _standing(row: Any) -> Standing | None:
    if row is None:
        return None
    share = Share(row.weight, row.most_running, row.per_minute)
    return Standing(row.cube_key, share, row.tokens, rows.moment(row.refilled_at))
