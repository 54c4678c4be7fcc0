"""Whose turn it is: sharing between cubes and priorities, order inside a cube, limits, and what runs twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic import wiring
from mnemic.config import Settings
from mnemic.ids import new_id
from mnemic.model.job import EMBED, ORGANIZE, QUICK, RETEXT, Job, JobState, Priority, Share, queued
from mnemic.model.scope import Cube, CubeKind
from mnemic.ports.queue import Ticket
from mnemic.services.dispatching import LEASE, OFFER, Dispatching, Limits, kinds_of
from tests.databases import address_of
from tests.services.opened import SteppedClock

pytestmark = pytest.mark.usefixtures("engine")


@contextmanager
def opened(folder: Path, clock: SteppedClock) -> Iterator[wiring.Parts]:
    settings = Settings(home=str(folder), database_url=address_of(folder), embedder="hashing", worker=False)
    parts = wiring.build(settings, clock=clock)
    try:
        yield parts
    finally:
        parts.close()


def dispatching(parts: wiring.Parts, limits: Limits | None = None) -> Dispatching:
    return Dispatching(parts.store, parts.clock, limits or Limits())


def cubes_of(parts: wiring.Parts, *owners: str) -> list[Cube]:
    with parts.store.write() as tx:
        tx.enter_all()
        return [tx.cubes.create(new_id(), "personal", CubeKind.PERSONAL, owner, parts.clock.now()) for owner in owners]


def put(parts: wiring.Parts, cube: Cube, count: int = 1, *, alone: bool = False, **changed: object) -> list[str]:
    """Queue jobs that do not merge."""
    found = []
    with parts.store.write() as tx:
        tx.enter(cube.key)
        for _ in range(count):
            job = queued(new_id(), cube.key, ORGANIZE, parts.clock.now())
            found.append(tx.jobs.put(replace(job, merge=job.id, alone=alone, **changed)))  # type: ignore[arg-type]
    return found


def claim(rows: Dispatching, most: int = 1, worker: str = "w") -> Sequence[Job]:
    return rows.claim(worker, QUICK, kinds_of(QUICK), most)


def run(rows: Dispatching, count: int) -> list[int]:
    """Run jobs one after the other; return the cubes that they were of."""
    order = []
    for _ in range(count):
        for job in claim(rows):
            order.append(job.cube_key)
            assert rows.end(rows.done(job, 1), "w")
    return order


def test_a_single_job_goes_before_the_rest_of_a_cube_that_has_very_many(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        rows = dispatching(parts)
        hog, small = cubes_of(parts, "hog", "small")
        put(parts, hog, 500)
        running = claim(rows, 4)
        assert [job.cube_key for job in running] == [hog.key] * 4, "nobody else has work: the hog may have all workers"
        put(parts, small)
        assert run(rows, 1) == [small.key], "a job waits for more than those that run already"
        assert run(rows, 3) == [hog.key] * 3


def test_cubes_share_by_weight_and_one_that_was_idle_claims_nothing_back(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        rows = dispatching(parts)
        early, late, heavy = cubes_of(parts, "early", "late", "heavy")
        put(parts, early, 100)
        assert run(rows, 40) == [early.key] * 40
        put(parts, late, 100)
        with parts.store.write() as tx:
            tx.enter(heavy.key)
            tx.turns.set_share(heavy.key, Share(weight=2.0))
        put(parts, heavy, 100)
        shares = Counter(run(rows, 40))
        assert shares == {early.key: 10, late.key: 10, heavy.key: 20}


def test_jobs_of_a_cube_that_run_alone_come_one_at_a_time_and_in_order_and_other_cubes_beside(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        rows = dispatching(parts)
        one, other = cubes_of(parts, "one", "other")
        mine = put(parts, one, 5, alone=True)
        put(parts, other, 1, alone=True)
        seen = []
        for _ in range(5):
            found = claim(rows, 9)
            assert Counter(job.cube_key for job in found).most_common(1)[0][1] == 1, "two jobs of a cube run at once"
            seen += [job.id for job in found if job.cube_key == one.key]
            for job in found:
                assert rows.end(rows.done(job, 1), "w")
        assert seen == mine


def test_priorities_have_their_shares_and_none_starves(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        rows = dispatching(parts)
        for owner, priority in zip("abc", Priority, strict=True):
            [cube] = cubes_of(parts, owner)
            put(parts, cube, 60, priority=priority)
        urgency: Counter[Priority] = Counter()
        for _ in range(42):
            for job in claim(rows):
                urgency[job.priority] += 1
                rows.end(rows.done(job, 1), "w")
        assert urgency == {Priority.INTERACTIVE: 32, Priority.NORMAL: 8, Priority.BACKGROUND: 2}


def test_a_cube_keeps_to_its_limits_and_others_do_not_wait_for_it(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        rows = dispatching(parts, Limits(running=2))
        limited, slow, free = cubes_of(parts, "limited", "slow", "free")
        with parts.store.write() as tx:
            tx.enter(slow.key)
            tx.turns.set_share(slow.key, Share(running=50, per_minute=3))
        for cube in (limited, slow, free):
            put(parts, cube, 10)
        first = claim(rows, 30)
        assert Counter(job.cube_key for job in first) == {limited.key: 2, slow.key: 3, free.key: 2}
        assert not claim(rows, 30), "a limit is passed"
        ended = next(job for job in first if job.cube_key == limited.key)
        rows.end(rows.done(ended, 1), "w")
        more = claim(rows, 30)
        assert [job.cube_key for job in more] == [limited.key], "what was held back does not step forward"
        clock.forward(timedelta(seconds=21))
        rows.extend([*first, *more], "w")
        assert [job.cube_key for job in claim(rows, 30)] == [slow.key], "the rate gives one in 20 s"


def test_a_job_left_by_a_silent_worker_is_taken_over_once_and_its_first_worker_can_say_no_more(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        rows = dispatching(parts)
        [cube] = cubes_of(parts, "ann")
        put(parts, cube)
        [job] = claim(rows, worker="first")
        clock.forward(LEASE)
        [again] = claim(rows, worker="second")
        assert (again.id, again.attempts) == (job.id, 2)
        assert not claim(rows, worker="third")
        assert not rows.end(rows.done(job, 1), "first")
        assert rows.extend([job], "first") == set()
        assert rows.end(rows.done(again, 1), "second")
        assert not rows.end(rows.done(again, 1), "second"), "a job ends twice"


def test_what_is_put_back_is_up_at_once_and_counts_as_no_try(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        rows = dispatching(parts)
        [cube] = cubes_of(parts, "ann")
        with parts.store.write() as tx:
            tx.enter(cube.key)
            first = tx.jobs.put(queued(new_id(), cube.key, ORGANIZE, parts.clock.now()))
        [job] = claim(rows)
        with parts.store.write() as tx:
            tx.enter(cube.key)
            second = tx.jobs.put(queued(new_id(), cube.key, ORGANIZE, parts.clock.now()))
        assert second != first
        assert rows.end(rows.put_back(job, 3), "w")
        taken = {each.id: each for _ in range(2) for each in claim(rows) if rows.end(rows.done(each, 1), "w")}
        assert set(taken) == {first, second}
        assert taken[first].attempts == 1


def test_an_offer_is_taken_once_and_made_again_when_it_was_lost(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        rows = dispatching(parts)
        [cube] = cubes_of(parts, "ann")
        [first, second] = put(parts, cube, 2)
        offered = rows.offer(QUICK, kinds_of(QUICK), 10)
        assert offered == [Ticket(cube.key, each, QUICK, int(Priority.NORMAL), ORGANIZE) for each in (first, second)], (
            "in order"
        )
        assert not rows.offer(QUICK, kinds_of(QUICK), 10)
        clock.forward(OFFER)
        assert rows.offer(QUICK, kinds_of(QUICK), 10) == offered, "an offer that nobody took is lost"
        taken = rows.take("w", offered[0])
        assert taken is not None
        assert rows.take("v", offered[0]) is None, "a ticket is good twice"
        assert not rows.offer(QUICK, kinds_of(QUICK), 10)
        assert rows.recall([QUICK]) == 1
        assert [ticket.job_id for ticket in rows.offer(QUICK, kinds_of(QUICK), 10)] == [second]
        assert rows.end(rows.done(taken, 1), "w")
        assert rows.take("v", offered[0]) is None, "a ticket of what is done is good"


def test_an_offered_job_that_must_run_alone_waits_for_its_cube(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        rows = dispatching(parts)
        [cube] = cubes_of(parts, "ann")
        now = parts.clock.now()
        with parts.store.write() as tx:
            tx.enter(cube.key)
            for kind in (ORGANIZE, EMBED):
                tx.jobs.put(queued(new_id(), cube.key, kind, now))
        tickets = rows.offer(QUICK, kinds_of(QUICK), 10)
        assert len(tickets) == 2
        first = rows.take("w", tickets[0])
        assert first is not None
        assert rows.take("v", tickets[1]) is None, "two jobs of a cube that run alone run at once"
        assert not rows.offer(QUICK, kinds_of(QUICK), 10)
        rows.end(rows.done(first, 1), "w")
        assert [ticket.job_id for ticket in rows.offer(QUICK, kinds_of(QUICK), 10)] == [tickets[1].job_id]


def test_background_work_is_told_from_other_work(tmp_path: Path) -> None:
    job = queued(new_id(), 1, RETEXT, SteppedClock().now())
    assert (job.priority, job.lane, job.state) == (Priority.BACKGROUND, QUICK, JobState.QUEUED)
