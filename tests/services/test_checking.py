"""Looking the background work over: what is dead, due for long, left behind, or late."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from mnemic import wiring
from mnemic.config import Settings
from mnemic.model.job import ORGANIZE, QUICK
from mnemic.services.checking import LATE, PATIENCE, check_work
from mnemic.services.dispatching import LEASE, Dispatching, Limits, tries_of
from tests.services.opened import SteppedClock


@contextmanager
def opened(folder: Path, clock: SteppedClock) -> Iterator[wiring.Parts]:
    parts = wiring.build(Settings(home=str(folder), embedder="hashing", worker=False), clock=clock)
    try:
        yield parts
    finally:
        parts.close()


def looked(parts: wiring.Parts) -> dict[str, tuple[bool, str]]:
    return {name: (well, told) for name, well, told in check_work(parts.store, parts.clock)}


def test_a_store_in_which_nothing_was_done_is_well(tmp_path: Path) -> None:
    with opened(tmp_path, SteppedClock()) as parts:
        assert looked(parts) == {
            "dead jobs": (True, "none"),
            "due jobs": (True, "none"),
            "leases": (True, "none is over"),
            "periodic work": (True, "none has been done yet"),
        }


def test_jobs_that_nobody_does_for_long_are_told(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        parts.remember.add("I live in Porto.", user="ann")
        clock.forward(PATIENCE - timedelta(seconds=1))
        assert looked(parts)["due jobs"] == (True, "1 wait, the first has been due for 10 min")
        clock.forward(timedelta(hours=3))
        assert looked(parts)["due jobs"] == (False, "1 wait, the first has been due for 3 h")


def test_a_job_whose_worker_fell_silent_is_told_until_another_has_it(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        parts.remember.add("I live in Porto.", user="ann")
        dispatching = Dispatching(parts.store, clock, Limits())
        assert len(dispatching.claim("a process that died", QUICK, [ORGANIZE], 1)) == 1
        assert looked(parts)["leases"] == (True, "none is over")
        clock.forward(LEASE)
        assert looked(parts)["leases"] == (False, "over, and not taken over: 1 organize")
        assert parts.worker.run_once()
        assert looked(parts)["leases"] == (True, "none is over")


def test_dead_jobs_are_told_by_kind(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        parts.remember.add("I live in Porto.", user="ann")
        dispatching = Dispatching(parts.store, clock, Limits())
        for _ in range(tries_of(ORGANIZE)):
            assert dispatching.claim("a process that dies", QUICK, [ORGANIZE], 1)
            clock.forward(LEASE)
        assert not dispatching.claim("a process that dies", QUICK, [ORGANIZE], 1)
        assert looked(parts)["dead jobs"] == (False, "1 organize")


def test_periodic_work_that_is_late_or_failed_is_told(tmp_path: Path) -> None:
    clock = SteppedClock()
    with opened(tmp_path, clock) as parts:
        now = clock.now()
        with parts.store.write() as tx:
            assert tx.turns.lead("upkeep", "a", now, now + LATE, due=now)
            assert tx.turns.led("upkeep", "a", now, now + timedelta(minutes=15), "3 old jobs removed")
        clock.forward(timedelta(minutes=5))
        assert looked(parts)["periodic work"] == (True, "upkeep done 5 min ago, due in 10 min")
        clock.forward(timedelta(hours=2))
        well, told = looked(parts)["periodic work"]
        assert (well, told) == (False, "upkeep done 2 h ago, due for 110 min")
        now = clock.now()
        with parts.store.write() as tx:
            assert tx.turns.lead("upkeep", "b", now, now + LATE, due=now)
            assert tx.turns.led("upkeep", "b", now, now + timedelta(minutes=15), "failed: the disk is full")
        well, told = looked(parts)["periodic work"]
        assert not well and told.endswith("failed: the disk is full")
