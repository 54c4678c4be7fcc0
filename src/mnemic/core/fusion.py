"""How features weigh together: one table of weights, learned from questions whose evidence is known.

A feature weighs one thing below a knee and another above it: near the top of a channel a little more means a lot. The
sum puts passages in order; a logistic function of it, and of how good the best of all is, makes it the probability that
the passage is evidence. `bench/fitting` learns the table, and `docs/ranking.md` tells how.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mnemic.core.features import Scores


@dataclass(frozen=True, slots=True)
class Row:
    """What one feature adds: `below * min(x, knee) + above * max(x - knee, 0)`; without a knee, `below * x`."""

    below: float
    knee: float = math.inf
    above: float = 0.0


@dataclass(frozen=True, slots=True)
class Fusion:
    """A learned ranking. `sureness` weighs, beside the sum itself (`sum`), the best that any passage reaches."""

    rows: Mapping[str, Row]
    sureness: Mapping[str, float]
    offset: float
    _columns: NDArray[np.float32] = field(init=False, repr=False, compare=False)  # below, knee, above, by row

    def __post_init__(self) -> None:
        rows = [(row.below, row.knee, row.above) for row in self.rows.values()]
        object.__setattr__(self, "_columns", np.array(rows, dtype=np.float32).reshape(-1, 3).T[:, :, None])

    def parts(self, features: Mapping[str, Scores]) -> NDArray[np.float32]:
        """Return what each feature adds to each passage, of shape (features, passages), in the order of the rows."""
        below, knees, above = self._columns
        values: NDArray[np.float32] = np.stack([features[name] for name in self.rows])
        held = np.minimum(values, knees)
        found: NDArray[np.float32] = below * held + above * (values - held)
        return found

    def sums(self, features: Mapping[str, Scores]) -> Scores:
        """Return the weighted sum of each passage: higher is better, within one question."""
        summed: Scores = self.parts(features).sum(axis=0)
        return summed

    def sure(self, features: Mapping[str, Scores]) -> float:
        """Return what speaks for memory holding an answer at all, in log-odds."""
        best = {name: float(features[name].max(initial=0)) for name in self.sureness if name != "sum"}
        return self.offset + sum(self.sureness[name] * value for name, value in best.items())

    def odds(self, features: Mapping[str, Scores]) -> Scores:
        """Return the log-odds that each passage is evidence, in the order of `sums`."""
        return np.float32(self.sure(features)) + np.float32(self.sureness["sum"]) * self.sums(features)


def chances(odds: Scores) -> Scores:
    """Return the probabilities of log-odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))), dtype=np.float32)


def chance(odds: float) -> float:
    """Return the probability of log-odds."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
