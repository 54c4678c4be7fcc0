"""Who works on what next: jobs are taken in the order of turns, under leases, and end in one of their states.

Rows decide, whatever queue carried the job here: a job starts under its cube's lock, only while it waits, and for kinds
that run alone only while no other of its cube and lane does. What a job does is done by handlers in transactions of
their own; this only says when it begins and how it ended.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemic.core.fairness import ends, moves_to, priorities, refilled, until_token
from mnemic.core.retrying import pause
from mnemic.errors import BudgetError, MnemicError
from mnemic.model.job import KINDS, LANES, OPEN, WAITING, Job, JobState, Kind, Share
from mnemic.ports.clock import Clock
from mnemic.ports.jobs import Head, Standing
from mnemic.ports.queue import Ticket
from mnemic.ports.store import Store, Transaction

LEASE: Final = timedelta(seconds=12)
"""A job is taken over by others when its worker was silent for so long."""

OFFER: Final = timedelta(seconds=60)
"""A job whose id was carried to workers, and that none has begun, is offered again after so long."""

_LOOKS: Final = (16, 256)  # heads of a priority in a look, and in another when none of these could be begun
_ADMITTED: Final = 64  # cubes whose due jobs are put in line in one look
_PUT_BACK: Final = timedelta(minutes=1)  # what happened so far ahead, did so before the clock was put back
_PRUNED: Final = 64  # jobs between two prunings
_FOREVER: Final = datetime(9999, 1, 1, tzinfo=UTC)
_SILENT: Final = "its worker fell silent"


@dataclass(frozen=True, slots=True)
class Limits:
    """What holds for a cube that has no limits of its own, and how many jobs stay to be looked at."""

    running: int = 0
    per_minute: int = 0
    kept: int = 200


class Dispatching:
    """Implements `ports.queue.Rows`, and ends what it handed out. Threads may share it."""

    def __init__(self, store: Store, clock: Clock, limits: Limits) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._turns: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)
        self._ended = itertools.count(1)
        self._found: dict[tuple[str, str], bool] = {}  # whether a worker's last look there found work
        self._chance = random.Random()  # noqa: S311 - jitter, not a secret

    def claim(self, worker: str, lane: str, kinds: Collection[str], most: int) -> Sequence[Job]:
        """Take up to so many jobs, in the order of turns; they run from now on, under a lease."""
        if not self._found.get((worker, lane)) and not self._is_due(lane, kinds):  # a look costs writers nothing
            return []
        with self._store.write() as tx:
            tx.enter_all()
            now = self._clock.now()
            self._admit(tx, lane, now)
            found = list(itertools.islice(iter(lambda: self._next(tx, lane, kinds, now, worker), None), most))
        self._found[worker, lane] = bool(found)
        return found

    def offer(self, lane: str, kinds: Collection[str], most: int) -> Sequence[Ticket]:
        """Mark up to so many jobs of these kinds as offered, in the order of turns: their ids go to workers."""
        if not self._is_due(lane, kinds):
            return []
        with self._store.write() as tx:
            tx.enter_all()
            now = self._clock.now()
            self._admit(tx, lane, now)
            offered = list(itertools.islice(iter(lambda: self._next(tx, lane, kinds, now, None), None), most))
            return [Ticket(job.cube_key, job.id, lane, int(job.priority), job.kind) for job in offered]

    def take(self, worker: str, ticket: Ticket) -> Job | None:
        """Take an offered job; None when it must not run now or is done already: its ticket is void."""
        with self._store.write() as tx:
            tx.enter_all()
            standing = tx.turns.wait_for(ticket.cube_key)
            job = None if standing is None else tx.turns.up(ticket.cube_key, ticket.job_id)
            if standing is None or job is None or self._is_held_back(tx, job, standing):
                return None
            now = self._clock.now()
            started = tx.turns.start(job.cube_key, job.id, worker, now, now + LEASE)
            if not job.alone:
                tx.turns.advance(job.cube_key, job.lane, now, [job.kind], anew=False)
            return started

    def recall(self, lanes: Collection[str]) -> int:
        """Take back all that is offered: its tickets were lost."""
        with self._store.write() as tx:
            tx.enter_all()
            return sum(tx.turns.recall(lane, _FOREVER) for lane in lanes)

    def sweep(self) -> None:
        """Put in line what has become due, and what was left, in every lane: some lanes may have no worker.

        What was planned or leased in time to come, was so by a clock that was ahead: it is due then, too.
        """
        now = self._clock.now()
        with self._store.write() as tx:
            tx.enter_all()
            tx.turns.catch_up(now, now + LEASE + _PUT_BACK)
            for lane in LANES:
                self._admit(tx, lane, now)

    def next_due(self, lanes: Collection[str]) -> datetime | None:
        """Return when a job is due that is not yet; None when none is planned."""
        with self._store.read() as tx:
            tx.enter_all()
            found = [tx.turns.next_due(lane) for lane in lanes]
        return min((at for at in found if at is not None), default=None)

    def extend(self, jobs: Collection[Job], worker: str) -> set[str]:
        """Prolong the leases of jobs that this worker runs; return the ids of those that it still holds."""
        with self._store.write() as tx:
            tx.enter(*{job.cube_key for job in jobs})
            return tx.turns.extend(jobs, worker, self._clock.now() + LEASE)

    def end(self, job: Job, worker: str) -> bool:
        """Store how a job ended, and let those behind it step forward; False when another worker has taken it over."""
        with self._store.write() as tx:
            tx.enter(job.cube_key)
            standing = tx.turns.wait_for(job.cube_key)
            now = self._clock.now()
            ended = replace(job, changed_at=now, state=_told(tx, job))
            if standing is None or not tx.turns.end(ended, worker):
                return False
            if job.state is JobState.DONE:  # what stood in the way of others, such as an outage, may be over too
                revive(tx, job, now)
                if next(self._ended) % _PRUNED == 0:
                    tx.jobs.prune(job.cube_key, self._limits.kept)
            advance(tx, job.cube_key, None if self._share(standing).running else job.lane, now)
            return True

    def done(self, job: Job, done: int) -> Job:
        """Return a job that is done in its new state."""
        now = self._clock.now()
        return replace(job, state=JobState.DONE, lease_until=None, finished_at=now, done=done, error=None)

    def put_back(self, job: Job, done: int) -> Job:
        """Return a job that its worker gives back, up for others at once: that counts as no try."""
        now = self._clock.now()
        return replace(
            job, state=JobState.QUEUED, attempts=job.attempts - 1, lease_until=None, not_before=now, done=done
        )

    def failed(self, job: Job, error: Exception, told: str, done: int) -> Job:
        """Return a job that failed in its new state: to be tried again, or dead after its last try.

        A budget that is spent will be there again: that is no failure of the job, and counts as no try.
        """
        now = self._clock.now()
        asked = error.fields.get("retry_after") if isinstance(error, MnemicError) else None
        seconds = pause(job.attempts, self._chance.random(), asked=asked if isinstance(asked, int | float) else 0.0)
        later = now + timedelta(seconds=seconds)
        ended = replace(job, state=JobState.FAILED, lease_until=None, done=done, error=told, not_before=later)
        if isinstance(error, BudgetError):
            return replace(ended, attempts=job.attempts - 1)
        if job.attempts >= tries_of(job.kind):
            return replace(ended, state=JobState.DEAD, finished_at=now)
        return ended

    def _is_due(self, lane: str, kinds: Collection[str]) -> bool:
        with self._store.read() as tx:
            tx.enter_all()
            if any(tx.turns.heads(lane, priority, kinds, 1) for priority in priorities(0)):
                return True
            return bool(tx.turns.due(lane, self._clock.now(), 1))

    def _admit(self, tx: Transaction, lane: str, now: datetime) -> None:
        """Put in line what has become due, and what was left by workers that fell silent."""
        for cube_key in tx.turns.due(lane, now, _ADMITTED):
            standing = tx.turns.lock(cube_key)
            if standing is None:
                continue
            for job in tx.turns.expired(cube_key, lane, now):
                left = _left(job, now)
                tx.jobs.save(replace(left, state=_told(tx, left)))
            tx.turns.recall(lane, now, cube_key=cube_key)
            advance(tx, cube_key, None if self._share(standing).running else lane, now)

    def _next(
        self, tx: Transaction, lane: str, kinds: Collection[str], now: datetime, worker: str | None
    ) -> Job | None:
        """Start the next job for a worker; offer it when none is named."""
        for priority in priorities(next(self._turns[lane])):
            for most in _LOOKS:
                heads = tx.turns.heads(lane, priority, kinds, most)
                found = self._first_of(tx, heads, now, worker)
                if found is not None:
                    return found
                if len(heads) < most:
                    break
        return None

    def _first_of(self, tx: Transaction, heads: Sequence[Head], now: datetime, worker: str | None) -> Job | None:
        """Start the first of these that can be; those of cubes that others have locked are passed over."""
        left = list(heads)
        for _ in range(2 * len(heads)):  # each once, and once more under its true turn
            if not left:
                break
            head = min(left, key=lambda each: each.turn)
            left.remove(head)
            found = self._tried(tx, head, now, worker)
            if isinstance(found, Job):
                return found
            left += [] if found is None else [found]
        return None

    def _tried(self, tx: Transaction, head: Head, now: datetime, worker: str | None) -> Job | Head | None:
        """Start a head; None when it cannot be now, and the head with its true turn when that is a later one."""
        standing = tx.turns.lock(head.cube_key)
        job = None if standing is None else tx.turns.up(head.cube_key, head.job_id)
        if standing is None or job is None:
            return None
        if (turn := tx.turns.turn(job.cube_key, job.lane, job.priority)) > head.turn:
            return replace(head, turn=turn)
        if self._is_held_back(tx, job, standing) or self._must_slow_down(tx, job, standing, now):
            return None
        if worker is None:
            begun = tx.turns.offer(job.cube_key, job.id, now + OFFER)
        else:
            begun = tx.turns.start(job.cube_key, job.id, worker, now, now + LEASE)
        self._charge(tx, standing, job, head.turn, now)
        if not job.alone:
            tx.turns.advance(job.cube_key, job.lane, now, [job.kind], anew=False)
        return begun

    def _is_held_back(self, tx: Transaction, job: Job, standing: Standing) -> bool:
        """Tell whether a job must wait for others of its cube to end; it steps back if so."""
        most = self._share(standing).running
        held = job.alone and any(other.alone for other in tx.turns.running(job.cube_key, job.lane))
        if held or (most and len(tx.turns.running(job.cube_key)) >= most):
            tx.turns.step_back(job.cube_key, job.id)
            return True
        return False

    def _must_slow_down(self, tx: Transaction, job: Job, standing: Standing, now: datetime) -> bool:
        """Tell whether a job must wait for its cube's rate; it steps back until then if so."""
        share = self._share(standing)
        wait = until_token(self._tokens(standing, share, now), share.per_minute) if share.per_minute else 0.0
        if wait > 0:
            tx.turns.step_back(job.cube_key, job.id, until=now + timedelta(seconds=wait))
        return wait > 0

    def _charge(self, tx: Transaction, standing: Standing, job: Job, begun: float, now: datetime) -> None:
        """Count a job that begins at a turn to its cube."""
        share = self._share(standing)
        cost = KINDS[job.kind].cost if job.kind in KINDS else 1.0
        after = ends(begun, cost, share.weight)
        tx.turns.charge(job, after, moves_to(begun, after))
        if share.per_minute:
            left = self._tokens(standing, share, now) - 1
            tx.turns.spend(replace(standing, tokens=left, refilled_at=now))

    def _share(self, standing: Standing) -> Share:
        """Return a cube's limits, those of the settings where it has none of its own."""
        own = standing.share
        return Share(own.weight, own.running or self._limits.running, own.per_minute or self._limits.per_minute)

    def _tokens(self, standing: Standing, share: Share, now: datetime) -> float:
        if standing.refilled_at is None or standing.refilled_at > now + _PUT_BACK:
            return float(share.per_minute)
        return refilled(standing.tokens, (now - standing.refilled_at).total_seconds(), share.per_minute)


