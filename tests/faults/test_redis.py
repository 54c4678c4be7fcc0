"""Redis is absent, killed, emptied, frozen, cut off or slow while jobs run: each job is done once, none is lost.

The clock of the rows stands still, so that nothing is found again because a lease or an offer is over: what a fault
loses must be noticed.
"""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Self

import pytest

from mnemic.backends.queues.link import Place
from mnemic.backends.queues.station import Rules
from mnemic.backends.queues.streams import StreamsQueue
from mnemic.backends.sql.store import SqlStore
from mnemic.core.fairness import priorities
from mnemic.errors import QueueError
from mnemic.model.job import ORGANIZE, QUICK, Job
from mnemic.services.dispatching import Dispatching, Limits
from mnemic.testing.queue_contract import KINDS, PATIENCE, Side, SteppedClock, job_of
from mnemic.testing.redis_server import RedisServer, waited_for
from mnemic.testing.store_contract import WIDTH

RULES = Rules(priorities, lambda attempt, chance: 0.1 + 0.05 * chance, timedelta(seconds=1))

STREAM = "{mnemic:0}:quick:1:organize"


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


def open_side(folder: Path, url: str, clock: SteppedClock | None = None) -> Side:
    clock = clock or SteppedClock()
    store = SqlStore(folder, model="test", width=lambda: WIDTH, cache_bytes=1_000_000)
    rows = Dispatching(store, clock, Limits())
    return Side(store, rows, StreamsQueue(rows, store.bell, clock, Place(url), RULES))


def queue_of(side: Side) -> StreamsQueue:
    assert isinstance(side.queue, StreamsQueue)
    return side.queue


def is_up(side: Side) -> bool:
    return queue_of(side)._carrier.up


def known(side: Side) -> None:
    """Have somebody work on a side, whose tickets are carried, and nobody read them yet."""
    side.queue.announce([])
    waited_for(lambda: is_up(side))
    for number in range(2):
        assert not side.queue.take(f"w{number}", QUICK, KINDS, most=1, wait=0)


class Load:
    """Workers on one or two sides, and what they have done; `put` adds jobs."""

    def __init__(self, *sides: Side) -> None:
        self.sides = sides
        self.cubes = [sides[0].cube(f"c{number}") for number in range(12)]
        self.ids: list[str] = []
        self.done: list[Job] = []
        self._over = threading.Event()
        self._errors: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._work, args=(sides[number % len(sides)], f"w{number}")) for number in range(4)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for side in self.sides:
            side.queue.interrupt()
        for thread in self._threads:
            thread.join(PATIENCE)
        assert not self._errors, self._errors
        assert not any(thread.is_alive() for thread in self._threads), "a worker hangs"

    def put(self, count: int) -> None:
        for number in range(count):
            cube = self.cubes[number % len(self.cubes)]
            self.ids += self.sides[0].put(job_of(cube, KINDS[number % 2], alone=number % 3 == 0))

    def reach(self, count: int) -> None:
        """Wait until so many more jobs are done, or all are."""
        wanted = min(len(self.done) + count, len(self.ids))
        waited_for(lambda: bool(self._errors) or len(self.done) >= wanted, PATIENCE)

    def finish(self) -> None:
        """See that all are done, each once and at the first try."""
        waited_for(lambda: bool(self._errors) or len(self.done) >= len(self.ids), PATIENCE)
        assert Counter(job.id for job in self.done) == Counter(self.ids)
        assert {job.attempts for job in self.done} == {1}

    def _work(self, side: Side, name: str) -> None:
        try:
            while not self._over.is_set():
                for job in side.queue.take(name, QUICK, KINDS, most=1, wait=1.0):
                    assert side.end(job, name)
                    self.done.append(job)
        except BaseException as error:  # noqa: BLE001 - told to the test
            self._errors.append(error)


def test_jobs_go_on_while_redis_is_absent_and_through_it_when_it_comes(tmp_path: Path) -> None:
    server = RedisServer()
    with closing(open_side(tmp_path, server.url)) as side, Load(side) as load:
        load.put(20)
        load.finish()
        [(_, well, told)] = side.queue.check()
        assert not well
        assert "database" in told
        assert not is_up(side)
        try:
            server.start()
            waited_for(lambda: is_up(side))
            load.put(20)
            load.finish()
            assert side.queue.check()[0][1]
            assert "entries-added" in server.say("XINFO", "STREAM", STREAM)
        finally:
            server.stop()


def killed(server: RedisServer) -> None:
    server.kill()


def restarted(server: RedisServer) -> None:
    server.restart()


def flushed(server: RedisServer) -> None:
    server.flush()


def cut_off(server: RedisServer) -> None:
    server.say("CLIENT", "KILL", "TYPE", "normal")


def slowed(server: RedisServer) -> None:
    server.say("CLIENT", "PAUSE", "400", "ALL")


def without_scripts(server: RedisServer) -> None:
    server.say("SCRIPT", "FLUSH")


def without_a_stream(server: RedisServer) -> None:
    server.say("DEL", STREAM)


@pytest.mark.parametrize(
    "fault", [restarted, flushed, cut_off, slowed, without_scripts, without_a_stream], ids=lambda fault: fault.__name__
)
def test_faults_in_the_middle_of_a_load_cost_time_not_work(
    tmp_path: Path, redis: RedisServer, fault: Callable[[RedisServer], None]
) -> None:
    clock = SteppedClock()
    with (
        closing(open_side(tmp_path, redis.url, clock)) as side,
        closing(open_side(tmp_path, redis.url, clock)) as other,
    ):
        with Load(side, other) as load:
            load.put(10)
            waited_for(lambda: is_up(side) and is_up(other))
            for _ in range(4):
                load.put(30)
                load.reach(10)
                fault(redis)
            load.finish()
        waited_for(lambda: is_up(side) and is_up(other))


