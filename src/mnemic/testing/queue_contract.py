"""What every `mnemic.ports.queue.Queue` must do, as plain functions that raise AssertionError.

An outside backend runs `for check in CHECKS: check(open_side)` in its own tests, where `open_side(clock)` opens one
place, empty at first, again and again, as several processes would: a store, its rows and the queue over them. Counts
are checked, not times; what is to happen has `PATIENCE` seconds, what must not has `MOMENT`.
"""
# ruff: noqa: D401, S101 - a contract is made of asserts, and each docstring says what holds

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemic.errors import StoreError
from mnemic.ids import new_id
from mnemic.model.job import EMBED, ORGANIZE, QUICK, REFINE, SLOW, Job, JobState, Priority, Share, queued
from mnemic.model.scope import CubeKind
from mnemic.ports.clock import Clock
from mnemic.ports.queue import Queue
from mnemic.ports.store import Store
from mnemic.services.dispatching import LEASE, Dispatching

NOON: Final = datetime(2024, 5, 1, 12, tzinfo=UTC)
PATIENCE: Final = 60.0  # seconds
MOMENT: Final = 0.3  # seconds
KINDS: Final = (ORGANIZE, EMBED)


class SteppedClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self._now = NOON

    def now(self) -> datetime:
        """Return the moment at which it stands."""
        return self._now

    def step(self, by: timedelta) -> None:
        """Move it."""
        self._now += by


@dataclass(frozen=True, slots=True)
class Side:
    """What one process has open."""

    store: Store
    rows: Dispatching
    queue: Queue

    def close(self) -> None:
        """Close it as a process that ends."""
        self.queue.close()
        self.store.close()

    def cube(self, name: str = "personal") -> int:
        """Create a cube; return its key."""
        with self.store.write() as tx:
            tx.enter_all()
            return tx.cubes.create(new_id(), name, CubeKind.PERSONAL, new_id(), NOON).key

    def put(self, *jobs: Job) -> list[str]:
        """Queue jobs in one transaction and announce them; return their ids."""
        with self.store.write() as tx:
            tx.enter_all()
            ids = [tx.jobs.put(job) for job in jobs]
        self.queue.announce({job.lane for job in jobs})
        return ids

    def take(self, worker: str = "w", *, kinds: Collection[str] = KINDS, lane: str = QUICK) -> Job:
        """Take a job that must come."""
        until = time.monotonic() + PATIENCE
        while not (jobs := self.queue.take(worker, lane, kinds, most=1, wait=1.0)):
            assert time.monotonic() < until, "a job that waits is not handed out"
        assert len(jobs) == 1, "more was handed out than was asked for"
        return jobs[0]

    def nothing(self, worker: str = "w", *, kinds: Collection[str] = KINDS, lane: str = QUICK) -> None:
        """See that no job comes."""
        jobs = self.queue.take(worker, lane, kinds, most=1, wait=MOMENT)
        assert not jobs, f"handed out, and must not be: {jobs}"

    def end(self, job: Job, worker: str = "w", *, error: Exception | None = None) -> bool:
        """End a job as done, or failed; tell whether it was still this worker's."""
        ended = self.rows.done(job, 1) if error is None else self.rows.failed(job, error, f"told: {error}", 0)
        mine = self.rows.end(ended, worker)
        if mine:
            self.queue.settle(ended)
            self.queue.announce([job.lane])
        return mine


OpenSide = Callable[[Clock], Side]
"""Opens the place under test; each call as another process would."""


def job_of(cube_key: int, kind: str = ORGANIZE, *, now: datetime = NOON, **changed: object) -> Job:
    """Return a queued job that merges with no other."""
    job_id = new_id()
    return replace(queued(job_id, cube_key, kind, now), merge=job_id, **changed)  # type: ignore[arg-type]  # of a job


@contextmanager
def _working(
    sides: Sequence[Side], names: Sequence[str], done: Callable[[Job, str], None]
) -> Iterator[list[Future[None]]]:
    """Have workers take and end jobs, shared out over the sides, until the block ends."""
    over = threading.Event()

    def work(side: Side, name: str) -> None:
        while not over.is_set():
            for job in side.queue.take(name, QUICK, KINDS, most=1, wait=1.0):
                done(job, name)
                assert side.end(job, name), "a worker lost a job that it held"

    with ThreadPoolExecutor(len(names)) as pool:
        futures = [pool.submit(work, sides[at % len(sides)], name) for at, name in enumerate(names)]
        try:
            yield futures
        finally:
            over.set()
            for side in sides:
                side.queue.interrupt()
            for future in futures:
                future.result(PATIENCE)


