"""The figures of the simulation as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.simulation.order import PRIORITIES, Rule
from bench.simulation.running import Plan, Run
from bench.simulation.scenes import Size, run, scenes, traffic_of
from bench.simulation.streams import Shard
from bench.simulation.traffic import BURST, INGEST, MIXES, Traffic, seconds_of
from bench.tables import Cell, Table
from mnemic.model.job import QUICK, SLOW

LOADS: Final = (0.5, 0.8, 0.95, 1.05)
SHARES: Final = (0.5, 0.95, 0.99, 0.999)
DEATHS: Final = 1e-4
"""Jobs in which a worker dies."""
RULE: Final = Rule.HALF_ON
LIGHT: Final = 0.01
"""Cubes beyond this share of all, by how busy they are, are called light."""
HEAVIEST: Final = 10
SHARDS: Final = (4, 16, 64, 256)
CLAIMING: Final = (0.0, 0.02e-3, 0.1e-3, 0.5e-3, 2e-3)

_QUEUES: Final = (("database", 0), ("streams", 16))
_AGES: Final = ("p50", "p95", "p99", "p99.9")


def ages(size: Size, shard_of: Shard) -> list[Table]:
    """Return how long jobs wait, by who brought them and by priority, with a burst in the quick lane."""
    by_cube: list[list[Cell]] = []
    by_priority: list[list[Cell]] = []
    for lane in (QUICK, SLOW):
        for load in LOADS:
            traffic = traffic_of(size, lane, load, burst=lane == QUICK)
            for queue, shards in _QUEUES if lane == QUICK else _QUEUES[:1]:
                plan = Plan(lane, size.workers, rule=RULE, shards=shards, ahead=size.ahead, deaths=DEATHS)
                done = run(traffic, plan, shard_of)
                head: list[Cell] = [lane, queue, load]
                by_cube.append([*head, len(traffic.times), _percent(done.merged, traffic), *_by_cube(done, size)])
                by_priority.append([*head, *_by_priority(done)])
    workers = f"{size.workers:,} workers, {size.cubes:,} cubes, Zipf with exponent {size.exponent:g}"
    note = (
        f"{workers}. A load of 1 keeps all workers busy with what does not merge. In the quick lane one cube queues "
        f"{size.burst:,} jobs at one moment on top of it. A worker dies in one of {1 / DEATHS:,.0f} jobs. Seconds from "
        f"a job's arrival to its beginning. Light: cubes beyond the first {size.cubes * LIGHT:,.0f}; heaviest: the "
        f"first {HEAVIEST}, whose jobs run one at a time."
    )
    heads = ("lane", "queue", "load")
    columns = [*heads, "jobs", "merged %", *(f"{who} {at}" for who in ("all but the burst:", "light:") for at in _AGES)]
    columns += ["heaviest: p50", "p99", "burst's cube: p50", "p99", "cubes at once"]
    urgent = [*heads, *(f"{each.name.lower()}: {at}" for each in PRIORITIES for at in ("p50", "p99", "p99.9"))]
    return [
        Table("(s) How long jobs wait, by whose they are", columns, by_cube, note),
        Table("(s) The same by priority, without the burst's cube and the heaviest", urgent, by_priority),
    ]


def burst(size: Size, shard_of: Shard, load: float = 0.8) -> Table:
    """Return what a single job of a light cube goes through while another cube has very many queued."""
    traffic = traffic_of(size, QUICK, load, burst=True)
    rows: list[list[Cell]] = []
    ways = (
        ("database, first come, first served", Rule.FIRST_COME, 0, 0),
        ("database, in the order of turns", RULE, 0, 0),
        (f"streams, {size.workers // 20} of a priority on their way", RULE, 16, size.workers // 20),
        (f"streams, {size.workers} of a priority on their way", RULE, 16, size.workers),
    )
    at = traffic.times[traffic.ranks == BURST][0]
    alike = traffic.priorities == INGEST.priority
    for name, rule, shards, ahead in ways:
        done = run(traffic, Plan(QUICK, size.workers, rule=rule, shards=shards, ahead=ahead), shard_of)
        over = np.nanmax(done.started[traffic.ranks == BURST])
        during = _light(traffic, size) & alike & (traffic.times > at) & (traffic.times < over)
        during &= np.isfinite(done.started)
        passed, waited = done.passed[during], done.ages[during] * 1e3
        rows.append([name, int(during.sum()), float(over - at), *_spread(passed), *_spread(waited)])
    columns = ["queue", "single jobs", "the burst lasts s", "jobs of the burst before it: p50", "p99", "most"]
    columns += ["waited ms: p50", "p99", "most"]
    note = (
        f"Jobs of light cubes, of the burst's priority, while one cube has {size.burst:,} queued; a load of {load:g}, "
        f"{size.workers:,} workers, no deaths. A job of the burst takes 80 ms."
    )
    return Table("(s) A single job beside a cube that has very many", columns, rows, note)


def shards(size: Size, shard_of: Shard, load: float = 0.95) -> Table:
    """Return how unevenly streams are used."""
    traffic = traffic_of(size, QUICK, load, burst=False)
    done = run(traffic, Plan(QUICK, size.workers, rule=RULE), shard_of)
    began = np.isfinite(done.started)
    rows: list[list[Cell]] = []
    for count in SHARDS:
        keys, places = np.unique(traffic.cubes, return_inverse=True)
        shard = np.array([shard_of(int(key), count) for key in keys])[places]
        tame = traffic.ranks > HEAVIEST
        rows.append([count, *(_hottest(shard[which], count) for which in (slice(None), began, tame & began))])
    columns = ["shards", "all that arrives", "what runs", f"without the {HEAVIEST} heaviest cubes"]
    cubes = len(np.unique(traffic.cubes))
    note = f"Jobs of the hottest shard against the mean; {len(traffic.times):,} jobs of {cubes:,} cubes come in."
    return Table("(s) The hottest shard", columns, rows, note)


def rules() -> Table:
    """Return what one watched cube comes to in small scenes, by the rule of sharing."""
    found = scenes()
    rows = [[rule.value, *(each.told(rule) for each in found)] for rule in Rule]
    note = "Eight workers. The last rule is the one that is used."
    return Table("(s) What other rules would do", ["rule", *(each.name for each in found)], rows, note)


def claiming(size: Size, shard_of: Shard) -> Table:
    """Return how many jobs are done a second when taking one keeps others from taking theirs."""
    rows: list[list[Cell]] = []
    mix = MIXES[QUICK]
    for seconds in CLAIMING:
        part = traffic_of(size, QUICK, 1.05, burst=False).until(size.quick_seconds / 6)
        done = run(part, Plan(QUICK, size.workers, rule=RULE, claiming=seconds), shard_of)
        begun = int((done.started < part.times[-1]).sum())
        ceiling = min(size.workers / seconds_of(mix), 1 / seconds if seconds else float("inf"))
        rows.append([seconds * 1e3, float(begun / part.times[-1]), ceiling, float(np.nanquantile(done.ages, 0.5))])
    columns = ["ms in which others cannot take a job", "jobs begun/s", "no more than", "waited s, p50"]
    note = f"{size.workers:,} workers, load 1.05: what one lock in the taking of a job comes to."
    return Table("(s) Taking jobs one after another", columns, rows, note)


def _by_cube(done: Run, size: Size) -> Sequence[Cell]:
    ranks = done.traffic.ranks
    others, light = ranks != BURST, _light(done.traffic, size)
    heaviest = others & (ranks <= HEAVIEST)
    cells: list[Cell] = [*_quantiles(done.ages[others], SHARES), *_quantiles(done.ages[light], SHARES)]
    cells += _quantiles(done.ages[heaviest], (0.5, 0.99))
    cells += _quantiles(done.ages[ranks == BURST], (0.5, 0.99)) if (ranks == BURST).any() else [None, None]
    return [*cells, done.most_cubes]


def _by_priority(done: Run) -> Sequence[Cell]:
    urgency = done.traffic.priorities
    usual = done.traffic.ranks > HEAVIEST
    found = ((urgency == each) & usual for each in PRIORITIES)
    return [cell for which in found for cell in _quantiles(done.ages[which], (0.5, 0.99, 0.999))]


def _light(traffic: Traffic, size: Size) -> NDArray[np.bool_]:
    return traffic.ranks > size.cubes * LIGHT


def _quantiles(values: NDArray[np.float64], shares: Sequence[float]) -> list[Cell]:
    kept = values[np.isfinite(values)]
    return [_seconds(float(np.quantile(kept, share))) for share in shares] if len(kept) else [None] * len(shares)


def _seconds(value: float) -> Cell:
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _spread(values: NDArray[np.float64]) -> list[Cell]:
    if not len(values):
        return [None, None, None]
    return [float(np.quantile(values, 0.5)), float(np.quantile(values, 0.99)), float(values.max())]


def _hottest(found: NDArray[np.int64], count: int) -> float:
    loads = np.bincount(found, minlength=count)
    return float(loads.max() / loads.mean())


def _percent(merged: int, traffic: Traffic) -> float:
    return 100 * merged / len(traffic.times)