def kinds_of(lane: str) -> Sequence[str]:
    """Return the kinds of jobs of a lane."""
    return [kind.name for kind in KINDS.values() if kind.lane == lane]


def tries_of(kind: str) -> int:
    """Return how often a job of a kind is tried before it is dead."""
    return KINDS[kind].tries if kind in KINDS else Kind(kind).tries


def advance(tx: Transaction, cube_key: int, lane: str | None, now: datetime) -> None:
    """Let those of a cube that stand behind step forward, in all lanes when none is named; its lock is held."""
    for each in LANES if lane is None else (lane,):
        tx.turns.advance(cube_key, each, now, kinds_of(each), anew=True)


def revive(tx: Transaction, done: Job, now: datetime) -> None:
    """Give the dead jobs of a cube one more try after another one was done.

    Of those that merge, one does the work of all of a kind: what is done has made up for the dead ones of its kind, and
    of other kinds one is tried when none is on its way. So they do not get more, try after try, while an outage lasts.
    """
    dead = tx.turns.dead(done.cube_key)
    merging = {job.kind for job in dead if not job.merge}
    going = {job.kind for job in tx.jobs.list(done.cube_key, states=OPEN, kinds=merging)} if merging else set()
    for job in dead:
        if job.merge or (job.kind != done.kind and job.kind not in going):
            tx.jobs.save(again(job, now, tries=1))
        elif job.kind == done.kind and not done.merge:
            tx.jobs.save(replace(job, state=JobState.DONE, error=None, finished_at=now, changed_at=now))
        if not job.merge:
            going.add(job.kind)


