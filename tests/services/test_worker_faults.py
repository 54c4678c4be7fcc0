"""The worker when things happen beside it: forgetting, deleting, closing, losing a job, and what wakes whom."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory, wiring
from mnemic.errors import NotFoundError, StoreError
from mnemic.model.job import EMBED, LANES, ORGANIZE, QUICK, REFINE, SLOW, Job, JobState
from mnemic.ports.queue import Queue
from mnemic.runtime import worker as room
from mnemic.runtime.worker import Handler, Tick, Worker, Workplace
from mnemic.services.dispatching import LEASE
from mnemic.services.queueing import enqueue
from mnemic.tracing import tracing
from tests.services.opened import SteppedClock, bytes_of
from tests.services.taking import claim, cubes_of, dispatching, job_of, opened, put

pytestmark = pytest.mark.usefixtures("engine")

PATIENCE = 60


def worker(parts: wiring.Parts, *, queue: Queue | None = None, **handlers: Handler) -> Worker:
    place = Workplace(parts.store, queue or parts.queue, dispatching(parts))
    return Worker(place, handlers, idle=lambda: None)


class Heard:
    """A queue that notes which lanes were announced."""

    def __init__(self, inner: Queue) -> None:
        self._inner = inner
        self.lanes: set[str] = set()
        self.settled: list[str] = []

    def announce(self, lanes: Collection[str]) -> None:
        self.lanes |= set(lanes)
        self._inner.announce(lanes)

    def take(self, worker: str, lane: str, kinds: Collection[str], *, most: int, wait: float) -> Sequence[Job]:
        return self._inner.take(worker, lane, kinds, most=most, wait=wait)

    def settle(self, job: Job) -> None:
        self.settled.append(job.id)
        self._inner.settle(job)

    def interrupt(self) -> None:
        self._inner.interrupt()

    def check(self) -> Sequence[tuple[str, bool, str]]:
        return self._inner.check()

    def close(self) -> None:
        self._inner.close()


def test_what_a_job_queues_in_another_lane_wakes_those_who_wait_there(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        [cube] = cubes_of(parts, "ann")
        put(parts, cube)
        heard = Heard(parts.queue)

        def handle(_job: Job, _tick: Tick) -> None:
            put(parts, cube, REFINE)

        assert worker(parts, queue=heard, organize=handle).run_once()
        assert heard.lanes == set(LANES), "the work waits until somebody happens to look"


def test_a_job_that_another_thread_has_taken_over_is_not_ended_by_the_first(tmp_path: Path) -> None:
    clock = SteppedClock()
    taken, may_end = threading.Event(), threading.Event()

    def handle(job: Job, _tick: Tick) -> None:
        if job.attempts == 1:  # this machine slept for a while
            clock.forward(LEASE)
            heirs.append(pool.submit(at_work.run_once))
            assert taken.wait(PATIENCE)
            return
        taken.set()
        assert may_end.wait(PATIENCE)
        raise RuntimeError("the second one failed")

    with opened(tmp_path, clock) as parts, ThreadPoolExecutor(1) as pool:
        heirs: list[Future[bool]] = []
        [cube] = cubes_of(parts, "ann")
        job_id = put(parts, cube)
        at_work = worker(parts, organize=handle)
        try:
            assert at_work.run_once()
            job = job_of(parts, cube, job_id)
            assert (job.state, job.attempts) == (JobState.RUNNING, 2), "the first one ended what it had lost"
        finally:
            may_end.set()
        assert heirs[0].result(PATIENCE)
        assert job_of(parts, cube, job_id).state is JobState.FAILED


def test_what_is_taken_while_the_worker_closes_is_not_begun_and_goes_back(tmp_path: Path) -> None:
    ran: list[str] = []

    class Late(Heard):
        def take(self, worker: str, lane: str, kinds: Collection[str], *, most: int, wait: float) -> Sequence[Job]:
            found = super().take(worker, lane, kinds, most=most, wait=0)
            if found:
                closing.append(pool.submit(at_work.close))
                assert stopping.wait(PATIENCE)
            return found

        def interrupt(self) -> None:
            stopping.set()
            super().interrupt()

    with opened(tmp_path, SteppedClock()) as parts, ThreadPoolExecutor(1) as pool:
        closing: list[Future[None]] = []
        stopping = threading.Event()
        [cube] = cubes_of(parts, "ann")
        job_id = put(parts, cube)
        at_work = worker(parts, queue=Late(parts.queue), organize=lambda job, _tick: ran.append(job.id))
        at_work.wake()
        for _ in range(PATIENCE * 10):
            if closing:
                break
            threading.Event().wait(0.1)
        closing[0].result(PATIENCE)
        job = job_of(parts, cube, job_id)
        assert not ran
        assert (job.state, job.attempts) == (JobState.QUEUED, 0)
        assert [again.id for again in claim(dispatching(parts))] == [job_id]


def test_closing_does_not_wait_for_one_that_went_to_wait_for_work_at_that_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_LOOK", PATIENCE)

    class Between(Heard):
        """Holds those who are about to wait until the worker closes and has woken all who waited."""

        def take(self, worker: str, lane: str, kinds: Collection[str], *, most: int, wait: float) -> Sequence[Job]:
            arrived.set()
            assert interrupted.wait(PATIENCE)
            return super().take(worker, lane, kinds, most=most, wait=wait)

        def interrupt(self) -> None:
            super().interrupt()
            interrupted.set()

    with opened(tmp_path, SteppedClock()) as parts, ThreadPoolExecutor(1) as pool:
        arrived, interrupted = threading.Event(), threading.Event()
        at_work = worker(parts, queue=Between(parts.queue), organize=lambda _job, _tick: None)
        at_work.wake()
        assert arrived.wait(PATIENCE)
        pool.submit(at_work.close).result(PATIENCE / 4)


def test_a_job_whose_cube_is_deleted_while_it_runs_leaves_nothing_behind(tmp_path: Path) -> None:
    def handle(job: Job, tick: Tick) -> None:
        parts.forget.delete_cube(cube.id, user="ann")
        inner(job, tick)

    with opened(tmp_path, SteppedClock()) as parts:
        inner = parts.worker._handlers[ORGANIZE]
        cube = parts.cubes.create("garden", user="ann")
        parts.remember.add(["I live in Porto.", "I like persimmons."], user="ann", cube=cube.id)
        heard = Heard(parts.queue)
        assert worker(parts, queue=heard, organize=handle).run_once()
        assert heard.settled == []
        assert not parts.worker.run_once()
        with pytest.raises(NotFoundError):
            parts.jobs.list(user="ann", cube=cube.id)
        assert all(
            well for name, well, _ in parts.store.check() if name != "durability"
        )  # the server of tests has none
    assert b"persimmon" not in bytes_of(tmp_path)


def test_forgetting_everything_while_a_job_runs_leaves_no_word_not_even_in_its_failure(tmp_path: Path) -> None:
    def handle(_job: Job, _tick: Tick) -> None:
        parts.forget.forget(user="ann", everything=True)
        raise RuntimeError("cannot read 'I like persimmons.'")

    with opened(tmp_path, SteppedClock()) as parts:
        added = parts.remember.add("I like persimmons.", user="ann")
        assert worker(parts, organize=handle).run_once()
        [job] = [job for job in parts.jobs.list(user="ann") if job.id == added.job]
        assert job.state is JobState.FAILED
        assert job.error is not None
        assert "persimmon" not in job.error
    assert b"persimmon" not in bytes_of(tmp_path)


def test_who_waits_in_a_memory_that_is_closed_is_told_so(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts, ThreadPoolExecutor(2) as pool:
        added = parts.remember.add("I like tea.", user="ann")
        assert claim(dispatching(parts), worker="another process")
        begun: list[Future[Any]] = [
            pool.submit(parts.waiting.wait, None, added.job, user="ann", timeout=PATIENCE),
            pool.submit(lambda: list(parts.waiting.events(user="ann", cube=None, since=None, timeout=PATIENCE))),
        ]
        threading.Event().wait(0.3)
        parts.close()
        for each in begun:
            with pytest.raises(StoreError, match="closed"):
                each.result(PATIENCE / 2)


def test_what_a_job_causes_names_it_and_the_call_that_both_go_back_to(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        with tracing("call-1"):
            added = parts.remember.add("I like tea.", user="ann")
        cube = parts.cubes.list(user="ann")[0]
        caused = []

        def handle(job: Job, _tick: Tick) -> None:
            assert job.trace == "call-1"
            with parts.store.write() as tx:
                tx.enter_all()
                caused.append(enqueue(tx, cube.key, REFINE, parts.clock.now()))
                caused.append(enqueue(tx, other.key, EMBED, parts.clock.now()))

        [other] = cubes_of(parts, "bob")
        assert worker(parts, organize=handle).run_once()
        refine, foreign = (job_of(parts, where, each) for where, each in zip((cube, other), caused, strict=True))
        assert (refine.parent, refine.trace) == (added.job, "call-1")
        assert foreign.parent is None, "a job of another's cube is told as the cause"


def test_a_worker_of_some_kinds_leaves_the_others_and_has_no_threads_for_lanes_without_any(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        [cube] = cubes_of(parts, "ann")
        organize, embed = put(parts, cube, ORGANIZE), put(parts, cube, EMBED)
        place = Workplace(parts.store, parts.queue, dispatching(parts))
        handlers: dict[str, Handler] = dict.fromkeys((ORGANIZE, EMBED, REFINE), lambda _job, _tick: None)
        picky = Worker(place, handlers, idle=lambda: None, kinds=[EMBED])
        assert picky.kinds == {EMBED}
        assert picky.run_once()
        assert not picky.run_once()
        assert (job_of(parts, cube, organize).state, job_of(parts, cube, embed).state) == (
            JobState.QUEUED,
            JobState.DONE,
        )
        before = {thread.name for thread in threading.enumerate()}
        picky.wake()
        assert {f"mnemic-worker-{lane}-0" in {t.name for t in threading.enumerate()} - before for lane in LANES} == {
            True,
            False,
        }
        picky.close()


def test_a_lease_is_kept_while_the_store_is_away_for_a_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "BEAT", timedelta(milliseconds=5))
    clock = SteppedClock()
    away, back = threading.Event(), threading.Event()

    def handle(job: Job, tick: Tick) -> None:
        assert away.wait(PATIENCE)
        clock.forward(LEASE / 2)
        for _ in range(PATIENCE * 100):
            tick(1)
            lease = job_of(parts, cube, job.id).lease_until
            if lease is not None and lease > clock.now() + LEASE / 2:
                back.set()
                return
            threading.Event().wait(0.01)
        raise AssertionError("nobody keeps the lease any more")

    with opened(tmp_path, clock) as parts:
        [cube] = cubes_of(parts, "ann")
        job_id = put(parts, cube)
        rows = dispatching(parts)
        extend = rows.extend

        def flaky(jobs: Collection[Job], name: str) -> set[str]:
            if not away.is_set():
                away.set()
                raise StoreError("the server is restarted")
            return extend(jobs, name)

        monkeypatch.setattr(rows, "extend", flaky)
        assert Worker(Workplace(parts.store, parts.queue, rows), {ORGANIZE: handle}, idle=lambda: None).run_once()
        assert back.is_set()
        assert job_of(parts, cube, job_id).state is JobState.DONE


def test_two_memories_over_one_store_do_each_job_once(tmp_path: Path) -> None:
    ran: list[str] = []
    lock = threading.Lock()

    def handle(job: Job, tick: Tick) -> None:
        tick(1)
        with lock:
            ran.append(job.id)

    with opened(tmp_path, SteppedClock()) as one, opened(tmp_path, SteppedClock()) as other:
        cubes = cubes_of(one, *"abcdefgh")
        queued = [put(one, cube) for cube in cubes for _ in range(5)]
        workers = []
        for parts in (one, other):
            place = Workplace(parts.store, parts.queue, dispatching(parts))
            workers.append(Worker(place, {ORGANIZE: handle}, idle=lambda: None, threads=2))
        for each in workers:
            each.wake()
        done = threading.Event()
        for _ in range(PATIENCE * 20):
            if len(ran) >= len(queued):
                break
            done.wait(0.05)
        for each in workers:
            each.close()
        assert sorted(ran) == sorted(queued)
        assert not claim(dispatching(one), QUICK)
        assert not claim(dispatching(one), SLOW)


def test_a_memory_that_is_closed_twice_or_never_woken_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with opened(tmp_path, SteppedClock()) as parts:
        parts.worker.close()
        parts.worker.wake()
    memory = Memory(tmp_path / "other", settings={"embedder": "hashing"})
    memory.add("I like tea.", user="ann", wait=True)
    memory.close()
    assert [thread.name for thread in set(threading.enumerate()) - before if thread.name.startswith("mnemic-")] == []


def test_deleting_a_cube_waits_for_a_worker_that_is_about_to_begin_a_job_of_it(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts, ThreadPoolExecutor(1) as pool:
        cube = parts.cubes.create("garden", user="ann")
        job_id = put(parts, cube)
        now = parts.clock.now()
        with parts.store.write() as tx:
            tx.enter_all()
            assert tx.turns.lock(cube.key) is not None
            deleting = pool.submit(parts.forget.delete_cube, cube.id, user="ann")
            threading.Event().wait(0.3)
            assert tx.turns.start(cube.key, job_id, "w", now, now + LEASE).state is JobState.RUNNING
        assert deleting.result(PATIENCE).removed["cube"] == 1
        assert not parts.cubes.list(user="ann")


def test_a_task_has_the_work_that_merged_with_what_another_one_had_queued(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        refines = []

        def handle(job: Job, _tick: Tick) -> None:
            with parts.store.write() as tx:
                tx.enter_all()
                refines.append(enqueue(tx, job.cube_key, REFINE, parts.clock.now()))

        at_work = worker(parts, organize=handle)
        for name in ("first", "second"):
            parts.remember.add(f"I like tea number {name}.", user="ann", task=name)
            assert at_work.run_once()
        assert refines[0] == refines[1]
        for name in ("first", "second"):
            told = parts.jobs.task(name, user="ann")
            assert {job.kind for job in told.jobs} == {ORGANIZE, REFINE}, f"the work of task {name} is not all there"
            assert told.state is JobState.QUEUED
        assert worker(parts, refine=lambda _job, _tick: None).run_once()
        assert {parts.jobs.task(name, user="ann").state for name in ("first", "second")} == {JobState.DONE}
