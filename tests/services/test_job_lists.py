"""Jobs told in order: cursors that go on where a job was told, and lists that are read to their end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.api import Memory
from mnemic.errors import InputError
from mnemic.model.job import EMBED, REFINE, cursor_of, place_of
from tests.services.opened import SteppedClock, open_memory
from tests.services.test_jobdesk import put

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def memory(tmp_path: Path, clock: SteppedClock) -> Iterator[Memory]:
    with open_memory(tmp_path, clock=clock) as opened:  # type: ignore[arg-type]  # a clock is a clock
        yield opened


NO_PLACES = ["yesterday", "", " ", "2026-01-01T00:00:00 x", "2026-01-01T00:00:00+00:00", 7]


@pytest.mark.parametrize("given", NO_PLACES, ids=repr)
def test_events_since_what_is_no_job_are_refused_at_once(memory: Memory, given: Any) -> None:
    with pytest.raises(InputError) as told:
        memory.jobs.events(user="ann", since=given, timeout=0)
    assert told.value.field == "since"


def test_the_cursor_of_a_job_goes_on_where_the_job_does(memory: Memory, clock: SteppedClock) -> None:
    jobs = [put(memory)]
    [first] = list(memory.jobs.events(user="ann", timeout=0))
    clock.forward(timedelta(seconds=1))
    jobs.append(put(memory, REFINE))
    assert place_of(cursor_of(first)) == (first.changed_at, first.id)
    behind = list(memory.jobs.events(user="ann", since=cursor_of(first), timeout=0))
    assert behind == list(memory.jobs.events(user="ann", since=first, timeout=0))
    assert [job.id for job in behind] == jobs[1:]


def test_all_jobs_are_yielded_over_the_ends_of_pages(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.services.jobdesk.PAGE", 2)
    jobs = []
    for kind in (EMBED, REFINE, EMBED, EMBED, REFINE):
        jobs.append(put(memory, kind))
        memory.jobs.cancel(jobs[-1], user="ann")
    every = list(memory.jobs.iterate(user="ann"))
    assert [job.id for job in every] == jobs[::-1]
    assert every == list(memory.jobs.list(user="ann"))
    assert [job.id for job in memory.jobs.iterate(user="ann", kinds=REFINE, states="cancelled")] == [jobs[4], jobs[1]]
    assert [job.id for job in memory.jobs.iterate(user="ann", after=jobs[2])] == [jobs[1], jobs[0]]
    with pytest.raises(InputError):
        memory.jobs.iterate(user="ann", states="nowhere")
