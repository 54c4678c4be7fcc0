"""The simulation keeps the promises of the sharing: nobody gets less than its share, nothing starves, all ends once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.simulation.order import LOOKS, PRIORITIES, Order, Rule
from bench.simulation.running import Plan, Run
from bench.simulation.scenes import SMALL, Part, Scene, Size, run, scene, scenes, traffic_of
from bench.simulation.showing import ages, burst, claiming, shards
from bench.simulation.traffic import FEEDBACK, INGEST, KINDS_HERE, Traffic, key_of, zipf
from mnemic.core.fairness import PRIORITY_WEIGHTS
from mnemic.model.job import ORGANIZE, QUICK, RETEXT, SLOW, Kind, Priority
from mnemic.model.sharding import shard_of

FAIR = [Rule.EACH, Rule.HALF_ON]
TINY = Size(workers=5, cubes=1_000, quick_seconds=3.0, slow_seconds=60.0, burst=60, ahead=5)
ORGANIZES = KINDS_HERE[ORGANIZE]
RETEXTS = KINDS_HERE[RETEXT]


def served(weights: list[float], costs: list[float], turns: int, rule: Rule) -> list[int]:
    """Return which cube was served in each turn, when all have work waiting all the time."""
    kinds = [Kind(f"cost {cost}", alone=False, merges=False, cost=cost) for cost in costs]
    order = Order(kinds, [0.0] * (len(weights) * turns), rule=rule)
    for cube, weight in enumerate(weights):
        order.weights[cube] = weight
        for job in range(turns):
            order.add(cube * turns + job, cube, cube)
    found = []
    for turn in range(turns):
        head = order.next(QUICK, turn)
        assert head is not None
        order.start(head)
        found.append(head.cube.key)
    return found


@settings(deadline=None, max_examples=60)
@given(
    flows=st.lists(
        st.tuples(st.sampled_from([0.5, 1.0, 2.0, 10.0]), st.sampled_from([1.0, 2.0, 8.0])), min_size=2, max_size=6
    ),
    rule=st.sampled_from(FAIR),
    since=st.integers(0, 100),
)
def test_two_cubes_with_work_waiting_never_get_further_apart_than_a_job_of_each(
    flows: list[tuple[float, float]], rule: Rule, since: int
) -> None:
    """Goyal, Vin and Cheng (1996), theorem 1: |W1/r1 - W2/r2| <= l1/r1 + l2/r2 in every interval."""
    weights, costs = [weight for weight, _ in flows], [cost for _, cost in flows]
    order = served(weights, costs, 300, rule)[since:]
    got = [0.0] * len(flows)
    for cube in order:
        got[cube] += costs[cube] / weights[cube]
        for one, other in itertools.combinations(range(len(flows)), 2):
            most = costs[one] / weights[one] + costs[other] / weights[other]
            assert abs(got[one] - got[other]) <= most + 1e-9


@pytest.mark.parametrize("rule", FAIR)
@pytest.mark.parametrize("count", [2, 7, 50])
def test_of_equal_cubes_none_gets_less_than_its_share_minus_one_job(count: int, rule: Rule) -> None:
    got = [0] * count
    for turn, cube in enumerate(served([1.0] * count, [1.0] * count, 400, rule), start=1):
        got[cube] += 1
        assert min(got) >= turn / count - 1


def test_with_one_virtual_time_for_all_weights_are_lost_so_it_is_not_used() -> None:
    weighted = next(each for each in scenes() if each.weight > 1)
    told = {rule: float(weighted.told(rule).removesuffix(" times")) for rule in Rule}
    assert told[Rule.ONE_TIME] < 1.5
    assert told[Rule.HALF_ON] == pytest.approx(weighted.weight, rel=0.05)


def test_cubes_never_seen_before_do_not_starve_one_that_was_served() -> None:
    def flood(seconds: int) -> Scene:
        new = [
            Part(ORGANIZES, range(1_000 + 176 * at, 1_176 + 176 * at), 1, 0.0, at=float(at), rank=3)
            for at in range(seconds)
        ]
        return Scene("", scene([*new, Part(ORGANIZES, [1], seconds - 1, 1.0, at=0.5, rank=1)]))

    def waits(rule: Rule, seconds: int) -> float:
        return float(flood(seconds).told(rule).removesuffix(" s"))

    assert waits(Rule.EACH, 12) > 11 and waits(Rule.EACH, 24) > 23  # as long as it lasts: so it is not used
    assert waits(Rule.HALF_ON, 24) < 6


@settings(deadline=None, max_examples=25)
@given(rule=st.sampled_from(list(Rule)), start=st.integers(0, 50), count=st.integers(1, 5))
def test_each_priority_gets_its_turns_whatever_waits_beside_it(rule: Rule, start: int, count: int) -> None:
    kinds = [Kind(each.name, priority=each, alone=False, merges=False) for each in PRIORITIES]
    order = Order(kinds, [0.0] * 3_000, rule=rule)
    for job in range(3_000):
        order.add(job, job % count, job % 3)
    taken = []
    for turn in range(start, start + len(LOOKS) * 3):
        head = order.next(QUICK, turn)
        assert head is not None
        order.start(head)
        taken.append(kinds[head.kind].priority)
    for at in range(len(taken) - len(LOOKS)):
        window = taken[at : at + len(LOOKS)]
        assert {each: window.count(each) for each in Priority} == PRIORITY_WEIGHTS


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    stream_shards=st.sampled_from([0, 1, 3]),
    rule=st.sampled_from(list(Rule)),
    deaths=st.sampled_from([0.0, 0.1]),
)
def test_every_job_ends_once_and_those_that_run_alone_never_meet(
    seed: int, stream_shards: int, rule: Rule, deaths: float
) -> None:
    draws = np.random.default_rng(seed)
    count = 150
    kinds = (ORGANIZES, FEEDBACK, INGEST, RETEXTS)
    traffic = Traffic(
        kinds,
        np.sort(draws.random(count) * 3),
        draws.integers(1, 6, count),
        np.full(count, 5),
        draws.integers(0, len(kinds), count),
        draws.exponential(0.05, count),
    )
    plan = Plan(QUICK, 3, rule=rule, shards=stream_shards, ahead=2, deaths=deaths, seed=seed)
    done = run(traffic, plan, shard_of)
    assert done.check() == []
    assert len(done.ended) + done.merged == count
    if not deaths:
        assert met(done) == []


def met(done: Run) -> list[tuple[int, int]]:
    """Return jobs of one cube that ran at the same time though their kinds run alone."""
    traffic = done.traffic
    alone = [at for at in np.flatnonzero(np.isfinite(done.started)) if traffic.names[traffic.kinds[at]].alone]
    alone.sort(key=lambda at: done.started[at])
    return [
        (int(one), int(other))
        for one, other in itertools.combinations(alone, 2)
        if traffic.cubes[one] == traffic.cubes[other] and done.started[other] < done.finished[one] - 1e-9
    ]


def test_what_does_not_add_up_is_told() -> None:
    done = run(scene([Part(INGEST, [1, 2], 3, 0.1)]), Plan(QUICK, 1), shard_of)
    done.ended[0] += 1
    del done.ended[1]
    assert done.check() == ["1 began and never ended", "1 ended more than once"]
    done.merged = -1
    assert done.check()[-1] == "1 are lost"


@pytest.mark.parametrize("exponent", [0.8, 1.0, 1.3])
def test_ranks_follow_the_law_of_zipf(exponent: float) -> None:
    ranks = zipf(np.random.default_rng(3), exponent, 500, 200_000)
    law = np.arange(1, 501) ** -exponent
    law /= law.sum()
    counted = np.bincount(ranks, minlength=501)[1:] / len(ranks)
    assert np.abs(counted - law).max() < 4 * np.sqrt(law.max() / len(ranks))


def test_each_rank_has_a_cube_of_its_own() -> None:
    keys = key_of(np.arange(1, 1_001), 1_000)
    assert sorted(keys.tolist()) == list(range(1, 1_001))


def test_a_single_job_beside_a_burst_is_passed_by_hardly_any_of_it() -> None:
    rows = burst(SMALL, shard_of).rows
    first_come, sharing = rows[0], rows[1]
    assert isinstance(first_come[3], float) and first_come[3] > 100  # half of them are passed by so many
    assert isinstance(sharing[3], float) and sharing[3] <= 1


@pytest.mark.parametrize("lane", [QUICK, SLOW])
def test_traffic_is_the_same_for_the_same_seed(lane: str) -> None:
    one, other = (traffic_of(TINY, lane, 0.8, burst=False) for _ in range(2))
    assert np.array_equal(one.times, other.times) and np.array_equal(one.cubes, other.cubes)


def test_the_tables_are_full() -> None:
    tables = [*ages(TINY, shard_of), shards(TINY, shard_of), claiming(TINY, shard_of)]
    for table in tables:
        assert table.rows and all(len(row) == len(table.columns) for row in table.rows)
        assert table.markdown()
