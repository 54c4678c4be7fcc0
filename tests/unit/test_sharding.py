"""Cubes are spread over shards evenly, and the same way everywhere."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.model.sharding import shard_of


def test_a_cube_has_the_same_shard_in_every_process_and_release() -> None:
    assert shard_of(0, 1 << 64) == 0xE220A8397B1DCDAF  # the first number of SplitMix64 from the seed 0
    assert [shard_of(key, 16) for key in range(1, 9)] == [1, 14, 13, 10, 10, 0, 7, 6]


def test_cubes_that_were_made_one_after_the_other_are_spread_evenly() -> None:
    counts = Counter(shard_of(key, 16) for key in range(1, 16_001))
    assert len(counts) == 16
    assert max(counts.values()) < 1.1 * 1_000 < 1.2 * min(counts.values())


@given(st.integers(0, 1 << 63), st.integers(1, 1_000))
def test_a_shard_is_one_of_those_that_there_are(key: int, shards: int) -> None:
    assert 0 <= shard_of(key, shards) < shards


def test_less_than_one_shard_is_refused() -> None:
    with pytest.raises(ValueError, match="one shard"):
        shard_of(1, 0)
