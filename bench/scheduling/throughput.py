"""Jobs and adds a second with 1, 2 and 4 processes, beside bare loops over the same engine by as many processes."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench.scheduling.backlog import OPEN, Backlog, pace
from bench.scheduling.engines import ENGINES, TITLES, Engine, Servers
from bench.scheduling.hands import together, workers
from bench.tables import Cell, Table
from mnemic.model.job import ORGANIZE


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured: seconds of each loop, jobs and cubes of the backlog, cubes with a message to refine."""

    processes: Sequence[int] = (1, 2, 4)
    seconds: float = 6.0
    jobs: int = 12_000
    cubes: int = 60
    refined: int = 240


FULL: Final = Size()
SMALL: Final = Size(processes=(1,), seconds=0.5, jobs=400, cubes=4, refined=8)


def tables(servers: Servers, *, quick: bool, engines: Sequence[str] = ENGINES) -> list[Table]:
    """Measure each engine."""
    size = SMALL if quick else FULL
    rows: list[list[Cell]] = []
    for name in engines:
        with servers.fresh(name) as engine:
            backlog = Backlog(engine)
            cubes = backlog.cubes(size.cubes)
            backlog.put(cubes, size.jobs // size.cubes)
            for_each = ((count, _measured(engine, backlog, cubes, count, size)) for count in size.processes)
            rows += [[TITLES[name], count, *found] for count, found in for_each]
    columns = ["engine", "processes", "bare insert/s", "bare stream/s", "adds/s", "adds : insert"]
    columns += ["empty jobs/s", "jobs : insert", "jobs : stream", "organize jobs/s"]
    note = (
        f"{os.cpu_count()} cores for all: processes, servers and what else runs here. Each figure is of so many "
        f"processes at once, {size.seconds:g} s each: a bare insert and commit that waits for the disk; XADD, "
        "XREADGROUP, XACK; `Memory.add` of a message with the hashing embedder, each process its own user; jobs that "
        f"find nothing to do, {size.cubes} cubes with a backlog; jobs that read one new message each. Workers are "
        "processes of one thread."
    )
    return [Table("(t) Throughput", columns, rows, note)]


def _measured(engine: Engine, backlog: Backlog, cubes: Sequence[int], count: int, size: Size) -> list[Cell]:
    inserts = together("insert", count, size.seconds / 2, engine)
    streams = together("stream", count, size.seconds / 2, engine) if engine.name == "redis" else None
    adds = together("add", count, size.seconds, engine)
    backlog.drop_others()
    if backlog.waiting() < size.jobs / 2:
        backlog.put(cubes, size.jobs // size.cubes)
    with workers(engine, count):
        time.sleep(min(2.0, size.seconds))  # each has taken its first by then
        jobs = pace(backlog, size.seconds)
    organized = _organized(engine, backlog, count, size)
    inserts = (inserts + together("insert", count, size.seconds / 2, engine)) / 2
    streams_told = jobs / streams if streams else None
    return [inserts, streams, adds, adds / inserts, jobs, jobs / inserts, streams_told, organized]


def _organized(engine: Engine, backlog: Backlog, count: int, size: Size) -> float:
    """Return how many jobs a second read one new message each."""
    backlog.clear()
    with engine.memory() as memory:
        for number in range(size.refined):
            memory.add(f"I moved to Oslo, says {number} in round {count}.", user=f"u{number}")
    left = f"SELECT count(*) FROM job WHERE kind = '{ORGANIZE}' AND {OPEN}"  # noqa: S608 - words of ours
    with workers(engine, count):
        marks: list[tuple[float, int]] = []
        while not marks or marks[-1][1]:
            marks.append((time.perf_counter(), int(engine.ask(left)[0][0])))
            time.sleep(0.05)
    busy = [mark for mark in marks if size.refined * 0.1 <= mark[1] <= size.refined * 0.9] or marks
    (began, first), (ended, last) = busy[0], busy[-1]
    return (first - last) / (ended - began) if ended > began else float(size.refined)
