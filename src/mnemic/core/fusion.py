"""How features weigh together: one table of weights, learned from questions whose evidence is known.

A feature adds its weight, and past a knee another one: near the top of a channel a little more means a lot. The sum
puts passages in order; a logistic function of it, and of how good the best of all is, makes it the probability that
the passage is evidence. `bench/fitting.py` writes the table, and `docs/ranking.md` tells how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnemic.core.features import Scores


@dataclass(frozen=True, slots=True)
class Row:
    """What one feature adds: `weight * x`, and `bend * (x - knee)` where it is above its knee."""

    weight: float
    knee: float = 0.0
    bend: float = 0.0


@dataclass(frozen=True, slots=True)
class Fusion:
    """A learned ranking. `sureness` weighs, beside the sum itself (`sum`), the best that any passage reaches."""

    rows: Mapping[str, Row]
    sureness: Mapping[str, float]
    offset: float

    def sums(self, features: Mapping[str, Scores]) -> Scores:
        """Return the weighted sum of each passage: higher is better, within one question."""
        weights = np.array([row.weight for row in self.rows.values()], dtype=np.float32)
        knees = np.array([row.knee for row in self.rows.values()], dtype=np.float32)
        bends = np.array([row.bend for row in self.rows.values()], dtype=np.float32)
        values: NDArray[np.float32] = np.stack([features[name] for name in self.rows])
        summed: Scores = weights @ values + bends @ np.maximum(values - knees[:, None], 0)
        return summed

    def chances(self, features: Mapping[str, Scores]) -> Scores:
        """Return the probability that each passage is evidence, in the order of `sums`."""
        sums = self.sums(features)
        surely = self.offset + sum(
            weight * float(features[name].max(initial=0)) for name, weight in self.sureness.items() if name != "sum"
        )
        logits = np.float32(surely) + np.float32(self.sureness["sum"]) * sums
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))), dtype=np.float32)
