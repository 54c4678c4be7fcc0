"""A deterministic embedder without a model, for tests: hashed words and character trigrams (feature hashing,
Weinberger et al., ICML 2009). Texts that share words or stems are close, all others are near a right angle.
It knows no synonyms and is deliberately not offered as a setting.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from math import log1p
from typing import TYPE_CHECKING

import numpy as np

from mnemic.errors import InputError
from mnemic.text import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEATURE_WORD = re.compile(r"\w+|[^\w\s]")
_TRIGRAM_WEIGHT = 0.4  # of its word's weight: shared stems count, but less than shared words


class HashingEmbedder:
    """An `Embedder` that hashes signed features into `width` components; pure and thread-safe."""

    def __init__(self, width: int = 384) -> None:
        if width < 1:
            raise InputError("width", "must be 1 or more")
        self._width = width

    @property
    def name(self) -> str:
        """`hashing-` and the width."""
        return f"hashing-{self._width}"

    @property
    def width(self) -> int:
        """The number of components."""
        return self._width

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 of shape (len(texts), width), rows of length 1."""
        rows = np.zeros((len(texts), self._width), dtype=np.float64)
        for row, text in zip(rows, texts, strict=True):
            for word in _FEATURE_WORD.findall(fold(text)) or [""]:
                for hashed, weight in _features(word):
                    row[hashed % self._width] += weight
            if not row.any():  # signed features cancelled out
                row[0] = 1.0
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


@lru_cache(maxsize=65_536)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    """Return (hash, signed weight) for a word and its trigrams; longer words weigh more, as they are rarer."""
    weight = log1p(len(word)) or 1.0
    edged = f"<{word}>"
    grams = {edged[start : start + 3] for start in range(len(edged) - 2)}
    return (_signed(f"w{word}", weight), *(_signed(f"g{gram}", weight * _TRIGRAM_WEIGHT) for gram in sorted(grams)))


def _signed(feature: str, weight: float) -> tuple[int, float]:
    value = int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "big")
    return value >> 1, weight if value & 1 else -weight
