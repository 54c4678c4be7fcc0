"""Learns a `Fusion` from sheets: first the order of passages, then how likely each is to be evidence.

The order is learned listwise: each evidence passage against all others of its question (the softmax loss of ListNet,
Cao et al., ICML 2007), with a ridge on standardised features. A feature with many values has one weight
below the ninth decile of its values and one above. The probability is a logistic regression on the sum and on the best
of a few channels, over all passages of all questions, those included that memory cannot answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bench.fitting.gathering import Sheet
from mnemic.core.fusion import Fusion, Row

Matrix = NDArray[np.float64]

RIDGE: Final = 20.0
KNEE: Final = 0.9
"""The quantile of a feature's values above which it weighs otherwise."""

SURENESS: Final = ("dense", "lexical", "cover_pair", "lexical_three")
"""Features whose best value in a question tells whether memory holds an answer at all."""

RISING: Final = frozenset(
    """dense dense_share dense_rank lexical lexical_share lexical_rank lexical_many sum_share sum_rank cover speaker
    subject entity time""".split()
)
"""What may only count for a passage: who matches better by itself never ranks lower for it."""

_MANY: Final = 20  # different values, from which a feature has a knee


def learn(names: Sequence[str], sheets: Sequence[Sheet], chosen: Sequence[str], *, ridge: float = RIDGE) -> Fusion:
    """Return the fusion of the chosen features that puts evidence first in these sheets."""
    columns = [names.index(name) for name in chosen]
    answerable = [sheet for sheet in sheets if sheet.evidence.any()]
    values = [sheet.features[:, columns].astype(np.float64) for sheet in answerable]
    every = np.concatenate(values)
    bent = np.array([len(np.unique(every[:5000, at])) > _MANY for at in range(len(chosen))])
    knees = np.where(bent, np.quantile(every, KNEE, axis=0), np.inf)
    wide = [_bent(each, knees, bent) for each in values]
    rising = np.array([name in RISING for name in chosen])
    shares = [sheet.evidence / sheet.evidence.sum() * sheet.weight for sheet in answerable]
    weights = _listwise(wide, shares, ridge, np.concatenate([rising, rising[bent]]))
    above = np.zeros(len(chosen))
    above[bent] = weights[len(chosen) :]
    rows = {
        name: Row(round(float(low), 4), round(float(knee), 4), round(float(high), 4))
        if curved
        else Row(round(float(low), 4))
        for name, low, knee, high, curved in zip(chosen, weights[: len(chosen)], knees, above, bent, strict=True)
    }
    return calibrated(Fusion(rows, {"sum": 1.0}, 0.0), names, sheets)


def _bent(values: Matrix, knees: Matrix, bent: NDArray[np.bool_]) -> Matrix:
    held = np.minimum(values, knees)
    return np.concatenate([held, (values - held)[:, bent]], axis=1)


def _listwise(values: Sequence[Matrix], shares: Sequence[Matrix], ridge: float, rising: NDArray[np.bool_]) -> Matrix:
    every = np.concatenate(values)
    spread = every.std(axis=0) + 1e-9
    scaled = (every - every.mean(axis=0)) / spread
    sizes = [len(each) for each in values]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    number = np.repeat(np.arange(len(values)), sizes)
    share = np.concatenate(shares)
    true = share > 0

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        sums = scaled @ weights
        powers = np.exp(sums - np.maximum.reduceat(sums, starts)[number])
        others = np.add.reduceat(np.where(true, 0, powers), starts)[number]
        total = powers + others  # each evidence passage competes with what is no evidence
        lost = float(-(np.log(powers / total + 1e-300) * share).sum() + ridge / 2 * (weights @ weights))
        pulled = np.add.reduceat(np.where(true, share / total, 0), starts)[number]
        slope = np.where(true, share * (powers / total - 1), powers * pulled)
        return lost, scaled.T @ slope + ridge * weights

    bounds = [(0.0, None) if up else (None, None) for up in rising]
    start = np.zeros(scaled.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300})
    return np.asarray(found.x / spread, dtype=np.float64)


def calibrated(fusion: Fusion, names: Sequence[str], sheets: Sequence[Sheet]) -> Fusion:
    """Return the fusion with sureness and offset that make its chances probabilities on these sheets."""
    rows: list[Matrix] = []
    for sheet in sheets:
        features = features_of(names, sheet)
        best = [float(features[name].max(initial=0)) for name in SURENESS]
        rows.append(np.column_stack([fusion.sums(features), np.tile(best, (len(sheet.features), 1))]))
    values, true = np.concatenate(rows), np.concatenate([sheet.evidence for sheet in sheets]).astype(np.float64)
    centre, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    scaled = (values - centre) / spread

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        logits = scaled @ weights[:-1] + weights[-1]
        chances = 1 / (1 + np.exp(-logits))
        lost = float(np.logaddexp(0, logits).sum() - true @ logits + 0.5 * (weights[:-1] @ weights[:-1]))
        slope = chances - true
        return lost, np.append(scaled.T @ slope + weights[:-1], slope.sum())

    found = minimize(loss, np.zeros(values.shape[1] + 1), jac=True, method="L-BFGS-B").x
    weights = found[:-1] / spread
    sureness = {name: round(float(weight), 4) for name, weight in zip(("sum", *SURENESS), weights, strict=True)}
    return Fusion(fusion.rows, sureness, round(float(found[-1] - weights @ centre), 4))


def features_of(names: Sequence[str], sheet: Sheet) -> Mapping[str, NDArray[np.float32]]:
    """Return a sheet's features by name."""
    return {name: sheet.features[:, at] for at, name in enumerate(names)}
