"""Measures against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.evaluation.metrics import (
    all_hit_at,
    any_hit_at,
    area_under_curve,
    ndcg_at,
    of_ranking,
    quantile,
    recall_at,
    reciprocal_rank,
    share,
)
from mnemic.evaluation.resampling import over_conversations, over_questions, spread

RANKS = (2, None, 7, 40)
"""Four pieces of evidence, of which one is not found."""


@pytest.mark.parametrize("k,recall", [(1, 0.0), (2, 0.25), (6, 0.25), (7, 0.5), (39, 0.5), (40, 0.75), (50, 0.75)])
def test_recall_is_the_fraction_of_the_evidence_among_the_first_k(k: int, recall: float) -> None:
    assert recall_at(RANKS, k) == recall


def test_any_and_all_hits_are_one_or_nothing() -> None:
    assert (any_hit_at(RANKS, 1), any_hit_at(RANKS, 2)) == (0.0, 1.0)
    assert all_hit_at(RANKS, 50) == 0.0
    assert (all_hit_at((3, 5), 4), all_hit_at((3, 5), 5)) == (0.0, 1.0)


def test_the_reciprocal_rank_is_that_of_the_best() -> None:
    assert reciprocal_rank(RANKS) == 0.5
    assert reciprocal_rank((None, None)) == 0.0


def test_ndcg_discounts_by_place_and_is_normalised_by_the_ideal() -> None:
    gain = 1 / math.log2(3) + 1 / math.log2(8)
    ideal = 1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    assert ndcg_at(RANKS) == pytest.approx(gain / ideal)
    assert ndcg_at((1, 2, 3)) == pytest.approx(1.0)
    assert ndcg_at((11,)) == 0.0


def test_evidence_that_shares_a_hit_takes_consecutive_places() -> None:
    assert ndcg_at((1, 1)) == pytest.approx(1.0)
    assert ndcg_at((2, 2)) == pytest.approx((1 / math.log2(3) + 1 / math.log2(4)) / (1 + 1 / math.log2(3)))
    assert ndcg_at((10, 10)) == pytest.approx((1 / math.log2(11)) / (1 + 1 / math.log2(3)))


@given(st.lists(st.one_of(st.none(), st.integers(1, 60)), min_size=1, max_size=12))
def test_every_measure_lies_between_nothing_and_one_and_grows_with_k(ranks: list[int | None]) -> None:
    found = of_ranking(ranks, "turn")
    assert all(0.0 <= value <= 1.0 + 1e-9 for value in found.values())
    for measure in ("recall", "any-hit", "all-hit"):
        values = [found[f"turn {measure}@{k}"] for k in (1, 3, 5, 10, 20, 50)]
        assert values == sorted(values)
    assert found["turn all-hit@10"] <= found["turn recall@10"] <= found["turn any-hit@10"]


def test_the_share_inside_a_context_counts_each_turn_once() -> None:
    assert share(["a", "b", "b"], ["b", "c", "b"]) == 0.5


def test_the_area_under_the_curve_is_the_chance_of_ranking_right_with_ties_as_halves() -> None:
    # pairs: 3 > 1, 3 > 2, 2 > 1, 2 = 2, 1 = 1, 1 < 2: 3 + 1/2 + 1/2 of 6
    assert area_under_curve([3.0, 2.0, 1.0], [1.0, 2.0]) == pytest.approx(4 / 6)
    assert area_under_curve([1.0], [0.0]) == 1.0
    assert area_under_curve([0.0], [1.0]) == 0.0
    assert area_under_curve([], [1.0]) is None


def test_a_quantile_lies_between_its_neighbours() -> None:
    assert quantile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert quantile([5.0], 0.95) == 5.0
    assert quantile(list(map(float, range(101))), 0.95) == 95.0
    assert quantile([], 0.5) is None


def test_intervals_are_seeded_hold_the_mean_and_narrow_with_more_questions() -> None:
    few, many = [[float(n % 2)] for n in range(20)], [[float(n % 2)] for n in range(2_000)]
    first, again = over_questions(few)[0], over_questions(few)[0]
    assert first == again and first.low < 0.5 < first.high
    wide = over_questions(many)[0]
    assert wide.high - wide.low < (first.high - first.low) / 5
    # the standard error of a share of one half among 20 is 0.112: about two of them to either side
    assert first.high - first.low == pytest.approx(4 * 0.112, abs=0.06)


def test_what_is_the_same_everywhere_has_an_interval_without_width() -> None:
    assert over_questions([[1.0, 0.25]] * 7)[1].low == over_questions([[1.0, 0.25]] * 7)[1].high == 0.25


def test_resampling_conversations_sees_that_questions_of_one_go_together() -> None:
    apart = [[[1.0]] * 10, [[0.0]] * 10]  # one conversation where all is found, one where nothing is
    by_conversation = over_conversations(apart)[0]
    assert (by_conversation.low, by_conversation.high) == (0.0, 1.0)
    by_question = over_questions([row for rows in apart for row in rows])[0]
    assert by_question.low > 0.2 and by_question.high < 0.8


def test_the_mean_over_conversations_weighs_questions_not_conversations() -> None:
    groups = [[[1.0]] * 30, [[0.0]] * 10]
    drawn = over_conversations(groups, resamples=4_000)[0]
    assert (drawn.low, drawn.high) == (0.0, 1.0)
    assert over_conversations([[[1.0]] * 30], resamples=10)[0].low == 1.0


def test_the_spread_over_conversations_is_told_by_ends_and_deviation() -> None:
    found = spread({"a": 0.5, "b": 0.7, "c": 0.9})
    assert found.mean == pytest.approx(0.7) and (found.low, found.high) == (0.5, 0.9)
    assert found.sd == pytest.approx(0.2) and found.conversations == 3
    assert spread({"a": 0.5}).sd == 0.0