def _until(holds: Callable[[], bool], futures: Sequence[Future[None]] = ()) -> None:
    deadline, pause = time.monotonic() + PATIENCE, threading.Event()
    while not holds():
        assert not any(future.done() for future in futures), "a worker has ended"
        assert time.monotonic() < deadline, "waited in vain"
        pause.wait(0.01)


def check_each_job_is_handed_out_once(open_side: OpenSide) -> None:
    """What was committed is handed out, to one worker at a time, and not again when it has ended."""
    with closing(open_side(SteppedClock())) as side:
        ids = side.put(*(job_of(side.cube(f"c{number}")) for number in range(6)))
        taken = [side.take(f"w{number}") for number in range(6)]
        assert sorted(job.id for job in taken) == sorted(ids)
        assert {(job.state, job.attempts) for job in taken} == {(JobState.RUNNING, 1)}
        side.nothing("other")
        for number, job in enumerate(taken):
            assert side.end(job, f"w{number}")
        side.nothing("other")
    with closing(open_side(SteppedClock())) as after:
        after.nothing()


def check_a_rolled_back_job_is_not_handed_out(open_side: OpenSide) -> None:
    """A job exists when the transaction that queued it is committed, and not when it is not."""
    with closing(open_side(SteppedClock())) as side:
        cube = side.cube()
        try:
            with side.store.write() as tx:
                tx.enter_all()
                tx.jobs.put(job_of(cube))
                raise StoreError("no room")  # noqa: TRY301 - the block is what fails
        except StoreError:
            side.queue.announce([QUICK])
        side.nothing()


def check_again_when_a_lease_is_over(open_side: OpenSide) -> None:
    """A job whose worker fell silent is handed to another; the first can neither end nor keep it."""
    clock = SteppedClock()
    with closing(open_side(clock)) as side, closing(open_side(clock)) as other:
        [job_id] = side.put(job_of(side.cube()))
        first = side.take("silent")
        other.nothing("second")
        clock.step(LEASE + timedelta(seconds=1))
        second = other.take("second")
        assert (second.id, second.attempts, second.worker) == (job_id, 2, "second")
        assert not side.end(first, "silent"), "a worker ended what it had lost"
        assert other.end(second, "second")
        other.nothing("second")
        side.nothing("silent")


def check_what_a_closed_queue_held_goes_on(open_side: OpenSide) -> None:
    """Closing lets go: nothing is taken any more, and others take over what was not ended."""
    clock = SteppedClock()
    with closing(open_side(clock)) as other:
        side = open_side(clock)
        side.put(*(job_of(side.cube(f"c{number}")) for number in range(3)))
        first = side.take("gone")
        side.queue.close()
        assert not side.queue.take("gone", QUICK, KINDS, most=1, wait=PATIENCE)
        side.queue.announce([QUICK])
        side.queue.settle(first)
        side.store.close()
        clock.step(LEASE + timedelta(seconds=1))
        taken = {other.take(f"w{number}").id for number in range(3)}
        assert len(taken) == 3
        assert first.id in taken


def check_those_that_run_alone_keep_their_order(open_side: OpenSide) -> None:
    """Of kinds that run alone, one runs at a time in a cube, in the order in which they came; others run beside."""
    with closing(open_side(SteppedClock())) as side:
        cube = side.cube()
        ids = side.put(*(job_of(cube) for _ in range(4)))
        beside = side.put(job_of(side.cube("b")))
        order, running, most = list[str](), set[str](), list[int]()
        lock = threading.Lock()

        def done(job: Job, _name: str) -> None:
            with lock:
                running.add(job.id)
                most.append(len(running & set(ids)))
                order.append(job.id)
            threading.Event().wait(0.02)
            with lock:
                running.remove(job.id)

        with _working([side], ["w1", "w2", "w3"], done) as futures:
            _until(lambda: len(order) == 5, futures)
        assert [each for each in order if each in ids] == ids
        assert beside[0] in order
        assert max(most) == 1, "two that run alone ran at one time"


def check_a_crowd_delays_nobody(open_side: OpenSide) -> None:
    """A cube with many jobs delays another's single job by no more jobs than run already."""
    with closing(open_side(SteppedClock())) as side:
        crowd, single = side.cube("crowd"), side.cube("single")
        side.put(*(job_of(crowd, alone=False) for _ in range(60)))
        running = [(f"w{number}", side.take(f"w{number}")) for number in range(3)]
        for _ in range(12):  # so that what is fetched ahead is fetched
            name, job = running.pop(0)
            assert side.end(job, name)
            running.append((name, side.take(name)))
        [wanted] = side.put(job_of(single))
        begun = 0
        while True:
            name, job = running.pop(0)
            assert side.end(job, name)
            taken = side.take(name)
            if taken.id == wanted:
                break
            begun += 1
            running.append((name, taken))
        assert begun <= 3, f"{begun} jobs of the crowd began before it, and 3 ran"


