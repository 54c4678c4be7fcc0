"""Periodic work: one of many processes does it, another goes on when that one dies, and a restart repeats nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from mnemic import Memory, wiring
from mnemic.errors import InputError, StoreError
from mnemic.model.job import ORGANIZE, JobState
from mnemic.runtime import periodic
from mnemic.runtime.periodic import LEASE, Duty, Periodic
from tests.databases import address_of
from tests.services.opened import SteppedClock, new_store, open_parts

pytestmark = pytest.mark.usefixtures("engine")

LISBON = ZoneInfo("Europe/Lisbon")
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NIGHTLY = "0 3 * * *"


class Killed(BaseException):
    """The process died here."""


@contextmanager
def opened(folder: Path, clock: SteppedClock, **settings: Any) -> Iterator[wiring.Parts]:
    parts = open_parts(folder, clock, **settings)
    try:
        yield parts
    finally:
        parts.close()


def noting(done: list[str], word: str) -> Callable[[], str]:
    """Return work that notes that it was done, and tells so."""

    def work() -> str:
        done.append(word)
        return word

    return work


def periodic_of(parts: wiring.Parts, work: Callable[[], str], calendar: str = NIGHTLY, title: str = "tidy") -> Periodic:
    return Periodic(parts.store, parts.clock, LISBON, {title: Duty(calendar, work)})


def planned(parts: wiring.Parts, title: str = "tidy") -> datetime:
    with parts.store.read() as tx:
        due = tx.turns.leaders()[title][1]
    assert due is not None
    return due


def until(clock: SteppedClock, moment: datetime) -> None:
    clock.forward(moment - clock.now())


def first_time(parts: wiring.Parts, clock: SteppedClock, *all_of_them: Periodic) -> None:
    """Let a new piece of work be planned, and its time come."""
    for each in all_of_them:
        assert each.run_due() == {}, "what is new is done at once instead of when it is due"
    until(clock, planned(parts))


def test_of_two_over_one_store_one_does_it_and_a_restart_repeats_nothing(tmp_path: Path) -> None:
    clock = SteppedClock()
    done: list[str] = []
    with opened(tmp_path, clock) as here, opened(tmp_path, clock) as there:
        both = [periodic_of(here, noting(done, "here")), periodic_of(there, noting(done, "there"))]
        first_time(here, clock, *both)
        both[1].run_due()
        both[0].run_due()
        assert done == ["there"]
        assert planned(here) - clock.now() > HOUR
    with opened(tmp_path, clock) as again:
        mine = periodic_of(again, noting(done, "again"))
        assert mine.run_due() == {}
        until(clock, planned(again))
        assert mine.run_due() == {"tidy": "again"}
        assert done == ["there", "again"]


def test_of_many_that_look_at_one_moment_one_does_it(tmp_path: Path) -> None:
    clock = SteppedClock()
    done: list[str] = []
    with opened(tmp_path, clock) as parts, ThreadPoolExecutor(6) as pool:
        start = threading.Barrier(6)

        def look(number: int) -> Mapping[str, str]:
            mine = periodic_of(parts, noting(done, f"done by {number}"))
            start.wait(30)
            return mine.run_due()

        first_time(parts, clock, periodic_of(parts, lambda: ""))
        told = [each.result(30) for each in [pool.submit(look, number) for number in range(6)]]
        assert len(done) == 1
        assert [each for each in told if each] == [{"tidy": done[0]}]


def test_one_that_died_is_taken_over_when_its_lease_is_over_and_its_word_counts_no_more(tmp_path: Path) -> None:
    clock = SteppedClock()
    done: list[str] = []
    working, may_end = threading.Event(), threading.Event()

    def slow() -> str:
        working.set()
        assert may_end.wait(30)
        done.append("slow")
        return "slow"

    with opened(tmp_path, clock) as parts, ThreadPoolExecutor(1) as pool:
        slow_one, heir = periodic_of(parts, slow), periodic_of(parts, noting(done, "heir"))
        first_time(parts, clock, slow_one)
        late = pool.submit(slow_one.run_due)
        assert working.wait(30)
        assert heir.run_due() == {}
        clock.forward(LEASE - MINUTE)
        assert heir.run_due() == {}, "two do it at once"
        clock.forward(MINUTE)
        assert heir.run_due() == {"tidy": "heir"}
        due = planned(parts)
        may_end.set()
        late.result(30)
        assert done == ["heir", "slow"]
        with parts.store.read() as tx:
            assert tx.turns.leaders()["tidy"] == (clock.now(), due, "heir")


def test_work_that_kills_its_process_is_tried_again_after_its_lease(tmp_path: Path) -> None:
    clock = SteppedClock()

    def deadly() -> str:
        raise Killed

    with opened(tmp_path, clock) as parts:
        dying = periodic_of(parts, deadly)
        first_time(parts, clock, dying)
        with pytest.raises(Killed):
            dying.run_due()
    with opened(tmp_path, clock) as parts:
        heir = periodic_of(parts, lambda: "well")
        assert heir.run_due() == {}
        clock.forward(LEASE)
        assert heir.run_due() == {"tidy": "well"}


@pytest.mark.parametrize(
    "error", [StoreError("the disk is full"), OSError(28, "the disk is full"), RuntimeError("the disk is full")]
)
def test_work_that_fails_is_told_due_again_and_stops_nothing_else(tmp_path: Path, error: Exception) -> None:
    clock = SteppedClock()
    done: list[str] = []

    def failing() -> str:
        done.append("failed")
        raise error

    with opened(tmp_path, clock) as parts:
        duties = {"backup": Duty(NIGHTLY, failing), "tidy": Duty(NIGHTLY, noting(done, "well"))}
        mine = Periodic(parts.store, parts.clock, LISBON, duties)
        assert mine.run_due() == {}
        clock.forward(DAY)
        told = mine.run_due()
        assert told["tidy"] == "well"
        assert told["backup"].startswith("failed: ")
        assert "the disk is full" in told["backup"]
        with parts.store.read() as tx:
            assert tx.turns.leaders()["backup"][2] == told["backup"]
        assert mine.run_due() == {}, "it is tried again at once"
        clock.forward(DAY)
        assert set(mine.run_due()) == {"backup", "tidy"}
        assert done == ["failed", "well"] * 2


def test_it_is_due_by_the_clocks_of_its_zone_through_the_night_in_which_they_are_put_back(tmp_path: Path) -> None:
    clock = SteppedClock()
    until(clock, datetime(2026, 10, 24, 12, tzinfo=UTC))
    done: list[datetime] = []

    def work() -> str:
        done.append(clock.now())
        return "well"

    with opened(tmp_path, clock) as parts:
        mine = periodic_of(parts, work)
        mine.run_due()
        for _ in range(2 * 24 * 12):
            clock.forward(5 * MINUTE)
            mine.run_due()
    assert [moment.astimezone(LISBON).strftime("%d %H") for moment in done] == ["25 03", "26 03"]
    assert all(moment.astimezone(LISBON).minute <= 6 for moment in done), "jitter is a minute at most"
    assert DAY - 6 * MINUTE < done[1] - done[0] < DAY + 6 * MINUTE


def test_what_was_missed_while_nothing_ran_is_done_once(tmp_path: Path) -> None:
    clock = SteppedClock()
    done: list[str] = []
    with opened(tmp_path, clock) as parts:
        periodic_of(parts, lambda: "").run_due()
    clock.forward(40 * DAY)
    with opened(tmp_path, clock) as parts:
        mine = periodic_of(parts, noting(done, "well"))
        assert mine.run_due() == {"tidy": "well"}
        assert mine.run_due() == {}
        assert done == ["well"]


def test_another_calendar_in_the_settings_holds_from_the_next_look_on(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        assert periodic_of(parts, lambda: "", "0 3 28 * *").run_due() == {}
        assert planned(parts) - clock.now() > 25 * DAY
    with opened(tmp_path, clock) as parts:
        often = periodic_of(parts, lambda: "well", "*/15 * * * *")
        assert often.run_due() == {}
        assert planned(parts) - clock.now() <= 16 * MINUTE, "the old calendar holds for a month"
        clock.forward(17 * MINUTE)
        assert often.run_due() == {"tidy": "well"}
        due = planned(parts)
        for _ in range(10):
            clock.forward(MINUTE / 4)
            often.run_due()
        assert planned(parts) == due, "looking at the calendar moves what is planned"


def test_a_clock_that_is_put_back_puts_work_off_by_no_more_than_its_calendar(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        often = periodic_of(parts, lambda: "well", "*/15 * * * *")
        first_time(parts, clock, often)
        often.run_due()
        clock.forward(-5 * HOUR)
        assert often.run_due() == {}
        clock.forward(17 * MINUTE)
        assert often.run_due() == {"tidy": "well"}


@pytest.mark.parametrize("calendar", ["sometimes", "* * * * * *", "0 0 31 2 *"])
def test_a_bad_calendar_is_refused_by_the_name_of_its_setting_and_leaves_nothing_open(
    tmp_path: Path, calendar: str
) -> None:
    embedder = new_store(tmp_path)
    with pytest.raises(InputError) as told:
        Memory(
            settings={"home": str(tmp_path), "database_url": address_of(tmp_path), "schedule_upkeep": calendar},
            embedder=embedder,
        )
    assert told.value.field == "schedule_upkeep"
    assert calendar in str(told.value)
    assert open_files(tmp_path) == []


def open_files(folder: Path) -> list[str]:
    """Return the files of a folder that this process holds open, where the system tells."""
    held = Path("/proc/self/fd")
    found = []
    for each in held.iterdir() if held.exists() else ():
        with suppress(FileNotFoundError):  # that of looking
            found.append(str(each.readlink()))
    return [name for name in found if name.startswith(str(folder))]


def test_without_a_calendar_nothing_is_done_and_no_thread_is_started(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        never = periodic_of(parts, lambda: "", "")
        never.start()
        clock.forward(400 * DAY)
        assert never.run_due() == {}
        assert not [thread for thread in threading.enumerate() if thread.name == "mnemic-periodic"]
        never.close()


def test_the_thread_goes_on_after_a_failure_and_ends_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(periodic, "_LOOK", 0.005)
    clock = SteppedClock()
    tried, well = threading.Event(), threading.Event()

    def work() -> str:
        if not tried.is_set():
            tried.set()
            raise OSError(28, "no space left on device")
        well.set()
        return "well"

    with opened(tmp_path, clock) as parts:
        mine = periodic_of(parts, work)
        mine.run_due()
        mine.start()
        mine.start()
        for event in (tried, well):
            for _ in range(1_000):
                clock.forward(DAY)
                if event.wait(0.03):
                    break
        assert well.is_set(), "the thread died of a failure"
        assert len([thread for thread in threading.enumerate() if thread.name == "mnemic-periodic"]) == 1
        mine.close()
        assert not [thread for thread in threading.enumerate() if thread.name == "mnemic-periodic"]
        mine.start()
        assert not [thread for thread in threading.enumerate() if thread.name == "mnemic-periodic"]


def test_upkeep_prunes_what_is_done_and_leaves_what_waits(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock, schedule_upkeep="0 * * * *") as parts:
        parts.remember.add("I live in Porto.", user="ann")
        assert parts.periodic.run_due() == {}
        for number in range(5):
            parts.remember.add(f"I like number{number}.", user="ann")
            while parts.worker.run_once():
                pass
        keeping = parts.jobs.list(user="ann")
        assert len(keeping) == 5
        parts.remember.add("I like tea.", user="ann")
    with opened(tmp_path, clock, schedule_upkeep="0 * * * *", jobs_kept=2) as parts:
        clock.forward(2 * HOUR)
        assert "old jobs removed" in parts.periodic.run_due()["upkeep"]
        left = parts.jobs.list(user="ann")
        assert [(job.kind, job.state) for job in left] == [(ORGANIZE, JobState.QUEUED), (ORGANIZE, JobState.DONE)]
