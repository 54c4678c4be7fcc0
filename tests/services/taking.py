"""What tests of whose turn it is share: cubes, jobs that wait in them, and taking these as a worker does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from mnemic import wiring
from mnemic.ids import new_id
from mnemic.model.job import ORGANIZE, QUICK, Job, Share, queued
from mnemic.model.scope import Cube, CubeKind
from mnemic.services.dispatching import Dispatching, Limits, kinds_of
from tests.services.opened import SteppedClock, open_parts


@contextmanager
def opened(folder: Path, clock: SteppedClock | None, **settings: Any) -> Iterator[wiring.Parts]:
    parts = open_parts(folder, clock, **settings)
    try:
        yield parts
    finally:
        parts.close()


def dispatching(parts: wiring.Parts, limits: Limits | None = None) -> Dispatching:
    return Dispatching(parts.store, parts.clock, limits or Limits())


def cubes_of(parts: wiring.Parts, *owners: str) -> list[Cube]:
    with parts.store.write() as tx:
        tx.enter_all()
        return [tx.cubes.create(new_id(), "personal", CubeKind.PERSONAL, owner, parts.clock.now()) for owner in owners]


def put(parts: wiring.Parts, cube: Cube, kind: str = ORGANIZE, *, merges: bool = False, **changed: Any) -> str:
    """Queue a job, one that does not merge unless it is told to."""
    with parts.store.write() as tx:
        tx.enter(cube.key)
        job = queued(new_id(), cube.key, kind, parts.clock.now())
        return tx.jobs.put(replace(job, merge="" if merges else job.id, **changed))


def claim(
    rows: Dispatching, lane: str = QUICK, *, most: int = 1, worker: str = "w", kinds: Sequence[str] | None = None
) -> Sequence[Job]:
    return rows.claim(worker, lane, kinds_of(lane) if kinds is None else kinds, most)


def set_share(parts: wiring.Parts, cube: Cube, share: Share) -> None:
    with parts.store.write() as tx:
        tx.enter(cube.key)
        tx.turns.set_share(cube.key, share)


def job_of(parts: wiring.Parts, cube: Cube, job_id: str) -> Job:
    with parts.store.read() as tx:
        tx.enter(cube.key)
        found = tx.jobs.get(cube.key, job_id)
    assert found is not None
    return found