def check_cubes_get_their_weights(open_side: OpenSide) -> None:
    """Of cubes that always have work, each gets its share of the workers, by its weight."""
    with closing(open_side(SteppedClock())) as side:
        cubes = {side.cube(str(weight)): weight for weight in (1, 3)}
        with side.store.write() as tx:
            tx.enter_all()
            for cube, weight in cubes.items():
                tx.turns.wait_for(cube)
                tx.turns.set_share(cube, Share(weight=weight))
        side.put(*(job_of(cube, alone=False) for cube in cubes for _ in range(50)))
        seen: Counter[int] = Counter()
        running = [(f"w{number}", side.take(f"w{number}")) for number in range(2)]
        for _ in range(48):
            name, job = running.pop(0)
            seen[cubes[job.cube_key]] += 1
            assert side.end(job, name)
            running.append((name, side.take(name)))
        assert 27 <= seen[3] <= 42, f"of 48 jobs, by weight: {seen}"


def check_no_priority_starves(open_side: OpenSide) -> None:
    """What is urgent comes first most of the time, and what is not comes all the same."""
    with closing(open_side(SteppedClock())) as side:
        counts = {Priority.INTERACTIVE: 60, Priority.NORMAL: 20, Priority.BACKGROUND: 4}
        side.put(
            *(
                job_of(side.cube(f"{priority}-{number}"), priority=priority)
                for priority, count in counts.items()
                for number in range(count)
            )
        )
        seen: Counter[Priority] = Counter()
        for _ in range(48):
            job = side.take()
            seen[job.priority] += 1
            assert side.end(job)
        assert seen[Priority.BACKGROUND] >= 1, f"what runs in the background starves: {seen}"
        assert seen[Priority.NORMAL] >= 5, f"what is not urgent starves: {seen}"
        assert seen[Priority.INTERACTIVE] > seen[Priority.NORMAL] > seen[Priority.BACKGROUND], f"shares: {seen}"


def check_news_wake_who_waits(open_side: OpenSide) -> None:
    """Who waits for a job is woken by its announcement, in this process and from another."""
    with closing(open_side(SteppedClock())) as side, closing(open_side(SteppedClock())) as other:
        cubes = [side.cube(f"c{number}") for number in range(4)]
        with ThreadPoolExecutor(1) as pool:
            for number, cube in enumerate(cubes):
                waiting = pool.submit(side.queue.take, "w", QUICK, KINDS, most=1, wait=PATIENCE)
                [job_id] = (side if number % 2 else other).put(job_of(cube))
                [job] = waiting.result(PATIENCE / 2)
                assert job.id == job_id
                side.end(job)


def check_interruption_frees_all(open_side: OpenSide) -> None:
    """Who waits returns with nothing when interrupted, and may take again."""
    with closing(open_side(SteppedClock())) as side, ThreadPoolExecutor(4) as pool:
        waiting = [
            pool.submit(side.queue.take, f"w{number}", QUICK, KINDS, most=1, wait=PATIENCE) for number in range(4)
        ]
        started = time.monotonic()
        while not all(each.done() for each in waiting):  # one may have come too early for a thread
            side.queue.interrupt()
            threading.Event().wait(0.05)
            assert time.monotonic() < started + PATIENCE / 2, "somebody still waits"
        assert not any(each.result() for each in waiting)
        side.put(job_of(side.cube()))
        side.take()


def check_sides_share_the_work(open_side: OpenSide) -> None:
    """Several processes share the jobs, and none is done twice."""
    clock = SteppedClock()
    with ExitStack() as stack:
        sides = [stack.enter_context(closing(open_side(clock))) for _ in range(2)]
        cubes = [sides[0].cube(f"c{number}") for number in range(10)]
        ids = sides[0].put(*(job_of(cubes[number % 10]) for number in range(40)))
        done: list[str] = []
        with _working(sides, ["w1", "w2", "w3", "w4"], lambda job, _: done.append(job.id)) as futures:
            _until(lambda: len(done) >= 40, futures)
            ids += sides[1].put(*(job_of(cubes[number % 10]) for number in range(10)))
            _until(lambda: len(done) >= 50, futures)
        assert sorted(done) == sorted(ids)
        for side in sides:
            side.nothing()


def check_what_was_there_before_is_found(open_side: OpenSide) -> None:
    """Jobs that were queued before this queue existed, and of which nobody told it, are handed out."""
    with closing(open_side(SteppedClock())) as side:
        cube = side.cube()
        with side.store.write() as tx:
            tx.enter_all()
            ids = [tx.jobs.put(job_of(cube, kind)) for kind in KINDS]
    with closing(open_side(SteppedClock())) as after:
        for _ in ids:
            job = after.take()
            ids.remove(job.id)
            assert after.end(job)


