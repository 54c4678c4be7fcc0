"""The simulation gives turns as the scheduler does: what it says of a thousand workers is said of this code."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from bench.simulation.order import Order, Rule
from mnemic.ids import new_id
from mnemic.model.job import EMBED, KINDS, ORGANIZE, QUICK, RETEXT, Priority, Share, queued
from mnemic.services.dispatching import kinds_of
from tests.services.opened import SteppedClock
from tests.services.test_dispatching import cubes_of, dispatching, opened

Told = tuple[int, str]
"""The place of a cube in the list of cubes, and a kind."""

WEIGHTS = (1.0, 1.0, 2.5, 0.6, 1.0, 1.0)
PRIORITIES = {ORGANIZE: Priority.NORMAL, EMBED: Priority.INTERACTIVE, RETEXT: Priority.BACKGROUND}
FIRST: list[Told] = [
    *((cube, ORGANIZE) for cube in range(5) for _ in range(40)),
    *((cube, EMBED) for cube in (0, 1) for _ in range(30)),
    *((cube, RETEXT) for cube in (1, 2) for _ in range(10)),
]
LATER: dict[int, list[Told]] = {20: [(5, ORGANIZE)] * 30, 60: [(5, EMBED)] * 10, 90: [(3, EMBED), (4, RETEXT)]}
"""What is queued after so many jobs have begun: a cube that was not seen before, and others that were."""
TURNS = 130


def really(folder: Path) -> list[Told]:
    """Return what the scheduler has one worker begin."""
    clock = SteppedClock()
    with opened(folder, clock) as parts:
        rows, cubes = dispatching(parts), cubes_of(parts, *"abcdef")
        places = {cube.key: place for place, cube in enumerate(cubes)}

        def put(told: list[Told]) -> None:
            with parts.store.write() as tx:
                tx.enter_all()
                for place, kind in told:
                    job = queued(new_id(), cubes[place].key, kind, clock.now())
                    tx.jobs.put(replace(job, merge=job.id, alone=False, priority=PRIORITIES[kind]))

        with parts.store.write() as tx:
            tx.enter_all()
            for cube, weight in zip(cubes, WEIGHTS, strict=True):
                tx.turns.set_share(cube.key, Share(weight=weight))
        put(FIRST)
        begun: list[Told] = []
        for turn in range(TURNS):
            put(LATER.get(turn, []))
            (job,) = rows.claim("w", QUICK, kinds_of(QUICK), 1)
            begun.append((places[job.cube_key], job.kind))
            assert rows.end(rows.done(job, 1), "w")
        return begun


def simulated() -> list[Told]:
    """Return what the simulation has one worker begin."""
    names = list(PRIORITIES)
    kinds = [replace(KINDS[name], alone=False, merges=False, priority=PRIORITIES[name]) for name in names]
    order = Order(kinds, [0.0] * 1_000, rule=Rule.HALF_ON)
    order.weights = dict(enumerate(WEIGHTS))
    jobs = iter(range(1_000))

    def put(told: list[Told]) -> None:
        for place, kind in told:
            order.add(next(jobs), place, names.index(kind))

    put(FIRST)
    begun: list[Told] = []
    for turn in range(TURNS):
        put(LATER.get(turn, []))
        head = order.next(QUICK, turn)
        assert head is not None
        order.start(head)
        order.ended(head.cube, head.kind)
        begun.append((head.cube.key, names[head.kind]))
    return begun


def test_the_scheduler_begins_what_the_simulation_begins(tmp_path: Path) -> None:
    real, told = really(tmp_path), simulated()
    assert [kind for _, kind in real] == [kind for _, kind in told]
    ours, theirs = Counter[Told](), Counter[Told]()
    for one, other in zip(real, told, strict=True):
        ours[one] += 1
        theirs[other] += 1
        assert all(abs(ours[each] - theirs[each]) <= 1 for each in ours | theirs), "ties may be broken otherwise"
