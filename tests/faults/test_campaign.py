"""Processes are killed, servers restarted, emptied and cut off, clocks stepped and disks full: nothing is lost.

A short campaign by a seed; `./dev faults` runs long ones. What it finds wrong, it must find: that is checked too.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.faults.campaign import Plan, run
from bench.faults.checking import check
from bench.faults.lives import SETTINGS, Said, acknowledged
from bench.faults.places import ENGINES, Place, place_of
from mnemic import Memory
from mnemic.model.memory import Memory as Record

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL, limits of files")


@pytest.mark.parametrize("engine", ENGINES)
def test_whatever_happens_nothing_is_lost_invented_or_done_twice(engine: str) -> None:
    course = run(Plan(engine, seed=20_261, seconds=6.0, adders=2, workers=1))
    assert course.findings.wrong == []
    assert course.kills and course.findings.told and course.findings.jobs["done"]


def add(place: Place, ledger: Path, stored: int, told: int) -> None:
    """Store so many messages of one adder, and note so many in its ledger."""
    with Memory(settings={**place.settings, **SETTINGS, "worker": False}) as memory:
        for said in (Said("a", number) for number in range(stored)):
            memory.add(said.message, user=said.user, session=said.session)
    ledger.write_text("".join(f"\n{number} id\n" for number in range(told)))


def test_what_was_stored_and_not_acknowledged_is_no_fault(tmp_path: Path) -> None:
    with place_of("sqlite") as place:
        add(place, tmp_path / "a", stored=9, told=8)
        found = check(place, {"a": tmp_path / "a"})
        assert found.wrong == [] and found.told == 8


def test_what_is_lost_or_invented_is_found(tmp_path: Path) -> None:
    with place_of("sqlite") as place:
        add(place, tmp_path / "a", stored=8, told=9)
        with Memory(settings={**place.settings, **SETTINGS, "worker": False}) as memory:
            memory.add("I never said this.", user="au1")
        found = check(place, {"a": tmp_path / "a"})
        assert found.lost == found.not_found == [Said("a", 8).text]
        assert found.invented == ["au1: I never said this."]


def test_what_was_derived_otherwise_is_found(tmp_path: Path) -> None:
    with place_of("sqlite") as place:
        add(place, tmp_path / "a", stored=12, told=12)
        with Memory(settings={**place.settings, **SETTINGS, "worker": False}) as memory:
            memory.jobs.wait(user="au0")
            known = next(item for item in memory.list(user="au0", kinds=["fact"]) if isinstance(item, Record))
            memory.forget(known.id, user="au0")
        found = check(place, {"a": tmp_path / "a"})
        assert len(found.differing) == 1 and "au0: missing" in found.differing[0]


def test_a_line_that_was_cut_off_acknowledges_nothing(tmp_path: Path) -> None:
    ledger = tmp_path / "a"
    ledger.write_bytes(b"\n0 x\n\n1 y\nStoreError\n\n2 ")
    assert acknowledged(ledger) == [0, 1]