def test_redis_dies_in_the_middle_and_comes_back_later(tmp_path: Path, redis: RedisServer) -> None:
    with closing(open_side(tmp_path, redis.url)) as side, Load(side) as load:
        waited_for(lambda: is_up(side))
        load.put(40)
        load.reach(10)
        redis.kill()
        load.put(20)
        load.finish()
        assert not is_up(side)
        redis.start()
        waited_for(lambda: is_up(side))
        load.put(20)
        load.finish()


def test_a_frozen_redis_hangs_no_worker(tmp_path: Path, redis: RedisServer) -> None:
    with closing(open_side(tmp_path, redis.url)) as side, Load(side) as load:
        waited_for(lambda: is_up(side))
        load.put(40)
        load.reach(10)
        redis.pause()
        try:
            load.put(20)
            load.finish()
        finally:
            redis.resume()
        waited_for(lambda: is_up(side))
        load.put(20)
        load.finish()


def test_a_server_that_never_answers_hangs_nobody(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as hole:
        url = f"redis://127.0.0.1:{hole.getsockname()[1]}/0"
        with closing(open_side(tmp_path, url)) as side, Load(side) as load:
            load.put(20)
            load.finish()
            assert not side.queue.check()[0][1]


def test_a_server_that_comes_back_with_old_data_loses_nothing(tmp_path: Path, redis: RedisServer) -> None:
    """Its streams are there, with their groups, and what was sent after they were written is not."""
    with closing(open_side(tmp_path, redis.url)) as side:
        known(side)
        redis.say("SAVE")
        cubes = [side.cube(f"c{number}") for number in range(2)]
        ids = side.put(*(job_of(cube) for cube in cubes))
        waited_for(lambda: redis.say("XLEN", STREAM) == ":2\r\n")
        redis.restart()
        assert {side.take(f"w{number}").id for number in range(2)} == set(ids)


def test_what_a_reader_took_along_when_it_died_is_read_again(tmp_path: Path, redis: RedisServer) -> None:
    with closing(open_side(tmp_path, redis.url)) as side:
        known(side)
        [job_id] = side.put(job_of(side.cube()))
        waited_for(lambda: redis.say("XLEN", STREAM) == ":1\r\n")
        taken = redis.say("XREADGROUP", "GROUP", "workers", "dead", "STREAMS", STREAM, ">")
        assert job_id in taken
        assert side.take().id == job_id, "nobody found what the dead reader held"


def test_an_idle_stream_with_work_inside_is_never_deleted(tmp_path: Path, redis: RedisServer) -> None:
    with closing(open_side(tmp_path, redis.url)) as side:
        known(side)
        ids = side.put(*(job_of(side.cube(f"c{number}")) for number in range(2)))
        waited_for(lambda: redis.say("XLEN", STREAM) == ":2\r\n")
    with closing(open_side(tmp_path, redis.url)) as side:
        side.queue.announce([])
        waited_for(lambda: is_up(side))
        upkeep = queue_of(side)._carrier._upkeep
        for _ in range(3):
            upkeep._due.clear()
            upkeep._due |= {(what, 0): 0.0 for what in ("stalled", "trim", "touch", "report")}
            upkeep.look_after()
        assert redis.say("XLEN", STREAM) == ":2\r\n"
        assert {side.take(f"w{number}").id for number in range(2)} == set(ids)


def test_a_refused_password_is_told_without_it_and_jobs_go_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with RedisServer(password="s3cret") as server:
        with closing(open_side(tmp_path, server.url.replace("s3cret", "wr0ng"))) as side:
            [job_id] = side.put(job_of(side.cube()))
            assert side.take().id == job_id
            waited_for(lambda: "redis_away" in caplog.messages)
            [(_, well, told)] = side.queue.check()
            assert not well
            logged = f"{told} {[record.__dict__ for record in caplog.records]}"
            assert "wr0ng" not in logged
            assert f"127.0.0.1:{server.port}" in told
        with closing(open_side(tmp_path, server.url)) as side:
            side.queue.announce([])
            waited_for(lambda: is_up(side))
            assert "s3cret" not in str(side.queue.check())


def answer_as_old(server: socket.socket) -> None:
    """Answer INFO as Redis 5 does, and everything else with an error."""
    with suppressed():
        while True:
            connection, _ = server.accept()
            with connection:
                while said := connection.recv(65_536):
                    old = b"redis_version:5.0.7\r\nredis_mode:standalone\r\n"
                    answer = b"$%d\r\n%b\r\n" % (len(old), old) if b"INFO" in said else b"-ERR unknown command\r\n"
                    connection.sendall(answer * max(1, said.count(b"INFO"), said.count(b"SETINFO")))


@contextmanager
def suppressed() -> Iterator[None]:
    try:
        yield
    except OSError:
        return


def test_a_server_that_is_too_old_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = threading.Thread(target=answer_as_old, args=(server,), daemon=True)
        answering.start()
        url = f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        with closing(open_side(tmp_path, url)) as side:
            side.queue.announce([QUICK])
            waited_for(lambda: queue_of(side)._carrier.fault is not None)
            with pytest.raises(QueueError, match=r"5\.0\.7.*6\.2 or newer") as told:
                side.queue.take("w", QUICK, [ORGANIZE], most=1, wait=1.0)
            assert isinstance(told.value.fields["retry_after"], float)
            side.queue.announce([QUICK])
            [(_, well, _)] = side.queue.check()
            assert not well
        server.shutdown(socket.SHUT_RDWR)
    answering.join(PATIENCE)