def check_what_is_planned_comes_when_due(open_side: OpenSide) -> None:
    """A job is handed out when its time has come; one that failed, when it is to be tried again."""
    clock = SteppedClock()
    with closing(open_side(clock)) as side:
        [planned] = side.put(job_of(side.cube(), not_before=NOON + timedelta(minutes=5)))
        side.nothing()
        clock.step(timedelta(minutes=5))
        job = side.take()
        assert (job.id, job.attempts) == (planned, 1)
        assert side.end(job, error=StoreError("not now"))
        side.nothing()
        clock.step(timedelta(minutes=1))
        again = side.take()
        assert (again.id, again.attempts) == (planned, 2)
        assert side.end(again)
        side.nothing()


def check_workers_get_what_they_do(open_side: OpenSide) -> None:
    """A worker gets jobs of its lane and kinds; what nobody does at the moment stands in nobody's way."""
    with closing(open_side(SteppedClock())) as side:
        cubes = [side.cube(f"c{number}") for number in range(5)]
        side.put(*(job_of(cube, ORGANIZE) for cube in cubes), *(job_of(cube, REFINE) for cube in cubes))
        side.put(*(job_of(cube, EMBED) for cube in cubes))
        for _ in cubes:
            job = side.take("embedder", kinds=[EMBED])
            assert job.kind == EMBED
            assert side.end(job, "embedder")
        side.nothing("embedder", kinds=[EMBED])
        for kind, lane in ((ORGANIZE, QUICK), (REFINE, SLOW)):
            for _ in cubes:
                job = side.take(kind, kinds=[kind], lane=lane)
                assert (job.kind, job.lane) == (kind, lane)
                assert side.end(job, kind)


def check_many_at_once(open_side: OpenSide) -> None:
    """A worker may take several jobs in one call, as many as it asked for at most."""
    with closing(open_side(SteppedClock())) as side:
        ids = set(side.put(*(job_of(side.cube(f"c{number}")) for number in range(7))))
        taken: list[Job] = []
        deadline = time.monotonic() + PATIENCE
        while len(taken) < 7:
            jobs = side.queue.take("w", QUICK, KINDS, most=3, wait=1.0)
            assert len(jobs) <= 3
            taken += jobs
            assert time.monotonic() < deadline, "jobs that wait are not handed out"
        assert {job.id for job in taken} == ids
        assert all(side.end(job) for job in taken)


def check_what_was_cancelled_is_not_handed_out(open_side: OpenSide) -> None:
    """A job that was cancelled while it waited is never handed out, wherever it stood."""
    with closing(open_side(SteppedClock())) as side:
        side.nothing()  # somebody does these kinds: what comes may be on its way at once
        cube = side.cube()
        [job_id] = side.put(job_of(cube))
        with side.store.write() as tx:
            tx.enter_all()
            tx.turns.wait_for(cube)
            job = tx.jobs.get(cube, job_id)
            assert job is not None
            tx.jobs.save(replace(job, state=JobState.CANCELLED, finished_at=NOON))
        side.nothing()
        assert side.put(job_of(cube)) == [side.take().id]


def check_a_race_of_many_workers(open_side: OpenSide) -> None:
    """Eight workers and three hundred jobs: each is run exactly once."""
    with closing(open_side(SteppedClock())) as side:
        cubes = [side.cube(f"c{number}") for number in range(30)]
        ids = side.put(*(job_of(cubes[number % 30], KINDS[number % 2], alone=False) for number in range(300)))
        done: list[str] = []
        with _working([side], [f"w{number}" for number in range(8)], lambda job, _: done.append(job.id)) as futures:
            _until(lambda: len(done) >= 300, futures)
        assert Counter(done) == Counter(ids)
        side.nothing()


CHECKS: Final = (
    check_each_job_is_handed_out_once,
    check_a_rolled_back_job_is_not_handed_out,
    check_again_when_a_lease_is_over,
    check_what_a_closed_queue_held_goes_on,
    check_those_that_run_alone_keep_their_order,
    check_a_crowd_delays_nobody,
    check_cubes_get_their_weights,
    check_no_priority_starves,
    check_news_wake_who_waits,
    check_interruption_frees_all,
    check_sides_share_the_work,
    check_what_was_there_before_is_found,
    check_what_is_planned_comes_when_due,
    check_workers_get_what_they_do,
    check_many_at_once,
    check_what_was_cancelled_is_not_handed_out,
    check_a_race_of_many_workers,
)
"""All of the contract."""
