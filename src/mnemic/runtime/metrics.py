"""The meter of an open memory: figures kept in this process, as plain numbers, until somebody reads them.

Taking one in is a look into a dictionary under a lock, so that every memory can afford it; showing them is the business
of `mnemic.runtime.exposition`. What keeps the number of series small is here: whatever labels come, a figure has at
most `MOST` of them, and all others count together.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mnemic.model.figure import Figure

MOST: Final = 200
"""Series of a figure: combinations of its labels' values."""

OTHER: Final = "other"
"""What the labels of all further ones are."""

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """What a histogram has taken in: how many values up to each bound and above the one before; the last has none."""

    counts: tuple[int, ...]
    total: float

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self.counts)


class Kept:
    """A `Meter` that keeps what it is told. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: dict[Figure, dict[Labels, float]] = {}
        self._spreads: dict[Figure, dict[Labels, list[float]]] = {}  # counts by bucket, and the sum at the end

    def add(self, figure: Figure, amount: float, *labels: str) -> None:
        """Count a counter up, or move a gauge by so much."""
        with self._lock:
            series = self._numbers.get(figure)
            if series is None:
                series = self._numbers[figure] = {}
            if labels not in series:
                labels = _bounded(figure, labels, series)
            series[labels] = series.get(labels, 0.0) + amount

    def observe(self, figure: Figure, value: float, *labels: str) -> None:
        """Take one value of a histogram in."""
        with self._lock:
            series = self._spreads.get(figure) or self._spreads.setdefault(figure, {})
            held = series.get(labels) or _begun(figure, labels, series)
            held[bisect_left(figure.buckets, value)] += 1
            held[-1] += value

    def observe_each(self, figure: Figure, values: Mapping[str, float]) -> None:
        """Take one value in for each of these values of a histogram's only label."""
        buckets = figure.buckets
        with self._lock:
            series = self._spreads.get(figure) or self._spreads.setdefault(figure, {})
            for label, value in values.items():
                held = series.get((label,)) or _begun(figure, (label,), series)
                held[bisect_left(buckets, value)] += 1
                held[-1] += value

    def numbers(self, figure: Figure) -> Mapping[Labels, float]:
        """Return a counter's or a gauge's values by labels."""
        with self._lock:
            return dict(self._numbers.get(figure, {}))

    def spreads(self, figure: Figure) -> Mapping[Labels, Spread]:
        """Return a histogram's values by labels."""
        with self._lock:
            found = {labels: tuple(held) for labels, held in self._spreads.get(figure, {}).items()}
        return {labels: Spread(tuple(map(int, held[:-1])), held[-1]) for labels, held in found.items()}


def _begun(figure: Figure, labels: Labels, series: dict[Labels, list[float]]) -> list[float]:
    """Return what a histogram's series is kept in: counts by bucket, and the sum at the end."""
    return series.setdefault(_bounded(figure, labels, series), [0.0] * (len(figure.buckets) + 2))


def _bounded(figure: Figure, labels: Labels, series: Mapping[Labels, object]) -> Labels:
    """Return the labels of a new series, or those of all others when there are too many already."""
    if len(labels) != len(figure.labels):
        raise ValueError(f"{figure.name} has the labels {figure.labels}, got {labels}")
    return labels if len(series) < MOST else (OTHER,) * len(labels)
