"""What comes in: jobs of cubes that are drawn by a Zipf law, at random moments, each with what it will take.

Service times are lognormal around means that were measured (`bench/RESULTS.md`), or, where a language model is asked,
around what hosted models take. Everything is drawn at once with NumPy and a seed; only jobs are held, never all cubes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemic.model.job import EMBED, KINDS, ORGANIZE, QUICK, REFINE, REORGANIZE, RETEXT, SLOW, Kind, Priority

FEEDBACK: Final = Kind("feedback", priority=Priority.INTERACTIVE, merges=False)
"""A kind to come: what a person waits for."""
INGEST: Final = Kind("ingest", alone=False, merges=False)
"""A kind to come: a document of many. Jobs of this kind do not merge, so that a cube can queue as many as it likes."""

BURST: Final = 0
"""The rank of the cube that queues very many jobs at one moment."""

KINDS_HERE: Final[Mapping[str, Kind]] = {**KINDS, FEEDBACK.name: FEEDBACK, INGEST.name: INGEST}


@dataclass(frozen=True, slots=True)
class Stream:
    """Jobs of one kind: their share of all that arrive in the lane, the seconds that one takes and how these spread."""

    kind: Kind
    share: float
    seconds: float
    spread: float = 0.6


QUICK_MIX: Final = (
    Stream(FEEDBACK, 0.05, 0.040),
    Stream(KINDS_HERE[ORGANIZE], 0.86, 0.040),
    Stream(KINDS_HERE[EMBED], 0.02, 0.060),
    Stream(INGEST, 0.05, 0.080, 0.8),
    Stream(KINDS_HERE[RETEXT], 0.02, 0.400, 0.8),
)
SLOW_MIX: Final = (
    Stream(KINDS_HERE[REFINE], 0.9, 6.0, 0.7),
    Stream(KINDS_HERE[REORGANIZE], 0.1, 10.0, 0.7),
)
MIXES: Final[Mapping[str, Sequence[Stream]]] = {QUICK: QUICK_MIX, SLOW: SLOW_MIX}


@dataclass(frozen=True, slots=True)
class Traffic:
    """Jobs in the order of their arrival. `kinds` are places in `names`; `ranks` count cubes from 1, the busiest."""

    names: Sequence[Kind]
    times: NDArray[np.float64]
    cubes: NDArray[np.int64]
    ranks: NDArray[np.int64]
    kinds: NDArray[np.int64]
    seconds: NDArray[np.float64]

    @property
    def priorities(self) -> NDArray[np.int64]:
        """The priority of each job."""
        return np.array([int(kind.priority) for kind in self.names])[self.kinds]

    def until(self, moment: float) -> Traffic:
        """Return what has arrived by then."""
        count = int(np.searchsorted(self.times, moment))
        times, cubes, ranks = self.times[:count], self.cubes[:count], self.ranks[:count]
        return Traffic(self.names, times, cubes, ranks, self.kinds[:count], self.seconds[:count])


def zipf(draws: np.random.Generator, exponent: float, most: int, count: int) -> NDArray[np.int64]:
    """Draw ranks from 1 to `most` with probability proportional to rank ** -exponent.

    Rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
    distributions", ACM TOMACS 6(3), 1996): exact, and without a table of all ranks.
    """
    if exponent <= 0:
        raise ValueError("the exponent of a Zipf law is above 0")
    found = np.empty(0, dtype=np.int64)
    low, high = _integral(np.array([1.5, most + 0.5], dtype=np.float64), exponent) - np.array([1.0, 0.0])
    while len(found) < count:
        drawn = high + draws.random(int((count - len(found)) * 1.2) + 16) * (low - high)
        places = _inverse(drawn, exponent)
        ranks = np.clip(np.rint(places), 1, most).astype(np.int64)
        kept = drawn >= _integral(ranks.astype(np.float64) + 0.5, exponent) - np.power(
            ranks.astype(np.float64), -exponent
        )
        found = np.concatenate([found, ranks[kept]])
    return found[:count]


def _integral(x: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    return np.log(x) if exponent == 1 else (np.power(x, 1 - exponent) - 1) / (1 - exponent)


def _inverse(y: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    return np.exp(y) if exponent == 1 else np.power(1 + y * (1 - exponent), 1 / (1 - exponent))


def key_of(ranks: NDArray[np.int64], cubes: int) -> NDArray[np.int64]:
    """Return cube keys from 1 on, each rank its own; who is busy says nothing about when it was made."""
    step = int(cubes * 0.618034) | 1
    while math.gcd(step, cubes) != 1:
        step += 2
    return (ranks * step) % cubes + 1


def arrivals(
    mix: Sequence[Stream], *, rate: float, count: int, cubes: int, exponent: float, draws: np.random.Generator
) -> Traffic:
    """Draw `count` jobs that arrive at random, `rate` of them in a second."""
    shares = np.array([each.share for each in mix])
    kinds = draws.choice(len(mix), size=count, p=shares / shares.sum())
    means, spreads = np.array([each.seconds for each in mix]), np.array([each.spread for each in mix])
    spread = spreads[kinds]
    seconds = means[kinds] * np.exp(draws.normal(0.0, 1.0, count) * spread - spread**2 / 2)
    ranks = zipf(draws, exponent, cubes, count)
    times = np.cumsum(draws.exponential(1 / rate, count))
    return Traffic(tuple(each.kind for each in mix), times, key_of(ranks, cubes), ranks, kinds, seconds)


def seconds_of(mix: Sequence[Stream]) -> float:
    """Return what a job of this mix takes on average."""
    return sum(each.share * each.seconds for each in mix) / sum(each.share for each in mix)


def with_burst(traffic: Traffic, *, at: float, count: int, kind: str, seconds: float, cubes: int) -> Traffic:
    """Let one cube that was quiet until then queue `count` jobs at one moment. It has a rank and a key of its own."""
    place = int(np.searchsorted(traffic.times, at))
    number = next(number for number, each in enumerate(traffic.names) if each.name == kind)
    return Traffic(
        traffic.names,
        np.insert(traffic.times, place, np.full(count, at)),
        np.insert(traffic.cubes, place, np.full(count, cubes + 1)),
        np.insert(traffic.ranks, place, np.full(count, BURST)),
        np.insert(traffic.kinds, place, np.full(count, number)),
        np.insert(traffic.seconds, place, np.full(count, seconds)),
    )
