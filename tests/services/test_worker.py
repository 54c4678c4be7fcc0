"""Background work: leases, retries, death, and what must not stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic import wiring
from mnemic.config import Settings
from mnemic.core.extraction import extract
from mnemic.errors import JobError
from mnemic.model.job import KINDS, ORGANIZE, QUICK, Job, JobState
from mnemic.runtime import worker as room
from mnemic.runtime.worker import Handler, Tick, Worker, Workplace
from mnemic.services import learning
from mnemic.services.dispatching import LEASE, Dispatching, Limits, kinds_of
from tests.databases import address_of
from tests.services.opened import SteppedClock

pytestmark = pytest.mark.usefixtures("engine")

TRIES = KINDS[ORGANIZE].tries


@contextmanager
def opened(folder: Path, clock: SteppedClock) -> Iterator[wiring.Parts]:
    settings = Settings(home=str(folder), database_url=address_of(folder), embedder="hashing", worker=False)
    parts = wiring.build(settings, clock=clock)
    try:
        yield parts
    finally:
        parts.close()


def dispatching(parts: wiring.Parts) -> Dispatching:
    return Dispatching(parts.store, parts.clock, Limits())


def worker(parts: wiring.Parts, handler: Handler, idle: Callable[[], None] = lambda: None) -> Worker:
    place = Workplace(parts.store, parts.queue, dispatching(parts))
    return Worker(place, {ORGANIZE: handler}, idle=idle)


def state_of(parts: wiring.Parts, job: str) -> tuple[JobState, str | None]:
    with parts.store.read() as tx:
        tx.enter_all()
        found = tx.jobs.get(parts.scoping.for_read(tx, "ann").cubes[0].key, job)
    assert found is not None
    return found.state, found.error


def queued_job(parts: wiring.Parts) -> str:
    job = parts.remember.add("I live in Porto.", user="ann").job
    assert job is not None
    return job


def test_a_job_that_always_fails_ends_dead_with_its_traceback_and_is_told_to_who_waits(tmp_path: Path) -> None:
    clock = SteppedClock()

    def broken(_job: Job, _tick: Tick) -> None:
        raise RuntimeError("the disk of the moon is full")

    with opened(tmp_path, clock) as parts:
        job = queued_job(parts)
        at_work = worker(parts, broken)
        for attempt in range(TRIES):
            assert at_work.run_once(), attempt
            assert not at_work.run_once(), "a failed job is tried again without a pause"
            clock.forward(timedelta(minutes=5))
        state, error = state_of(parts, job)
        assert state is JobState.DEAD
        assert error is not None
        assert "the disk of the moon is full" in error
        with pytest.raises(JobError, match="moon") as told:
            parts.waiting.wait(None, job, user="ann", timeout=0)
        assert "Traceback" not in str(told.value), "the traceback is in the job, the error says what happened"


def test_a_job_whose_process_died_is_taken_over_when_its_lease_runs_out_and_not_before(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        job = queued_job(parts)
        assert dispatching(parts).claim("a process that died", QUICK, kinds_of(QUICK), 1)
        ran: list[int] = []
        heir = worker(parts, lambda job, _tick: ran.append(job.cube_key))
        assert not heir.run_once()
        clock.forward(LEASE)
        assert heir.run_once()
        assert len(ran) == 1
        assert state_of(parts, job)[0] is JobState.DONE


def test_a_job_that_kills_its_process_each_time_ends_dead(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        job = queued_job(parts)
        for _ in range(TRIES):
            assert dispatching(parts).claim("a process that died", QUICK, kinds_of(QUICK), 1)
            clock.forward(LEASE)
        ran: list[int] = []
        assert not worker(parts, lambda job, _tick: ran.append(job.cube_key)).run_once()
        assert not ran
        assert state_of(parts, job)[0] is JobState.DEAD


def test_a_long_job_keeps_its_lease_and_one_that_lost_it_stops_without_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "BEAT", timedelta(milliseconds=5))
    clock = SteppedClock()
    prolonged, stolen = threading.Event(), threading.Event()

    def long(_job: Job, tick: Tick) -> None:
        clock.forward(LEASE / 2)
        for _ in range(2_000):
            if not prolonged.is_set():
                with parts.store.read() as tx:
                    tx.enter_all()
                    found = tx.jobs.get(1, job)
                if found is not None and found.lease_until is not None and found.lease_until > clock.now() + LEASE / 2:
                    prolonged.set()
                    clock.forward(LEASE * 2)
                    if dispatching(parts).claim("another", QUICK, kinds_of(QUICK), 1):
                        stolen.set()
            tick(1)
            threading.Event().wait(0.002)
        raise AssertionError("it went on after its lease was lost")

    with opened(tmp_path, clock) as parts:
        job = queued_job(parts)
        assert worker(parts, long).run_once()
        assert prolonged.is_set()
        if stolen.is_set():
            assert state_of(parts, job)[0] is JobState.RUNNING, "the loser wrote over the winner's job"


def test_the_worker_outlives_an_error_between_jobs(tmp_path: Path) -> None:
    clock = SteppedClock()
    ran = threading.Event()
    fell = threading.Event()

    def idle() -> None:
        if not fell.is_set():
            fell.set()
            raise RuntimeError("no")

    with opened(tmp_path, clock) as parts:
        at_work = worker(parts, lambda _job, _tick: ran.set(), idle)
        at_work.wake()
        assert fell.wait(30)
        queued_job(parts)
        at_work.wake()
        assert ran.wait(30)
        at_work.close()


def test_a_message_that_extraction_fails_on_stays_a_message_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = extract

    def picky(text: str, **given: object) -> object:
        if "poison" in text:
            raise ValueError("this text cannot be read")
        return read(text, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(learning, "extract", picky)
    with opened(tmp_path, SteppedClock()) as parts:
        added = parts.remember.add(["A poison ivy grew there.", "I live in Porto."], user="ann")
        assert added.job is not None
        parts.waiting.wait(None, added.job, user="ann")
        assert state_of(parts, added.job)[0] is JobState.DONE
        texts = [hit.text for hit in parts.recall.search("Where does Ann live?", user="ann", kinds="memory")]
        assert texts == ["ann lives in Porto."]
        assert len(parts.recall.search("poison ivy", user="ann", kinds="message")) == 2
