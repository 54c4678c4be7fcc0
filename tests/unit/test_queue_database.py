"""The queue that asks the database asks when there is news, once for each job, and else hardly ever."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from mnemic.backends.queues import database
from mnemic.backends.queues.database import DatabaseQueue
from mnemic.backends.sql.bell import LocalBell
from mnemic.model.job import ORGANIZE, QUICK, SLOW, Job, queued
from mnemic.ports.queue import Ticket
from mnemic.testing.redis_server import waited_for

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
KINDS = [ORGANIZE]
LONG = 20.0  # seconds


class RealClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class ListRows:
    """Rows that are a list; `claims` counts how often somebody asked."""

    def __init__(self) -> None:
        self.claims = 0
        self.due: datetime | None = None
        self._jobs: list[Job] = []
        self._lock = threading.Lock()

    def add(self, count: int, lane: str = QUICK) -> None:
        with self._lock:
            self._jobs += [queued(str(number), 1, ORGANIZE, NOON) for number in range(count)]

    def claim(self, worker: str, lane: str, kinds: Collection[str], most: int) -> Sequence[Job]:
        with self._lock:
            self.claims += 1
            if self.due is not None and self.due <= datetime.now(UTC):
                self.due = None
                return [queued("planned", 1, ORGANIZE, NOON)]
            found, self._jobs = self._jobs[:most], self._jobs[most:]
            return found if lane == QUICK else []

    def next_due(self, lanes: Collection[str]) -> datetime | None:
        return self.due

    def offer(self, lane: str, kinds: Collection[str], most: int) -> Sequence[Ticket]:
        raise NotImplementedError

    def take(self, worker: str, ticket: Ticket) -> Job | None:
        raise NotImplementedError

    def recall(self, lanes: Collection[str]) -> int:
        raise NotImplementedError


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> ListRows:
    monkeypatch.setattr(database, "_LOOK", 1_000.0)  # seconds: whoever is woken, was woken by news
    return ListRows()


@contextmanager
def waiting(rows: ListRows, count: int, lane: str = QUICK) -> Iterator[tuple[DatabaseQueue, list[Job]]]:
    """Have threads wait in `take`; give the queue and what they got. All have looked once, in vain."""
    queue, got = DatabaseQueue(rows, LocalBell(), RealClock()), list[Job]()

    def take(number: int) -> None:
        got.extend(queue.take(f"w{number}", lane, KINDS, most=1, wait=LONG))

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(take, number) for number in range(count)]
        try:
            waited_for(lambda: rows.claims == count and len(queue._waiters) == count)
            yield queue, got
        finally:
            queue.close()
            for future in futures:
                future.result(LONG)


def test_one_job_wakes_one_worker_and_one_who_sees_that_there_is_no_more(rows: ListRows) -> None:
    with waiting(rows, 6) as (queue, got):
        rows.add(1)
        queue.announce([QUICK])
        waited_for(lambda: len(got) == 1 and rows.claims == 8)
    assert len(got) == 1
    assert rows.claims == 8, "a herd came for one job"


def test_one_announcement_of_many_jobs_wakes_as_many_workers(rows: ListRows) -> None:
    with waiting(rows, 6) as (queue, got):
        rows.add(4)
        queue.announce([QUICK])
        waited_for(lambda: len(got) == 4)


def test_news_of_another_lane_wake_nobody(rows: ListRows) -> None:
    with waiting(rows, 2) as (queue, got):
        queue.announce([SLOW])
        rows.add(1)
        queue.announce([QUICK])
        waited_for(lambda: len(got) == 1 and rows.claims == 4)


def test_a_worker_wakes_by_itself_when_the_next_job_is_due(rows: ListRows) -> None:
    rows.due = datetime.now(UTC) + timedelta(seconds=0.3)
    with waiting(rows, 3) as (_, got):
        waited_for(lambda: len(got) == 1)
        assert got[0].id == "planned"
    assert rows.claims <= 6, "all woke when one job was due"


def test_what_is_due_and_cannot_be_had_is_not_asked_for_without_pause(rows: ListRows) -> None:
    queue = DatabaseQueue(rows, LocalBell(), RealClock())

    class Overdue(ListRows):
        def next_due(self, lanes: Collection[str]) -> datetime | None:
            return NOON

    busy = Overdue()
    queue = DatabaseQueue(busy, LocalBell(), RealClock())
    assert not queue.take("w", QUICK, KINDS, most=1, wait=0.3)
    assert 2 <= busy.claims <= 8


def test_an_interruption_is_for_those_who_wait_then(rows: ListRows) -> None:
    with waiting(rows, 3) as (queue, got):
        queue.interrupt()
        waited_for(lambda: len(queue._waiters) == 0)
        assert not got
        rows.add(1)
        assert queue.take("later", QUICK, KINDS, most=1, wait=LONG)


def test_nothing_is_taken_from_a_closed_queue(rows: ListRows) -> None:
    with waiting(rows, 2) as (queue, got):
        queue.close()
        waited_for(lambda: len(queue._waiters) == 0)
        rows.add(1)
        assert not queue.take("late", QUICK, KINDS, most=1, wait=LONG)
        assert not got


def test_the_bell_is_listened_to_while_somebody_may_take(rows: ListRows) -> None:
    bell = LocalBell()
    queue = DatabaseQueue(rows, bell, RealClock())
    queue.announce([QUICK])
    assert not bell._listeners, "a process without a worker listens"
    queue.take("w", QUICK, KINDS, most=1, wait=0)
    queue.take("w", QUICK, KINDS, most=1, wait=0)
    assert len(bell._listeners) == 1
    queue.close()
    queue.close()
    assert not bell._listeners
