"""Learned weights: what a row adds, and what the shipped table promises."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnemic.core.features import KINDS_OF, of_sessions
from mnemic.core.fusion import Fusion, Row, chance, chances
from mnemic.core.learned import LEARNED

RISING = (
    "dense dense_share dense_rank lexical lexical_share lexical_rank sum_share sum_rank cover "
    "speaker subject entity time"
).split()


def column(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(values, dtype=np.float32)


def test_a_row_weighs_one_thing_below_its_knee_and_another_above() -> None:
    fusion = Fusion({"a": Row(2.0, 0.5, 10.0), "b": Row(-1.0)}, {"sum": 0.5, "a": 3.0}, -1.0)
    features = {"a": column(0.25, 0.5, 0.75), "b": column(0.0, 1.0, 2.0)}
    assert fusion.sums(features).tolist() == pytest.approx([0.5, 0.0, 1.5])
    assert fusion.sure(features) == pytest.approx(-1.0 + 3.0 * 0.75)
    assert fusion.odds(features).tolist() == pytest.approx([1.5, 1.25, 2.0])


def test_chances_are_probabilities_whatever_the_odds() -> None:
    assert [chance(odds) for odds in (-1e6, 0.0, 1e6)] == pytest.approx([0.0, 0.5, 1.0], abs=1e-9)
    assert chances(column(-1e6, 0.0, 1e6)).tolist() == pytest.approx([0.0, 0.5, 1.0], abs=1e-9)


@pytest.mark.parametrize("name", RISING)
def test_a_better_match_never_ranks_lower(name: str) -> None:
    row = LEARNED.rows[name]
    assert row.below >= 0
    assert row.above >= 0


def test_every_weight_is_a_number_and_every_feature_is_told() -> None:
    for name, row in LEARNED.rows.items():
        assert math.isfinite(row.below), name
        assert math.isfinite(row.above), name
    assert set(KINDS_OF) <= set(LEARNED.rows)


def test_sessions_have_the_mean_of_their_best() -> None:
    sessions = np.array([0, 1, 0, -1, 0, 0], dtype=np.int32)
    found = of_sessions(sessions, column(0.1, 0.6, 0.2, 0.9, 0.3, 0.4), 3)
    assert found.tolist() == pytest.approx([0.3, 0.2, 0.3, 0.0, 0.3, 0.3])
