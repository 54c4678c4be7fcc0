"""What the queue on Redis Streams does to a server, on every kind of server that this machine has."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from mnemic.backends.queues import notes
from mnemic.backends.queues.layout import GROUP
from mnemic.backends.queues.link import Command, Link, Lost, Place, call, grouped
from mnemic.backends.queues.scripts import DEPTH, DO, DOERS, READ, STALLED, UPKEEP, Script
from mnemic.backends.queues.station import Rules
from mnemic.backends.queues.streams import StreamsQueue
from mnemic.core.fairness import priorities
from mnemic.core.retrying import pause
from mnemic.errors import InputError, QueueError
from mnemic.model.job import EMBED, ORGANIZE, QUICK, REFINE, SLOW, JobState, Priority
from mnemic.ports.clock import Clock
from mnemic.services.dispatching import Dispatching, Limits, tries_of
from mnemic.testing import queue_contract as contract
from mnemic.testing.queue_contract import KINDS, OpenSide, Side, SteppedClock, job_of
from mnemic.testing.redis_server import RedisServer, binaries, waited_for
from tests.databases import opener

STREAM = "{mnemic:0}:quick:1:organize"
RULES = Rules(priorities, pause, timedelta(seconds=12))


@pytest.fixture(scope="module", params=binaries().items(), ids=lambda found: found[0])
def redis(request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    with RedisServer(request.param[1]) as server:
        yield server


@pytest.fixture
def client(redis: RedisServer) -> Iterator[Any]:
    """A client of an empty server."""
    redis.flush()
    with Redis.from_url(redis.url, decode_responses=True, legacy_responses=False) as found:
        yield found


@pytest.fixture
def link(redis: RedisServer, client: Any) -> Iterator[Link]:
    """A way to an empty server."""
    found = Link(Place(redis.url))
    found.open()
    yield found
    found.shut()


@pytest.fixture
def open_side(redis: RedisServer, client: Any, tmp_path: Path) -> OpenSide:
    """Opens what a process has, connected."""
    return opening(tmp_path, redis.url)


def opening(folder: Path, url: str, prefix: str = "mnemic", rules: Rules = RULES) -> OpenSide:
    def opened(clock: Clock) -> Side:
        store = opener(folder)()
        rows = Dispatching(store, clock, Limits())
        queue = StreamsQueue(rows, store.bell, clock, Place(url, prefix), rules)
        queue.announce([])
        waited_for(lambda: queue._carrier.up)
        return Side(store, rows, queue)

    return opened


def ran(link: Link, command: Command) -> Any:
    return link.ask(0, command)[0]


@pytest.mark.parametrize(
    "check",
    [
        contract.check_each_job_is_handed_out_once,
        contract.check_again_when_a_lease_is_over,
        contract.check_sides_share_the_work,
        contract.check_news_wake_who_waits,
    ],
    ids=lambda check: check.__name__.removeprefix("check_"),
)
def test_every_kind_of_server_carries_jobs(open_side: OpenSide, check: Callable[[OpenSide], None]) -> None:
    check(open_side)


def test_a_ticket_is_kept_until_the_end_of_its_job_is_committed(open_side: OpenSide, client: Any) -> None:
    with closing(open_side(SteppedClock())) as side:
        assert not side.queue.take("w", QUICK, KINDS, most=1, wait=0)
        side.put(job_of(side.cube()))
        waited_for(lambda: client.xlen(STREAM) == 1)
        [job] = side.queue.take("w", QUICK, KINDS, most=1, wait=10)
        assert (client.xlen(STREAM), client.xpending(STREAM, GROUP)["pending"]) == (1, 1)
        side.end(job)
        waited_for(lambda: client.xlen(STREAM) == 0)
        assert client.xpending(STREAM, GROUP)["pending"] == 0


def test_only_what_somebody_does_is_carried_and_no_more_than_a_few_each(open_side: OpenSide, client: Any) -> None:
    with closing(open_side(SteppedClock())) as side:
        cubes = [side.cube(f"c{number}") for number in range(10)]
        side.put(*(job_of(cube) for cube in cubes), *(job_of(cube, EMBED) for cube in cubes))
        assert side.rows.claim("direct", QUICK, [ORGANIZE], 1), "a job was sent where nobody reads"
        assert not side.queue.take("w", QUICK, [EMBED], most=1, wait=0)
        waited_for(lambda: client.xlen("{mnemic:0}:quick:1:embed") == 1)
        side.queue.announce([QUICK])
        side.take(kinds=[EMBED])
        waited_for(lambda: client.xlen("{mnemic:0}:quick:1:embed") == 2)  # one that runs, and one on its way
        assert client.xlen(STREAM) == 0
        assert client.zcard("{mnemic:0}:doers:quick") == 1
    assert client.zcard("{mnemic:0}:doers:quick") == 0, "who has left is still counted"


def test_a_ticket_that_came_for_one_who_has_left_is_put_back(redis: RedisServer, client: Any, tmp_path: Path) -> None:
    never = replace(RULES, lease=timedelta(hours=1))  # in which it would be found stalled
    open_side = opening(tmp_path, redis.url, rules=never)
    with closing(open_side(SteppedClock())) as side, closing(open_side(SteppedClock())) as other:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(side.queue.take, "w", QUICK, KINDS, most=1, wait=60)
            waited_for(lambda: client.info("clients")["blocked_clients"] == 1)
            side.queue.interrupt()
            assert not waiting.result(20)
        [job_id] = other.put(job_of(other.cube()))  # what still blocks for who has left is given it
        assert [job.id for job in other.queue.take("other", QUICK, KINDS, most=1, wait=20)] == [job_id]


def test_stores_with_different_prefixes_share_a_server_undisturbed(
    redis: RedisServer, client: Any, tmp_path: Path
) -> None:
    open_one = opening(tmp_path / "one", redis.url, "one")
    open_other = opening(tmp_path / "other", redis.url, "other")
    with closing(open_one(SteppedClock())) as one, closing(open_other(SteppedClock())) as other:
        ids = {side: {job for _ in range(5) for job in side.put(job_of(side.cube()))} for side in (one, other)}
        for side, mine in ids.items():
            for _ in range(5):
                job = side.take()
                mine.remove(job.id)
                assert side.end(job)
            side.nothing()
        found = client.keys("*")
        assert found
        assert all(key.startswith(("{one:0}", "{other:0}")) for key in found)


def test_what_ends_dead_leaves_a_line_without_its_content(open_side: OpenSide, client: Any) -> None:
    with closing(open_side(SteppedClock())) as side:
        [job_id] = side.put(job_of(cube := side.cube(), payload={"words": "a secret"}))
        for _ in range(tries_of(ORGANIZE)):
            job = side.take()
            side.end(job, error=QueueError("nobody\nis there"))
            side.rows._clock.step(timedelta(hours=1))  # type: ignore[attr-defined]  # the clock of this test
        with side.store.read() as tx:
            tx.enter_all()
            dead = tx.jobs.get(cube, job_id)
            assert dead is not None
            assert dead.state is JobState.DEAD
        waited_for(lambda: client.exists("mnemic:dead") == 1)
        [(_, told)] = client.xrange("mnemic:dead")
        assert told == {"job": job_id, "cube": str(cube), "kind": ORGANIZE, "reason": "is there"}


def test_the_stream_of_the_dead_is_capped(open_side: OpenSide, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "_DEAD_KEPT", 100)
    with closing(open_side(SteppedClock())) as side:
        for number in range(400):
            side.queue.settle(job_of(1, state=JobState.DEAD, error=str(number)))
        waited_for(lambda: [each["reason"] for _, each in client.xrevrange("mnemic:dead", count=1)] == ["399"])
        assert client.xlen("mnemic:dead") < 300


def test_what_is_no_ticket_is_thrown_away(open_side: OpenSide, client: Any, caplog: pytest.LogCaptureFixture) -> None:
    with closing(open_side(SteppedClock())) as side:
        for fields in ({"cube": "x", "job": "j"}, {"cube": "1"}, {"what": "ever"}):
            client.xadd(STREAM, fields)
        side.nothing()
        waited_for(lambda: client.xlen(STREAM) == 0)
        assert client.xpending(STREAM, GROUP)["pending"] == 0
        assert "ticket_unreadable" in caplog.messages


def test_a_server_that_throws_keys_away_is_told_of(open_side: OpenSide, client: Any) -> None:
    with closing(open_side(SteppedClock())) as side:
        [(what, well, told)] = side.queue.check()
        assert (what, well) == ("queue", True)
        assert "127.0.0.1" in told
        client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            assert [(what, well) for what, well, _ in side.queue.check()] == [("queue", True), ("queue memory", False)]
        finally:
            client.config_set("maxmemory-policy", "noeviction")


def made(client: Any, *streams: str) -> None:
    for stream in streams:
        client.xgroup_create(stream, GROUP, "0", mkstream=True)


def test_streams_are_read_by_priority_and_then_in_the_order_of_arrival(link: Link, client: Any) -> None:
    streams = [f"{{mnemic:0}}:quick:{priority}:{kind}" for priority in Priority for kind in ("a", "b")]
    made(client, *streams)
    for number, stream in enumerate([3, 2, 5, 2, 3, 0, 4, 2]):
        client.xadd(streams[stream], {"cube": 1, "job": number}, id=f"{9 + number // 3}-{1 + number}")

    def read(most: int) -> list[str]:
        return [entry[3] for entry in ran(link, grouped(READ, streams, "me", most, 2, 2, 2))]

    assert read(1) == ["5"]
    assert read(3) == ["0", "1", "3"]
    assert read(10) == ["4", "7", "2", "6"]
    assert read(10) == []


def test_what_nobody_has_read_is_counted(link: Link, client: Any) -> None:
    made(client, "{mnemic:0}:a", "{mnemic:0}:b")
    for number in range(3):
        client.xadd("{mnemic:0}:a", {"n": number})
    client.xreadgroup(GROUP, "me", {"{mnemic:0}:a": ">"}, count=1)
    assert ran(link, grouped(DEPTH, ["{mnemic:0}:a", "{mnemic:0}:b", "{mnemic:0}:none"])) == [2, 0, 0]


def test_trimming_takes_neither_what_is_unread_nor_what_runs(link: Link, client: Any) -> None:
    key = "{mnemic:0}:a"
    made(client, key)
    ids = [client.xadd(key, {"n": number}) for number in range(5)]

    def trimmed() -> list[str]:
        ran(link, grouped(UPKEEP, [key], 3_600_000))
        return [entry for entry, _ in client.xrange(key)]

    assert trimmed() == ids, "what nobody has read was deleted"
    client.xreadgroup(GROUP, "me", {key: ">"}, count=3)
    client.xack(key, GROUP, ids[0], ids[2])
    assert trimmed() == ids[1:], "only what is acknowledged below what runs may go"
    client.xack(key, GROUP, ids[1])
    client.xgroup_create(key, "others", ids[1])
    assert trimmed() == ids[2:], "another group has not read it"
    client.xgroup_destroy(key, "others")
    assert trimmed() == ids[3:]
    client.xreadgroup(GROUP, "me", {key: ">"})
    client.xack(key, GROUP, *ids[3:])
    assert trimmed() == []
    assert client.exists(key) == 1, "a stream without entries is kept, with its group"


def test_silent_consumers_go_unless_they_hold_something(link: Link, client: Any) -> None:
    key = "{mnemic:0}:a"
    made(client, key)
    client.xadd(key, {"n": 1})
    client.xreadgroup(GROUP, "holder", {key: ">"})
    client.xgroup_createconsumer(key, GROUP, "idle")
    waited_for(lambda: all(each["idle"] > 1 for each in client.xinfo_consumers(key, GROUP)))
    ran(link, grouped(UPKEEP, [key], 3_600_000))
    assert len(client.xinfo_consumers(key, GROUP)) == 2
    ran(link, grouped(UPKEEP, [key], 0))
    assert [each["name"] for each in client.xinfo_consumers(key, GROUP)] == ["holder"]


def test_stalled_entries_go_to_the_end_and_those_without_a_body_are_forgotten(link: Link, client: Any) -> None:
    key = "{mnemic:0}:a"
    made(client, key)
    ids = [client.xadd(key, {"cube": 1, "job": number}) for number in range(3)]
    client.xreadgroup(GROUP, "dead", {key: ">"})
    client.xdel(key, ids[1])
    assert ran(link, grouped(STALLED, [key], "me", 60_000, 10)) == 0
    waited_for(lambda: all(each["idle"] > 1 for each in client.xinfo_consumers(key, GROUP)))
    ran(link, grouped(STALLED, [key], "me", 1, 10))
    assert client.xpending(key, GROUP)["pending"] == 0
    assert [fields["job"] for _, fields in client.xrange(key)] == ["0", "2"]
    assert not {entry for entry, _ in client.xrange(key)} & set(ids)


def test_who_does_what_is_forgotten_when_not_heard_of(link: Link, client: Any) -> None:
    key = "{mnemic:0}:doers:quick"

    def counts() -> dict[str, int]:
        return {kinds: int(count) for kinds, count in ran(link, call(DOERS, [key]))}

    ran(link, call(DO, [key], 60_000, 3, "one/0|a,b", "one/1|a,b", "one/0|c"))
    ran(link, call(DO, [key], 1, 2, "other/0|a,b", "other/1|a,b"))
    waited_for(lambda: counts() == {"a,b": 2, "c": 1})
    ran(link, call(DO, [key], 60_000, 1, "one/0|a,b", "one/1|a,b", "one/0|c"))
    assert counts() == {"a,b": 1}


def test_missing_groups_and_scripts_are_told_apart_from_outages(link: Link, client: Any) -> None:
    with pytest.raises(Lost):
        ran(link, grouped(STALLED, ["{mnemic:0}:none"], "me", 1, 10))
    with pytest.raises(Lost):
        ran(link, call(Script("return 'never loaded'"), ["{mnemic:0}:none"]))
    client.set("{mnemic:0}:text", "words")
    with pytest.raises(QueueError, match="refuses"):
        ran(link, grouped(DEPTH, ["{mnemic:0}:text"]))


@pytest.mark.parametrize("url", ["http://127.0.0.1", "127.0.0.1:6379", "redis://127.0.0.1:many", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="redis_url"):
        Link(Place(url))


def test_a_setting_in_an_address_that_is_none_is_told_of_without_the_password(tmp_path: Path) -> None:
    with closing(opener(tmp_path)()) as store:
        clock = SteppedClock()
        place = Place("redis://me:s3cret@127.0.0.1:1/0?socket_timeout=soon")
        with closing(StreamsQueue(Dispatching(store, clock, Limits()), store.bell, clock, place, RULES)) as queue:
            queue.announce([QUICK])
            waited_for(lambda: queue._carrier.fault is not None)
            with pytest.raises(QueueError, match="socket_timeout") as told:
                queue.take("w", QUICK, KINDS, most=1, wait=1)
            assert "s3cret" not in str(told.value)


def test_without_its_package_the_queue_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(QueueError, match=r"mnemic\[redis\]"):
        Link(Place("redis://127.0.0.1:1"))


def test_a_lane_is_carried_beside_the_other(open_side: OpenSide, client: Any) -> None:
    with closing(open_side(SteppedClock())) as side:
        cube = side.cube()
        side.put(job_of(cube, REFINE), job_of(cube))
        assert side.take(kinds=[REFINE], lane=SLOW).kind == REFINE
        assert side.take().kind == ORGANIZE
