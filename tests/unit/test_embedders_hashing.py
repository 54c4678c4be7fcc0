"""The hashing embedder is deterministic, and close for texts that share words or stems."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.errors import InputError


def test_vectors_are_the_same_in_every_process_and_release() -> None:
    vector = HashingEmbedder(8).embed(["The cat sat"])[0]
    expected = [-0.7602859, 0.0, 0.0, -0.15205719, 0.0, 0.15205719, 0.53220016, 0.30411437]
    assert vector.tolist() == pytest.approx(expected, abs=1e-5)


def test_shared_words_bring_texts_closer_and_so_do_shared_stems() -> None:
    run, runner, tax = HashingEmbedder().embed(["running in the park", "a runner in parks", "quarterly tax report"])
    assert run @ runner > 0.2 > abs(run @ tax)


def test_case_and_accents_do_not_matter() -> None:
    first, second = HashingEmbedder().embed(["Café au lait", "cafe AU LAIT"])
    assert first @ second == pytest.approx(1.0, abs=1e-6)


def test_features_that_cancel_out_still_give_a_unit_vector() -> None:
    vectors = HashingEmbedder(1).embed([f"word{number}" for number in range(50)])
    assert np.abs(vectors).tolist() == [[1.0]] * 50


def test_a_width_below_one_is_refused() -> None:
    with pytest.raises(InputError, match="width"):
        HashingEmbedder(0)
