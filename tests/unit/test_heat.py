"""Heat cools by itself, explains itself, and decides promotion and archiving."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.heat import HeatWeights, coldest, heat, promotable
from mnemic.model.memory import Segment

NOW = datetime(2024, 5, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def segment(name: str, *, pages: int = 1, visits: int = 0, hours: float = 0, archived: bool = False) -> Segment:
    touched = NOW - hours * HOUR
    return Segment(name, 1, "", (), pages, visits, touched, touched, touched, archived)


def test_heat_is_visits_and_pages_and_recency() -> None:
    warm = heat(2, 3, NOW - 24 * HOUR, NOW)
    assert (warm.visits, warm.pages) == (2, 3)
    assert warm.recency == pytest.approx(0.36788, abs=1e-5)
    assert warm.total == pytest.approx(5.36788, abs=1e-5)


def test_weights_scale_the_parts() -> None:
    warm = heat(2, 3, NOW, NOW, HeatWeights(visits=0.5, pages=2, recency=4, tau=HOUR))
    assert (warm.visits, warm.pages, warm.recency) == (1, 6, 4)


def test_a_touch_in_the_future_counts_as_now() -> None:
    assert heat(0, 0, NOW + 50 * HOUR, NOW).recency == 1


def test_without_a_time_constant_recency_is_left_out() -> None:
    assert heat(1, 1, NOW, NOW, HeatWeights(tau=timedelta())).total == 2


@given(st.integers(0, 99), st.integers(0, 99), st.floats(0, 1e6), st.floats(0, 1e6))
@settings(deadline=None)
def test_an_idle_segment_only_cools(visits: int, pages: int, age: float, more: float) -> None:
    younger = heat(visits, pages, NOW - timedelta(seconds=age), NOW)
    older = heat(visits, pages, NOW - timedelta(seconds=age + more), NOW)
    assert visits + pages <= older.total <= younger.total <= visits + pages + 1


def test_promotion_needs_warmth_and_pages_that_were_not_analysed() -> None:
    warm = heat(0, 4, NOW, NOW)
    assert promotable(warm, unanalysed=4)
    assert not promotable(warm, unanalysed=0)
    assert not promotable(heat(0, 4, NOW - HOUR, NOW), unanalysed=4)
    assert promotable(warm, unanalysed=1, threshold=2)


def test_the_coldest_go_first_then_the_oldest_then_by_id() -> None:
    tied = [segment("b", hours=900), segment("a", hours=900), segment("old", hours=1_000)]
    others = [segment("big", pages=9), segment("seen", visits=3), segment("gone", archived=True)]
    assert [each.id for each in coldest([*others, *tied], NOW, keep=1)] == ["old", "a", "b", "seen"]
    assert coldest([*others, *tied], NOW, keep=5) == []
    assert len(coldest([*others, *tied], NOW, keep=0)) == 5
