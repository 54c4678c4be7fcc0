"""How long an add takes to be acknowledged while very many jobs wait, beside the same with none, and a bare insert."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from bench.scheduling.backlog import Backlog
from bench.scheduling.engines import ENGINES, TITLES, Engine, Servers
from bench.scheduling.hand import bare_insert
from bench.scheduling.hands import workers
from bench.tables import Cell, Table
from bench.timing import Timing, quantile

WAITING: Final = 10_000
CUBES: Final = 200
ADDS: Final = 400


def tables(servers: Servers, *, quick: bool, engines: Sequence[str] = ENGINES) -> list[Table]:
    """Measure each engine."""
    waiting, cubes, adds = (200, 4, 10) if quick else (WAITING, CUBES, ADDS)
    rows: list[list[Cell]] = []
    for name in engines:
        with servers.fresh(name) as engine:
            backlog = Backlog(engine)
            keys = backlog.cubes(cubes)
            bare, none = _taken(engine, adds, "first")
            rows.append([TITLES[name], "bare insert and commit", 0, *_told(bare, bare)])
            rows.append([TITLES[name], "add, nothing else waits", 0, *_told(none, bare)])
            backlog.put(keys, waiting // cubes)
            bare, still = _taken(engine, adds, "second")
            rows.append([TITLES[name], "add, nobody works", backlog.waiting(), *_told(still, bare)])
            backlog.drop_others()
            with workers(engine, 1):
                bare, busy = _taken(engine, adds, "third")
                rows.append([TITLES[name], "add, a worker works", backlog.waiting(), *_told(busy, bare)])
    columns = ["engine", "what", "jobs that wait", "p50 ms", "p95 ms", "p99 ms", "p50 : bare insert"]
    note = (
        f"{adds} adds of one message by one process, in turns with a bare insert that waits for the disk as long; the "
        "hashing embedder, each row in a cube of its own, which the worker organizes meanwhile. The jobs are of "
        f"{cubes} other cubes, find nothing to do, and are counted at the end of the row's adds. {os.cpu_count()} "
        "cores for the adder, the worker and the servers."
    )
    return [Table("(t) Acknowledging an add while jobs wait", columns, rows, note)]


def _taken(engine: Engine, count: int, user: str) -> tuple[Timing, Timing]:
    bare, adds = Timing(), Timing()
    insert = bare_insert(engine.settings)
    with engine.memory() as memory:
        for number in range(count + 5):
            text = f"I moved to Oslo, says note {number} about gardens and music."
            if number == 5:  # the first ones open what later ones find open
                bare, adds = Timing(), Timing()
            bare.take(lambda: insert(number))  # noqa: B023 - run before the next turn
            adds.take(lambda: memory.add(text, user=user))  # noqa: B023
    return bare, adds


def _told(timing: Timing, bare: Timing) -> list[Cell]:
    return [*(quantile(timing.wall, share) for share in (0.5, 0.95, 0.99)), timing.p50 / bare.p50]