def again(job: Job, now: datetime, *, tries: int | None = None) -> Job:
    """Return an ended job up for so many more tries, all when no number is given."""
    attempts = 0 if tries is None else max(0, tries_of(job.kind) - tries)
    return replace(
        job,
        state=JobState.FAILED,
        attempts=attempts,
        not_before=now,
        finished_at=None,
        lease_until=None,
        changed_at=now,
    )


def _left(job: Job, now: datetime) -> Job:
    """Return a job whose worker fell silent, for another one to take; dead when that has happened too often."""
    left = replace(job, state=JobState.QUEUED, lease_until=None, not_before=now, changed_at=now, error=_SILENT)
    if job.attempts < tries_of(job.kind):
        return left
    told = f"the process died {job.attempts} times while it ran this job"
    return replace(left, state=JobState.DEAD, finished_at=now, error=told)


def _told(tx: Transaction, job: Job) -> JobState:
    """Return the state that a job is stored in: of those that merge, one of a kind is `queued` at one time."""
    if job.state is not JobState.QUEUED or job.merge:
        return job.state
    others = tx.jobs.list(job.cube_key, states=[JobState.QUEUED], kinds=[job.kind], limit=1)
    return JobState.FAILED if others else JobState.QUEUED


def is_open(job: Job) -> bool:
    """Tell whether a job is still to be done."""
    return job.state in (*WAITING, JobState.RUNNING)
