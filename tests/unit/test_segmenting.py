"""Pages join the topic that they are about, and a topic does not take in everything."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.segmenting import (
    BACKGROUND,
    SegmentMatrix,
    assign,
    centre,
    chain,
    in_context,
    merge_centroid,
)
from mnemic.model.index import Vector, unit

WIDTH = 64


def vectors(count: int, *, seed: int = 0, shared: float = 0.0) -> Vector:
    """Return unit rows (count, 64); `shared` is how much of one common direction each of them has."""
    rows = np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows * np.sqrt(1 - shared**2)
    rows[:, 0] += shared
    return np.stack([unit(row) for row in rows])


def matrix(rows: Vector, keywords: list[set[str]] | None = None, pages: int = 3) -> SegmentMatrix:
    labels = tuple(frozenset(each) for each in keywords) if keywords else (frozenset[str](),) * len(rows)
    return SegmentMatrix(tuple(f"s{n}" for n in range(len(rows))), rows, labels, (pages,) * len(rows))


def test_the_first_page_opens_a_segment() -> None:
    found = assign(vectors(1)[0], ("lake",), matrix(np.zeros((0, WIDTH), np.float32)))
    assert (found.segment_id, found.score) == (None, 0.0)


def test_a_page_joins_the_segment_that_is_like_it() -> None:
    rows = vectors(20)
    found = assign(unit(rows[7] + 0.3 * rows[3]), (), matrix(rows))
    assert found.segment_id == "s7"
    assert found.cosine > 0.9 and found.jaccard == 0


def test_shared_keywords_count_as_much_as_likeness() -> None:
    rows = vectors(3)
    page = unit(rows[0] + rows[1] + rows[2])
    found = assign(page, ("hiking", "lake"), matrix(rows, [{"x"}, {"hike", "lake"}, {"y"}]))
    assert (found.segment_id, found.jaccard) == ("s1", 1.0)
    assert found.score == pytest.approx(found.cosine + 1)


def test_a_page_unlike_all_opens_a_segment_and_tells_the_best_score() -> None:
    rows = vectors(21)
    found = assign(rows[20], (), matrix(rows[:20]))
    assert found.segment_id is None
    assert 0 < found.score < 0.6


@pytest.mark.parametrize("shared", [0.0, 0.6, 0.9, 0.99])
def test_what_all_pages_share_does_not_draw_them_into_one_segment(shared: float) -> None:
    rows = vectors(60, shared=shared)
    assert assign(rows[0], (), matrix(rows[1:])).segment_id is None
    assert assign(rows[1], (), matrix(rows[1:])).segment_id == "s0"


@given(st.floats(0.4, 0.98), st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_two_random_pages_are_left_with_the_background_cosine(shared: float, seed: int) -> None:
    rows = vectors(400, seed=seed, shared=shared)
    left = rows - centre(matrix(rows))
    left /= np.linalg.norm(left, axis=1, keepdims=True)
    assert float((left[:200] @ left[200:].T).mean()) == pytest.approx(BACKGROUND, abs=0.05)


def test_nothing_is_taken_back_where_nothing_is_shared() -> None:
    assert not centre(matrix(vectors(400))).any()
    assert not centre(matrix(vectors(1), pages=1)).any(), "one page tells nothing about what pages share"


def test_a_page_without_a_vector_opens_a_segment() -> None:
    assert assign(np.zeros(WIDTH, np.float32), (), matrix(vectors(5))).segment_id is None


def test_a_centroid_is_the_unit_mean_of_its_pages() -> None:
    rows = vectors(2)
    assert merge_centroid(np.zeros(WIDTH, np.float32), 0, rows[0]) == pytest.approx(rows[0])
    merged = merge_centroid(rows[0], 3, rows[1])
    assert merged == pytest.approx(unit(3 * rows[0] + rows[1]))
    assert float(np.linalg.norm(merged)) == pytest.approx(1)


def test_neighbours_lend_a_page_their_topic() -> None:
    before, page, after = vectors(3)
    seen = in_context(page, [before, after])
    assert page @ seen > before @ seen > 0.1
    assert in_context(page, []) == pytest.approx(page)


def test_pages_follow_one_another_when_near_in_time_and_topic() -> None:
    page, other = vectors(2)
    near = unit(page + 0.9 * other)
    minute = timedelta(minutes=1)
    assert chain(page, near, minute)
    assert not chain(page, near, timedelta(hours=2))
    assert not chain(page, other, minute)
    assert chain(page, near, -minute), "clocks may disagree"
