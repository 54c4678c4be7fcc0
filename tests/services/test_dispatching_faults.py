"""What must not keep a job from its turn: others that wait for their cube, dead workers, newer versions, clocks."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Final, Self

import pytest

from mnemic import wiring
from mnemic.errors import LanguageError
from mnemic.ids import new_id
from mnemic.model import job as kinds
from mnemic.model.job import EMBED, KINDS, ORGANIZE, QUICK, REFINE, SLOW, JobState, Kind, Share, queued
from mnemic.model.scope import Cube
from mnemic.services.dispatching import LEASE, Dispatching, Limits, kinds_of
from mnemic.wiring import clocks
from tests.services.opened import SteppedClock
from tests.services.taking import claim, cubes_of, dispatching, job_of, opened, put, set_share

pytestmark = pytest.mark.usefixtures("engine")

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
NEWER: Final = "digest"
"""A kind of job that a newer version has."""


def test_a_job_is_found_behind_any_number_of_others_that_wait_for_their_cubes(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        rows = dispatching(parts)
        busy = cubes_of(parts, *(f"busy{number}" for number in range(40)))
        for cube in busy:
            put(parts, cube, EMBED)
        running = claim(rows, most=40)
        assert len(running) == 40
        for cube in busy:
            put(parts, cube, ORGANIZE)  # each must wait for the one that runs
        with parts.store.write() as tx:
            tx.enter_all()
            for job in running:  # and all of them go before it
                tx.turns.charge(job, 0.0, 0.0)
        [free] = cubes_of(parts, "free")
        waiting = put(parts, free)
        with parts.store.write() as tx:
            tx.enter_all()
            tx.turns.charge(job_of(parts, free, waiting), 9.0, 0.0)
        assert [job.id for job in claim(rows)] == [waiting]


def test_what_a_limit_held_back_steps_forward_when_the_worker_of_the_other_lane_died(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        rows = dispatching(parts, Limits(running=1))
        [cube] = cubes_of(parts, "ann")
        slow = put(parts, cube, REFINE, attempts=KINDS[REFINE].tries - 1)
        assert [job.id for job in claim(rows, SLOW)] == [slow]
        quick = put(parts, cube)
        assert not claim(rows), "more run at one time than the limit says"
        clock.forward(LEASE)
        assert not claim(rows, SLOW)
        assert job_of(parts, cube, slow).state is JobState.DEAD
        assert [job.id for job in claim(rows)] == [quick], "it waits behind a job that is dead"


def test_what_a_limit_held_back_is_put_in_line_though_nobody_works_on_the_other_lane(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock, jobs_running=1) as parts:
        [cube] = cubes_of(parts, "ann")
        put(parts, cube, REFINE)
        rows = dispatching(parts, Limits(running=1))
        assert claim(rows, SLOW)
        quick = put(parts, cube)
        assert not claim(rows)
        clock.forward(LEASE)
        rows.sweep()
        assert [job.id for job in claim(rows)] == [quick]


@pytest.mark.parametrize("end", ["cancelled", "dead", "left"])
def test_whatever_becomes_of_the_first_of_a_kind_the_next_ones_follow(tmp_path: Path, end: str) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        rows = dispatching(parts)
        [cube] = cubes_of(parts, "ann")
        first, second = put(parts, cube), put(parts, cube)
        if end == "cancelled":
            parts.jobs.cancel(first, user="ann")
        elif end == "dead":
            [job] = claim(rows)
            rows.end(replace(rows.done(job, 0), state=JobState.DEAD), "w")
        else:
            [job] = claim(rows, worker="a process that died")
            clock.forward(LEASE)
            [again] = claim(rows)
            assert again.id == job.id == first, "the order in a cube is lost"
            assert rows.end(rows.done(again, 1), "w")
        assert [job.id for job in claim(rows)] == [second]


def died(parts: wiring.Parts, cube: Cube, kind: str, *, merges: bool = False) -> str:
    """Queue a job, and have it dead."""
    job_id = put(parts, cube, kind, merges=merges)
    with parts.store.write() as tx:
        tx.enter(cube.key)
        tx.jobs.save(replace(job_of(parts, cube, job_id), state=JobState.DEAD))
    return job_id


def test_dead_jobs_of_a_kind_do_not_get_more_tries_the_more_they_are(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        rows = dispatching(parts)
        [cube] = cubes_of(parts, "ann")
        dead = [died(parts, cube, REFINE, merges=True) for _ in range(3)]
        apart = [died(parts, cube, EMBED) for _ in range(2)]

        def alive(*jobs: str) -> list[bool]:
            return [job_of(parts, cube, each).state is not JobState.DEAD for each in jobs]

        def organize() -> None:
            put(parts, cube, merges=True)
            [job] = claim(rows, kinds=[ORGANIZE])
            assert rows.end(rows.done(job, 1), "w")

        organize()
        assert alive(*dead).count(True) == 1, "each does the work of all: one is enough"
        assert alive(*apart) == [True, True], "what does not merge has work of its own"
        organize()
        assert alive(*dead).count(True) == 1, "another one is tried beside the one that is on its way"
        [job] = claim(rows, SLOW)
        assert job.id in dead
        assert rows.end(rows.done(job, 1), "w")
        assert {job_of(parts, cube, each).state for each in dead} == {JobState.DONE}, "they are made up for"
        assert not claim(rows, SLOW)


def test_jobs_of_a_kind_that_a_newer_version_has_are_left_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        rows = dispatching(parts)
        [cube, other] = cubes_of(parts, "ann", "bob")
        with monkeypatch.context() as newer:
            newer.setattr(kinds, "KINDS", {**KINDS, NEWER: Kind(NEWER)})
            now = clock.now()
            with parts.store.write() as tx:
                tx.enter_all()
                at_once, planned, held = (queued(new_id(), key, NEWER, now) for key in (cube.key, cube.key, other.key))
                tx.jobs.put(at_once)
                tx.jobs.put(replace(planned, merge=planned.id, not_before=now + HOUR))
                tx.jobs.put(held)
                tx.turns.wait_for(other.key)
                tx.turns.start(other.key, held.id, "a worker of a newer version", now, now + LEASE)
        clock.forward(2 * HOUR)
        mine = [put(parts, cube), put(parts, other)]
        for job_id in mine:
            [job] = claim(rows)
            assert job.id == job_id, "a job of an unknown kind stands in the way, or was begun"
            assert rows.end(rows.done(job, 1), "w")
        assert not claim(rows)
        due = rows.next_due([QUICK])
        assert due is None or due > clock.now(), "who waits for work would look without a pause"
        left = job_of(parts, other, held.id)
        assert (left.state, left.attempts) == (JobState.QUEUED, 1), "a job that a newer version does was ended"
        with monkeypatch.context() as newer:
            newer.setattr("mnemic.services.dispatching.KINDS", {**KINDS, NEWER: Kind(NEWER)})
            newer.setattr("mnemic.backends.sql.turns.KINDS", {**KINDS, NEWER: Kind(NEWER)}, raising=False)
            ran = set()
            for _ in range(4):
                for job in claim(dispatching(parts), kinds=[NEWER]):
                    ran.add(job.id)
                    assert rows.end(rows.done(job, 1), "w")
        assert ran == {at_once.id, planned.id, held.id}


def test_a_clock_that_is_put_back_does_not_keep_a_cube_from_its_rate(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        rows = dispatching(parts)
        [cube] = cubes_of(parts, "ann")
        set_share(parts, cube, Share(per_minute=2))
        for _ in range(2):
            put(parts, cube, alone=False)
        assert run(rows, 6) == 2
        clock.forward(-HOUR)
        for _ in range(4):
            put(parts, cube, alone=False)
        began = []
        for _ in range(4):
            began.append(run(rows, 6))
            clock.forward(30 * SECOND)
        assert began == [2, 1, 1, 0], "it waits until the clock is where it was"


def test_what_was_planned_or_left_before_the_clock_was_put_back_is_done_when_the_store_is_looked_over(
    tmp_path: Path,
) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock, schedule_upkeep="*/15 * * * *") as parts:
        rows = dispatching(parts)
        ann, bob, cid, dan = cubes_of(parts, "ann", "bob", "cid", "dan")
        parts.periodic.run_due()
        clock.forward(16 * MINUTE)
        assert parts.periodic.run_due()
        failing = put(parts, ann)
        [job] = claim(rows)
        rows.end(rows.failed(job, RuntimeError("no"), "no", 0), "w")
        left = put(parts, bob)
        assert claim(rows, worker="a process that died")
        lost = put(parts, cid)
        assert rows.offer(QUICK, kinds_of(QUICK), 1)
        planned = put(parts, dan, not_before=clock.now() + 5 * HOUR)
        clock.forward(-3 * HOUR)
        assert not claim(rows)
        parts.periodic.run_due()
        clock.forward(16 * MINUTE)
        assert parts.periodic.run_due()
        found = claim(rows, most=9)
        assert {job.id for job in found} == {failing, left, lost, planned}
        assert not claim(rows, most=9)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)  # machines that share a server have its clock
def test_a_process_from_before_the_clock_was_put_back_takes_nothing_from_a_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Machine(datetime):
        late = HOUR

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(datetime.now(tz).timestamp() + cls.late.total_seconds(), tz)

    monkeypatch.setattr(clocks, "datetime", Machine)
    with opened(tmp_path, None) as older:
        older.remember.add("I live in Porto.", user="ann")
        assert older.worker.run_once()
        Machine.late = timedelta(0)
        with opened(tmp_path, None) as newer:
            added = newer.remember.add("I like tea.", user="ann")
            assert claim(Dispatching(newer.store, clocks.WallClock(), Limits()))
            assert not older.worker.run_once(), "a job that another process does is taken over"
            [job] = [job for job in newer.jobs.list(user="ann") if job.id == added.job]
            assert (job.state, job.attempts) == (JobState.RUNNING, 1)


def run(rows: Dispatching, most: int) -> int:
    """Do up to so many jobs at one moment; return how many began."""
    found = claim(rows, most=most)
    assert all(rows.end(rows.done(job, 1), "w") for job in found)
    return len(found)


@pytest.mark.parametrize("asked", [1e15, float("inf"), float("nan"), -1.0, "soon", None, True])
def test_whatever_a_server_asks_for_a_job_that_failed_is_tried_again_within_a_day(
    tmp_path: Path, asked: object
) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        rows = dispatching(parts)
        [cube] = cubes_of(parts, "ann")
        put(parts, cube)
        [job] = claim(rows)
        failed = rows.failed(job, LanguageError("wait", passing=True, retry_after=asked, status=429), "wait", 0)
        assert rows.end(failed, "w")
        assert SECOND <= failed.not_before - clock.now() <= timedelta(days=1)
        clock.forward(timedelta(days=1))
        assert [again.id for again in claim(rows)] == [job.id]


def test_one_cube_with_very_many_that_have_become_due_does_not_hide_the_others(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        rows = dispatching(parts)
        hog, small = cubes_of(parts, "hog", "small")
        with parts.store.write() as tx:
            tx.enter_all()
            for _ in range(1_500):
                job = queued(new_id(), hog.key, ORGANIZE, clock.now(), not_before=clock.now() + SECOND)
                tx.jobs.put(replace(job, merge=job.id, alone=False))
            job = queued(new_id(), small.key, ORGANIZE, clock.now(), not_before=clock.now() + 2 * SECOND)
            tx.jobs.put(job)
        clock.forward(HOUR)
        taken = [job.cube_key for _ in range(3) for job in claim(rows)]
        assert small.key in taken, "a single job waits for very many of another"
