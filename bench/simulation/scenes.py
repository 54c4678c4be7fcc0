"""What is simulated: everyday traffic with a burst, and small scenes in which rules of sharing differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from bench.simulation.order import Rule
from bench.simulation.running import Plan, Run, Simulation
from bench.simulation.streams import Shard
from bench.simulation.traffic import (
    FEEDBACK,
    INGEST,
    KINDS_HERE,
    MIXES,
    Traffic,
    arrivals,
    seconds_of,
    with_burst,
)
from mnemic.model.job import ORGANIZE, QUICK, Kind

WATCHED: Final = 1
"""The rank of the cube whose waiting a small scene is about."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a simulation is. `seconds` of arrivals in each lane, `burst` jobs of one cube after a seventh of it."""

    workers: int = 1_000
    cubes: int = 10_000_000
    exponent: float = 1.0
    quick_seconds: float = 12.0
    slow_seconds: float = 600.0
    burst: int = 100_000
    ahead: int = 1_000
    seed: int = 5

    def seconds(self, lane: str) -> float:
        """Return how long jobs of a lane come in."""
        return self.quick_seconds if lane == QUICK else self.slow_seconds


FULL: Final = Size()
SMALL: Final = Size(workers=20, cubes=10_000, quick_seconds=3.0, slow_seconds=120.0, burst=400, ahead=20)


def traffic_of(size: Size, lane: str, load: float, *, burst: bool) -> Traffic:
    """Draw what comes in, so that workers would be busy for `load` of their time with what does not merge.

    A first, short run finds out how much of it merges.
    """
    mix = MIXES[lane]
    draws = np.random.default_rng(size.seed)
    rate = load * size.workers / seconds_of(mix)

    def drawn(rate: float, seconds: float) -> Traffic:
        count = max(200, int(rate * seconds))
        return arrivals(mix, rate=rate, count=count, cubes=size.cubes, exponent=size.exponent, draws=draws)

    probe = drawn(rate, size.seconds(lane) / 8)
    took = Simulation(probe, Plan(lane, size.workers * 4), lambda _key, _shards: 0).run()
    kept = float(took.traffic.seconds[np.isfinite(took.started)].sum() / probe.seconds.sum())
    found = drawn(rate / kept, size.seconds(lane))
    if not burst:
        return found
    at, seconds = size.seconds(lane) / 7, next(each.seconds for each in mix if each.kind is INGEST)
    return with_burst(found, at=at, count=size.burst, kind=INGEST.name, seconds=seconds, cubes=size.cubes)


def run(traffic: Traffic, plan: Plan, shard_of: Shard) -> Run:
    """Simulate, and make sure that each job came to its end once."""
    done = Simulation(traffic, plan, shard_of).run()
    if wrong := done.check():
        raise SystemExit(f"the simulation is wrong: {'; '.join(wrong)}")
    return done


@dataclass(frozen=True, slots=True)
class Part:
    """Jobs of a scene: so many of a kind of each cube, the first at `at` and another after each `every` seconds."""

    kind: Kind
    cubes: Sequence[int]
    count: int
    every: float
    at: float = 0.0
    seconds: float = 0.05
    rank: int = 2


def scene(parts: Sequence[Part]) -> Traffic:
    """Return the jobs of all parts in the order of their arrival."""
    names = tuple(dict.fromkeys(part.kind for part in parts))
    rows = [
        (part.at + number * part.every, cube, part.rank, names.index(part.kind), part.seconds)
        for part in parts
        for number in range(part.count)
        for cube in part.cubes
    ]
    rows.sort(key=lambda row: row[0])
    times, cubes, ranks, kinds, seconds = (np.array(column) for column in zip(*rows, strict=True))
    return Traffic(names, times.astype(float), cubes, ranks, kinds, seconds.astype(float))


@dataclass(frozen=True, slots=True)
class Scene:
    """A small scene in which one cube is watched: how long it waits, or how much more than others it gets."""

    name: str
    traffic: Traffic
    weight: float = 1.0
    until: float = 0.0

    def told(self, rule: Rule) -> str:
        """Return what the watched cube comes to under a rule."""
        plan = Plan(QUICK, _SCENE_WORKERS, rule=rule, weights=((1, self.weight),))
        done = run(self.traffic, plan, lambda _key, _shards: 0)
        watched = self.traffic.ranks == WATCHED
        if not self.until:
            ages = done.ages[watched]
            return f"{np.nanmax(ages):.2f} s"
        begun = done.started < self.until
        plain = self.traffic.ranks == _PLAIN
        others = (begun & plain).sum() / len(np.unique(self.traffic.cubes[plain]))
        return f"{(begun & watched).sum() / others:.1f} times"


_SCENE_WORKERS: Final = 8
_PLAIN: Final = 2
_ORGANIZE: Final = KINDS_HERE[ORGANIZE]
_TALKS = Part(FEEDBACK, [9], 500, 0.05, seconds=0.02, rank=3)


def scenes() -> Sequence[Scene]:
    """Return scenes for eight workers; a job takes 50 ms, feedback 20."""
    new = [
        Part(_ORGANIZE, range(1_000 + 176 * second, 1_176 + 176 * second), 1, 0.0, at=float(second), rank=3)
        for second in range(20)
    ]
    return (
        Scene(
            "a cube has 4,000 jobs; another adds every second and waits at most",
            scene([Part(INGEST, [9], 4_000, 0.0), Part(_ORGANIZE, [1], 20, 1.0, at=1.0, rank=WATCHED)]),
        ),
        Scene(
            "100 cubes have 40 jobs each, one talks 20 times a second; another adds every 2 s and waits at most",
            scene(
                [
                    Part(INGEST, range(100, 200), 40, 0.0),
                    _TALKS,
                    Part(_ORGANIZE, [1], 12, 2.0, at=1.0, rank=WATCHED),
                ]
            ),
        ),
        Scene(
            "new cubes bring a tenth more than can be done; an older one adds every second and waits at most",
            scene([*new, Part(_ORGANIZE, [1], 19, 1.0, at=0.5, rank=WATCHED)]),
        ),
        Scene(
            "50 cubes have 60 jobs each, one talks 20 times a second; one of weight 10 gets as much as theirs",
            scene([Part(INGEST, range(100, 150), 60, 0.0), _TALKS, Part(INGEST, [1], 600, 0.0, rank=WATCHED)]),
            weight=10.0,
            until=15.0,
        ),
    )
