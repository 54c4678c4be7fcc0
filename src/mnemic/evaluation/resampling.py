"""How sure a mean is: bootstrap intervals over questions, over whole conversations, and the spread between these.

Resampling counts come from one seeded generator, so that the same figures give the same intervals (Efron and
Tibshirani, 1993; conversations as clusters: Cameron, Gelbach and Miller, 2008).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

import numpy as np

RESAMPLES: Final = 2_000
SEED: Final = 20_26
LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """The ends of a 95% interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Spread:
    """Means by conversation, seen together; `sd` is the sample's standard deviation, 0 for one conversation."""

    mean: float
    low: float
    high: float
    sd: float
    conversations: int


def over_questions(rows: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = SEED) -> list[Interval]:
    """Return the interval of each column's mean, drawing questions (rows) with replacement. Rows must not be empty."""
    matrix = np.asarray(rows, dtype=np.float64)
    return over_conversations([[row] for row in matrix.tolist()], resamples=resamples, seed=seed)


def over_conversations(
    groups: Sequence[Sequence[Sequence[float]]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Interval]:
    """Return the interval of each column's mean over all rows, drawing whole groups of rows with replacement."""
    sums = np.array([np.sum(np.asarray(rows, dtype=np.float64), axis=0) for rows in groups])
    counts = np.array([len(rows) for rows in groups], dtype=np.float64)
    drawn = np.random.default_rng(seed).multinomial(len(groups), [1 / len(groups)] * len(groups), size=resamples)
    means = (drawn @ sums) / (drawn @ counts)[:, None]
    edge = (1 - LEVEL) / 2
    lows, highs = np.quantile(means, [edge, 1 - edge], axis=0)
    return [Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True)]


def spread(means: Mapping[str, float]) -> Spread:
    """Return how far the means of conversations lie apart. There must be one at least."""
    values = list(means.values())
    return Spread(fmean(values), min(values), max(values), stdev(values) if len(values) > 1 else 0.0, len(values))
