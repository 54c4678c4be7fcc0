"""LoCoMo's shared photos are found by what they show, which nobody said in words."""

from __future__ import annotations

import json

import pytest

from bench.corpus import LOCOMO
from bench.photos import measure, share


@pytest.mark.skipif(not LOCOMO.exists(), reason="the development conversations of LoCoMo are not beside this checkout")
def test_photos_are_found_by_their_captions_and_not_without_them() -> None:
    talk = json.loads(LOCOMO.read_text("utf-8"))[0]["conversation"]
    samples = [{"conversation": {name: talk[name] for name in (f"session_{number}" for number in range(1, 9))}}]
    shown = measure(samples, captions=True, embedder="hashing")
    silent = measure(samples, captions=False, embedder="hashing")
    assert len(shown) > 15
    assert share(shown, 10) > share(silent, 10) + 0.05
