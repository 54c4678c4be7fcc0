"""Whose turn it is, as arithmetic: shares of priorities, turns of cubes that only grow, and buckets of tokens."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.fairness import PRIORITY_WEIGHTS, begins, ends, moves_to, priorities, refilled, until_token
from mnemic.model.job import Priority

ROUND = sum(PRIORITY_WEIGHTS.values())
TURNS = st.floats(0, 1e9)
WEIGHTS = st.floats(0.01, 100)
COSTS = st.floats(0.1, 100)
RATES = st.integers(1, 1_000_000)


@given(st.integers(0, 10**12))
@settings(deadline=None)
def test_each_turn_looks_at_every_priority_once(turn: int) -> None:
    assert sorted(priorities(turn)) == sorted(Priority)


@given(st.integers(0, 10**12))
@settings(deadline=None)
def test_in_any_round_each_priority_comes_first_as_often_as_its_weight_says(start: int) -> None:
    first = Counter(priorities(turn)[0] for turn in range(start, start + ROUND))
    assert first == PRIORITY_WEIGHTS


@given(st.integers(0, 10**12))
@settings(deadline=None)
def test_no_priority_waits_for_longer_than_a_round_and_the_urgent_one_for_few_turns(start: int) -> None:
    firsts = [priorities(turn)[0] for turn in range(start, start + ROUND)]
    assert set(firsts) == set(Priority)
    others = "".join("." if each is Priority.INTERACTIVE else "x" for each in firsts * 2)
    assert "xxx" not in others, "the others come in a row instead of spread evenly"


def test_what_does_not_come_first_follows_by_urgency() -> None:
    for turn in range(ROUND):
        first, *rest = priorities(turn)
        assert rest == sorted(each for each in Priority if each is not first)


@given(TURNS, TURNS, COSTS, WEIGHTS)
@settings(deadline=None)
def test_a_job_ends_after_it_begins_and_neither_its_turn_nor_time_goes_back(
    turn: float, virtual: float, cost: float, weight: float
) -> None:
    begun = begins(turn, virtual)
    ended = ends(begun, cost, weight)
    assert begun >= max(turn, virtual)
    assert ended >= begun
    assert begun <= moves_to(begun, ended) <= ended


@given(TURNS, COSTS, WEIGHTS, WEIGHTS)
@settings(deadline=None)
def test_more_weight_means_an_earlier_next_turn_and_more_cost_a_later_one(
    turn: float, cost: float, one: float, other: float
) -> None:
    light, heavy = sorted((one, other))
    assert ends(turn, cost, heavy) <= ends(turn, cost, light)
    assert ends(turn, cost, light) <= ends(turn, 2 * cost, light)


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(1, 4)), min_size=2, max_size=6), st.integers(50, 200))
@settings(deadline=None, max_examples=50)
def test_cubes_that_always_have_work_get_what_their_weights_say(cubes: list[tuple[int, int]], rounds: int) -> None:
    """By the bound of the paper (theorem 1): of two, neither is ahead by more than one job of each, by weight."""
    turns = dict.fromkeys(range(len(cubes)), 0.0)
    given_work = dict.fromkeys(turns, 0.0)
    for _ in range(rounds):
        cube = min(turns, key=lambda each: (turns[each], each))
        weight, cost = cubes[cube]
        given_work[cube] += cost / weight
        turns[cube] = ends(turns[cube], cost, weight)
    most = {cube: cost / weight for cube, (weight, cost) in enumerate(cubes)}
    for one in turns:
        for other in turns:
            assert abs(given_work[one] - given_work[other]) <= most[one] + most[other] + 1e-9


@pytest.mark.parametrize("weight", [0, -1, 0.0])
def test_a_weight_of_nothing_is_an_error_and_no_endless_turn(weight: float) -> None:
    with pytest.raises(ValueError, match="weight"):
        ends(1.0, 1.0, weight)


@given(st.floats(0, 1e6), st.floats(-1e6, 1e6), RATES)
@settings(deadline=None)
def test_a_bucket_never_holds_more_than_a_minute_and_never_loses_by_time(
    tokens: float, seconds: float, rate: int
) -> None:
    held = refilled(min(tokens, rate), seconds, rate)
    assert min(tokens, rate) <= held <= rate, "a clock that went back took tokens away"


@given(st.floats(0, 1), st.floats(0, 100), st.floats(0, 100), RATES)
@settings(deadline=None)
def test_waiting_twice_fills_as_much_as_waiting_once(tokens: float, first: float, second: float, rate: int) -> None:
    at_once = refilled(tokens, first + second, rate)
    assert refilled(refilled(tokens, first, rate), second, rate) == pytest.approx(at_once)


@given(st.floats(-1, 10), RATES)
@settings(deadline=None)
def test_after_the_wait_that_is_told_there_is_a_token_and_not_before(tokens: float, rate: int) -> None:
    wait = until_token(tokens, rate)
    assert wait >= 0
    assert (wait == 0) == (tokens >= 1)
    assert refilled(tokens, wait, rate) == pytest.approx(max(1.0, min(tokens, rate)))
    assert until_token(refilled(tokens, wait, rate), rate) == pytest.approx(0, abs=1e-6)
