"""When what failed is tried again: pauses that grow, with jitter, and never endless."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.retrying import LONGEST, MOST_ASKED, pause

CHANCES = st.floats(0, 1, exclude_max=True)


@given(st.integers(1, 10_000), CHANCES, CHANCES)
@settings(deadline=None)
def test_a_pause_grows_with_each_try_up_to_the_longest(attempt: int, chance: float, other: float) -> None:
    found = pause(attempt, chance)
    assert 1 <= found < LONGEST + 1e-9
    assert pause(attempt + 1, chance) >= found
    assert pause(attempt + 1, other) >= found / 2, "jitter takes back more than half"


@given(st.integers(1, 100), CHANCES)
@settings(deadline=None)
def test_half_of_a_pause_is_fixed_and_half_is_drawn(attempt: int, chance: float) -> None:
    assert pause(attempt, 0.0) <= pause(attempt, chance) <= 2 * pause(attempt, 0.0)


def test_the_first_pauses_are_short() -> None:
    assert [pause(attempt, 0.0) for attempt in (1, 2, 3, 4)] == [1, 2, 4, 8]


@given(st.integers(1, 100), CHANCES, st.floats(0, 10_000))
@settings(deadline=None)
def test_it_is_never_shorter_than_the_other_side_asked(attempt: int, chance: float, asked: float) -> None:
    assert pause(attempt, chance, asked=asked) == max(asked, pause(attempt, chance))


@pytest.mark.parametrize("asked", [1e9, 1e14, 1e300, float("inf"), float("nan"), -5.0, -float("inf")])
def test_what_the_other_side_asks_is_bounded_whatever_it_says(asked: float) -> None:
    found = pause(1, 0.5, asked=asked)
    assert 1 <= found <= MOST_ASKED
    assert timedelta(seconds=found) <= timedelta(days=1)
