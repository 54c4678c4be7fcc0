"""The queues that come with Mnemic keep the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.backends.queues.database import DatabaseQueue
from mnemic.backends.queues.link import Place
from mnemic.backends.queues.station import Rules
from mnemic.backends.queues.streams import StreamsQueue
from mnemic.core.fairness import priorities
from mnemic.core.retrying import pause
from mnemic.ids import new_id
from mnemic.ports.clock import Clock
from mnemic.ports.queue import Queue
from mnemic.services.dispatching import Dispatching, Limits
from mnemic.testing.queue_contract import CHECKS, OpenSide, Side
from mnemic.testing.redis_server import RedisServer
from mnemic.testing.store_contract import OpenStore
from tests.databases import opener

RULES = Rules(priorities, pause, timedelta(seconds=12))


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
def open_store(place: Path | str) -> OpenStore:
    return opener(place)


@pytest.fixture(params=["database", "streams"])
def open_side(request: pytest.FixtureRequest, open_store: OpenStore) -> OpenSide:
    streams = request.param == "streams"
    url = request.getfixturevalue("redis").url if streams else ""
    place = Place(url, prefix=new_id())

    def opened(clock: Clock) -> Side:
        store = open_store()
        rows = Dispatching(store, clock, Limits())
        queue: Queue = DatabaseQueue(rows, store.bell, clock)
        if streams:
            queue = StreamsQueue(rows, store.bell, clock, place, RULES)
        return Side(store, rows, queue)

    return opened


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_a_queue_keeps_the_contract(open_side: OpenSide, check: Callable[[OpenSide], None]) -> None:
    check(open_side)
