"""How fairly workers are shared: one cube has very many jobs, and another's single job is to start soon all the same.

Counted in the rows themselves: how many jobs of the others began after the single one was committed and before it
began, beside how many ran at that moment.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from bench.scheduling.backlog import Backlog, announce
from bench.scheduling.engines import ENGINES, TITLES, Engine, Servers
from bench.scheduling.hands import workers
from bench.tables import Cell, Table
from bench.timing import quantile
from mnemic.model.job import EMBED, ORGANIZE
from mnemic.model.moment import to_micros

PATIENCE: Final = 120.0
"""Seconds that a single job has to begin."""


@dataclass(frozen=True, slots=True)
class Size:
    """Jobs of the one cube, single jobs of the other beside each number of workers, seconds that shares are watched."""

    jobs: int = 100_000
    singles: int = 25
    processes: Sequence[int] = (1, 2, 4)
    watched: float = 15.0


FULL: Final = Size()
SMALL: Final = Size(jobs=300, singles=2, processes=(1,), watched=1.0)


def tables(servers: Servers, *, quick: bool, engines: Sequence[str] = ENGINES) -> list[Table]:
    """Measure each engine."""
    size = SMALL if quick else FULL
    singles: list[list[Cell]] = []
    shares: list[list[Cell]] = []
    for name in engines:
        with servers.fresh(name) as engine:
            backlog = Backlog(engine)
            (hog,) = backlog.cubes(1)
            backlog.put([hog], size.jobs)
            singles += [[TITLES[name], *_singles(engine, backlog, hog, count, size)] for count in size.processes]
        with servers.fresh(name) as engine:
            shares.append([TITLES[name], *_shares(engine, size)])
    beside = ["engine", "workers", "queued", "singles", "others begun before it: p50", "p95", "most"]
    beside += ["seconds: p50", "p95", "most", "jobs/s of the one cube"]
    note = (
        f"One cube has so many jobs queued; in another a message is added, whose job is the single one, {size.singles} "
        "times. Counted: jobs of the one cube that began between the add's return and the single job's beginning. "
        f"Workers are processes of one thread, so that as many jobs run as there are workers. {os.cpu_count()} cores."
    )
    weighed = ["engine", "weight 4 : weight 1, jobs begun", "with 120 a minute, begun in s", "seconds", "at most"]
    told = (
        f"Two workers, {size.watched:g} s: two cubes of weights 4 and 1 with work waiting all the time; then one cube "
        "that may begin 120 jobs a minute, in bursts of as many, which it had not used before."
    )
    return [
        Table("(t) A single job beside a cube that has very many", beside, singles, note),
        Table("(t) Weights and rates", weighed, shares, told),
    ]


def _singles(engine: Engine, backlog: Backlog, hog: int, count: int, size: Size) -> list[Cell]:
    begun: list[float] = []
    waited: list[float] = []
    with workers(engine, count), engine.memory() as memory:
        announce(memory)
        _until_all_work(backlog, hog)
        queued, began = backlog.waiting(hog), time.monotonic()
        for number in range(size.singles):
            added = memory.add(f"I moved to Oslo, says note {number} beside {count}.", user="light")
            committed = to_micros(datetime.now(UTC))
            started = _start_of(engine, added.job or "")
            passed = f"kind = '{EMBED}' AND cube_key = {hog} AND started_at > {committed} AND started_at < {started}"
            begun.append(float(engine.ask(f"SELECT count(*) FROM job WHERE {passed}")[0][0]))  # noqa: S608
            waited.append(max(0.0, (started - committed) / 1e6))
            memory.jobs.wait(user="light", timeout=PATIENCE)
        pace = (queued - backlog.waiting(hog)) / (time.monotonic() - began)
    spread = [cell for found in (begun, waited) for cell in _spread(found)]
    return [count, queued, size.singles, *spread, pace]


def _until_all_work(backlog: Backlog, hog: int) -> None:
    """Wait until workers are at the one cube's jobs."""
    before, deadline = backlog.waiting(hog), time.monotonic() + PATIENCE
    while backlog.waiting(hog) > before - 20:
        if time.monotonic() > deadline:
            raise SystemExit("nobody works")
        time.sleep(0.1)


def _start_of(engine: Engine, job_id: str) -> int:
    """Return when a job began, in microseconds, as soon as it has."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = engine.ask(f"SELECT started_at FROM job WHERE id = '{job_id}' AND kind = '{ORGANIZE}'")  # noqa: S608
        if found and found[0][0] is not None:
            return int(found[0][0])
        time.sleep(0.02)
    raise SystemExit(f"the single job has not begun in {PATIENCE:g} s")


def _shares(engine: Engine, size: Size) -> list[Cell]:
    backlog = Backlog(engine)
    heavy, plain, limited = backlog.cubes(3)
    with engine.memory() as memory:
        memory.jobs.set_share(user="u0", weight=4.0)
    each = max(200, size.jobs // 10)
    backlog.put([heavy, plain], each)
    with workers(engine, 2):
        _until_all_work(backlog, plain)
        before = backlog.waiting(heavy), backlog.waiting(plain)
        time.sleep(size.watched)
        after = backlog.waiting(heavy), backlog.waiting(plain)
    got = [one - other for one, other in zip(before, after, strict=True)]
    backlog.clear()
    with engine.memory() as memory:
        memory.jobs.set_share(user="u2", per_minute=120)
    backlog.put([limited], each)
    with workers(engine, 2), engine.memory() as memory:
        announce(memory)
        began = time.monotonic()
        time.sleep(size.watched)
        begun, seconds = each - backlog.waiting(limited), time.monotonic() - began
    return [got[0] / got[1] if got[1] else None, begun, seconds, round(120 + 2 * seconds)]


def _spread(values: Sequence[float]) -> list[Cell]:
    return [quantile(values, 0.5), quantile(values, 0.95), max(values)]
