"""Addresses that are kept current: looked at when their time has come, once, and told of what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.errors import FetchError
from mnemic.model.document import Document, DocumentState
from mnemic.model.job import INGEST, OPEN
from mnemic.wiring import Parts
from tests.services.opened import SteppedClock, open_parts
from tests.services.shelved import Web, plain_reading

pytestmark = pytest.mark.usefixtures("engine")

HOUR = timedelta(hours=1)
PAGE = "https://docs.example/guide.txt"


@dataclass
class Shelf:
    """Parts of a memory with a knowledge base, under a clock that the test moves."""

    parts: Parts
    cube: str
    web: Web
    clock: SteppedClock

    def add(self, address: str = PAGE, hours: float | None = 24) -> Document:
        found = self.parts.library.add(address, cube=self.cube, user="ann", refresh_hours=hours)
        self.work()
        return found

    def work(self) -> None:
        while self.parts.worker.run_once():
            pass

    def later(self, hours: float) -> str:
        """Let time pass, and do what is due then."""
        self.clock.forward(HOUR * hours)
        told = self.parts.periodic.run_due()["refresh"]
        self.work()
        return told

    def get(self) -> Document:
        return self.parts.library.list(cube=self.cube, user="ann")[0]

    def numbers(self) -> list[int]:
        return [each.number for each in self.parts.library.versions(self.get().id, cube=self.cube, user="ann")]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    clock = SteppedClock()
    with plain_reading(tmp_path) as (_, web):
        parts = open_parts(tmp_path / "memory", clock)
        try:
            base = parts.bases.create("docs", user="ann")
            web.pages[PAGE] = b"the first edition"
            parts.periodic.run_due()  # plans what is due when
            yield Shelf(parts, base.cube.id, web, clock)
        finally:
            parts.close()


def test_an_address_is_looked_at_when_its_hours_are_over_and_not_before(shelf: Shelf) -> None:
    shelf.add()
    assert shelf.get().refresh.due == shelf.clock.now() + 24 * HOUR
    assert shelf.later(23) == "0 addresses to be looked at"
    assert len(shelf.web.asked) == 1
    assert shelf.later(2) == "1 addresses to be looked at"
    assert len(shelf.web.asked) == 2


def test_what_has_not_changed_is_only_noted_as_looked_at(shelf: Shelf) -> None:
    shelf.add()
    before = shelf.get()
    shelf.later(25)
    after = shelf.get()
    assert shelf.web.asked[1] == (PAGE, before.refresh.etag) and before.refresh.etag
    assert (after.refresh.found, after.refresh.checked_at) == ("unchanged", shelf.clock.now())
    assert after.refresh.due == shelf.clock.now() + 24 * HOUR
    assert (after.current, shelf.numbers()) == (before.current, [1])


def test_what_has_changed_is_a_version(shelf: Shelf) -> None:
    shelf.add()
    shelf.web.pages[PAGE] = b"the second edition"
    shelf.later(25)
    found = shelf.get()
    assert shelf.numbers() == [1, 2]
    assert found.state is DocumentState.READY and found.current is not None and found.current.number == 2
    shelf.later(25)
    assert shelf.web.asked[-1] == (PAGE, found.refresh.etag) and shelf.numbers() == [1, 2]


def test_what_is_gone_is_told_and_what_was_fetched_stays(shelf: Shelf) -> None:
    shelf.add()
    shelf.web.errors[PAGE] = FetchError("has no such page (404)", address=PAGE, status=404)
    shelf.later(25)
    found = shelf.get()
    assert (
        found.refresh.found.startswith("gone: has no such page (404)")
        and found.current is not None
        and found.state is DocumentState.READY
    )
    assert found.refresh.due == shelf.clock.now() + 24 * HOUR
    del shelf.web.errors[PAGE]
    shelf.later(25)
    assert shelf.get().refresh.found == "unchanged"


def test_what_could_not_be_reached_is_tried_again_and_harms_nothing(shelf: Shelf) -> None:
    shelf.add()
    shelf.web.errors[PAGE] = FetchError("did not answer in time", address=PAGE, passing=True)
    shelf.later(25)
    found = shelf.get()
    assert found.state is DocumentState.READY and "in time; what was fetched before stays" in found.refresh.found
    assert found.refresh.due == shelf.clock.now() + HOUR
    assert not [job for job in shelf.parts.jobs.list(user="ann", cube=shelf.cube) if job.state in OPEN]
    tried = len(shelf.web.asked)
    del shelf.web.errors[PAGE]
    shelf.later(2)
    assert len(shelf.web.asked) > tried
    assert shelf.get().refresh.found == "unchanged"


def test_a_server_that_wants_to_be_left_alone_is_left_alone_for_as_long(shelf: Shelf) -> None:
    shelf.add()
    error = FetchError("was asked too often (429)", address=PAGE, passing=True, status=429, retry_after=10_000.0)
    shelf.web.errors[PAGE] = error
    shelf.later(25)
    assert shelf.get().refresh.due == shelf.clock.now() + timedelta(seconds=10_000)


def test_what_was_never_fetched_is_fetched_when_it_is_there(shelf: Shelf) -> None:
    shelf.web.errors[PAGE] = FetchError("has no such page (404)", address=PAGE, status=404)
    shelf.add()
    assert shelf.get().state is DocumentState.FAILED and "404" in shelf.get().latest.error
    del shelf.web.errors[PAGE]
    shelf.later(25)
    assert shelf.get().state is DocumentState.READY


def test_an_address_without_hours_is_left_alone(shelf: Shelf) -> None:
    shelf.add(hours=None)
    assert shelf.get().refresh.due is None
    assert shelf.later(10_000) == "0 addresses to be looked at"


def test_an_address_is_asked_for_once_while_nobody_works(shelf: Shelf) -> None:
    shelf.add()
    for _ in range(3):
        shelf.clock.forward(25 * HOUR)
        shelf.parts.periodic.run_due()
    waiting = [job for job in shelf.parts.jobs.list(user="ann", cube=shelf.cube) if job.kind == INGEST]
    assert len([job for job in waiting if job.state.value == "queued"]) == 1


def test_a_knowledge_base_that_is_erased_meanwhile_is_nothing_to_look_at(shelf: Shelf) -> None:
    shelf.add()
    shelf.clock.forward(25 * HOUR)
    shelf.parts.bases.delete(shelf.cube, user="ann")
    assert shelf.parts.periodic.run_due()["refresh"] == "0 addresses to be looked at"
