"""How warm a segment is: heat = a * visits + b * pages + c * exp(-age / tau) (MemoryOS, Kang et al., EMNLP 2025).

Heat is computed when it is asked for, from values that the store keeps, so that idle segments cool by themselves. It
decides promotion and what is archived beyond the capacity; it never deletes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from mnemic.model.memory import Segment

THRESHOLD: Final = 5.0
"""Heat at which a segment's pages are promoted to long-term memory."""

CAPACITY: Final = 2_000
"""Segments that the middle tier of a cube holds."""


@dataclass(frozen=True, slots=True)
class HeatWeights:
    """The weights a (a visit), b (a page), c (full recency), and the time constant of cooling."""

    visits: float = 1.0
    pages: float = 1.0
    recency: float = 1.0
    tau: timedelta = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Heat:
    """A heat with its weighted parts, so that it can be explained."""

    visits: float
    pages: float
    recency: float

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return self.visits + self.pages + self.recency


WEIGHTS: Final = HeatWeights()
"""a = b = c = 1, tau = 24 hours."""


def heat(visits: int, pages: int, touched_at: datetime, now: datetime, weights: HeatWeights = WEIGHTS) -> Heat:
    """Return the heat of a segment that was visited and holds pages, last touched at `touched_at`.

    A touch in the future (clocks that disagree) counts as now; a `tau` of zero or less leaves recency out.
    """
    age = max(now - touched_at, timedelta())
    warmth = math.exp(-(age / weights.tau)) if weights.tau > timedelta() else 0.0
    return Heat(visits=weights.visits * visits, pages=weights.pages * pages, recency=weights.recency * warmth)


def promotable(warmth: Heat, unanalysed: int, threshold: float = THRESHOLD) -> bool:
    """Tell whether a segment's pages are to be analysed: warm enough, and at least one page was not analysed yet."""
    return unanalysed > 0 and warmth.total >= threshold


def coldest(
    segments: Sequence[Segment], now: datetime, keep: int = CAPACITY, weights: HeatWeights = WEIGHTS
) -> list[Segment]:
    """Return the segments to archive so that `keep` stay in the tier, coldest first; archived ones do not count.

    Equal heat is decided by age (the one touched longest ago goes first), then by id.
    """
    live = [segment for segment in segments if not segment.archived]
    if len(live) <= keep:
        return []

    def order(segment: Segment) -> tuple[float, datetime, str]:
        warmth = heat(segment.visits, segment.pages, segment.touched_at, now, weights)
        return (warmth.total, segment.touched_at, segment.id)

    return sorted(live, key=order)[: len(live) - max(keep, 0)]
