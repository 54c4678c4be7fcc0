"""Batches cover every text once, and vectors come out with length one or not at all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.backends.models.batches import pad, plan_batches, pool, unit_rows
from mnemic.errors import EmbedderError


@given(st.lists(st.integers(1, 600), max_size=80), st.integers(1, 40))
def test_every_text_is_in_exactly_one_batch_and_no_batch_is_over_its_size(lengths: list[int], rows: int) -> None:
    batches = plan_batches(lengths, tokens=512, rows=rows)
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= rows
        assert len(batch) == 1 or max(lengths[position] for position in batch) * len(batch) <= 512


def test_texts_of_like_length_share_a_batch() -> None:
    assert plan_batches([500, 4, 500, 4], tokens=512) == [[1, 3], [0], [2]]


def test_padding_is_masked_out() -> None:
    tokens, mask = pad([[5, 6, 7], [8]], filler=1)
    assert tokens.tolist() == [[5, 6, 7], [8, 1, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0]]


def test_mean_pooling_ignores_padding_and_cls_pooling_takes_the_first_token() -> None:
    hidden = np.array([[[1.0, 0.0], [3.0, 2.0], [99.0, 99.0]]], dtype=np.float32)
    mask = np.array([[1, 1, 0]])
    assert pool(hidden, mask, "mean").tolist() == [[2.0, 1.0]]
    assert pool(hidden, mask, "cls").tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("bad", [0.0, float("nan"), float("inf")])
def test_a_row_without_direction_is_an_error_that_names_the_row(bad: float) -> None:
    with pytest.raises(EmbedderError, match="1 of 2 texts") as caught:
        unit_rows(np.array([[1.0, 0.0], [bad, 0.0]], dtype=np.float32), "m")
    assert caught.value.fields["rows"] == [1]
