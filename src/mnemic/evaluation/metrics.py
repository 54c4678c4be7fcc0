"""The measures of one question, from the ranks at which its evidence was found; pure, and defined once.

A rank counts from 1; None means not found within the depth that was looked at. Evidence is a set: order within it does
not matter. `docs/evaluation.md` tells what a system must do for a turn to count as found at a rank.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

DEPTHS: Final = (1, 3, 5, 10, 20, 50)
"""The k of recall@k, any-hit@k and all-hit@k; the last is how deep a ranking is looked at."""

NDCG_DEPTH: Final = 10

Ranks = Sequence[int | None]
"""For each piece of evidence, where it was found."""


def recall_at(ranks: Ranks, k: int) -> float:
    """Return the fraction of the evidence that is among the first k."""
    return sum(1 for rank in ranks if rank is not None and rank <= k) / len(ranks)


def any_hit_at(ranks: Ranks, k: int) -> float:
    """Return 1 when any of the evidence is among the first k, else 0."""
    return float(any(rank is not None and rank <= k for rank in ranks))


def all_hit_at(ranks: Ranks, k: int) -> float:
    """Return 1 when all of the evidence is among the first k, else 0."""
    return float(all(rank is not None and rank <= k for rank in ranks))


def reciprocal_rank(ranks: Ranks) -> float:
    """Return 1 over the best rank of any of the evidence, 0 when none was found; its mean over questions is the MRR."""
    return max((1 / rank for rank in ranks if rank is not None), default=0.0)


def ndcg_at(ranks: Ranks, k: int = NDCG_DEPTH) -> float:
    """Return the normalised discounted cumulative gain at k with gains of 0 and 1 (Järvelin and Kekäläinen, 2002).

    Evidence that shares a rank (one memory drawn from two turns) takes consecutive places from there on, so that the
    gain never exceeds the ideal: all evidence at the first places.
    """
    place, gain = 0, 0.0
    for rank in sorted(rank for rank in ranks if rank is not None):
        place = max(rank, place + 1)
        gain += 1 / math.log2(1 + place) if place <= k else 0.0
    return gain / sum(1 / math.log2(1 + place) for place in range(1, min(len(ranks), k) + 1))


def of_ranking(ranks: Ranks, level: str) -> Mapping[str, float]:
    """Return all measures of a ranking by name, such as `turn recall@10`; `level` is turn or session."""
    found = {f"{level} recall@{k}": recall_at(ranks, k) for k in DEPTHS}
    found |= {f"{level} any-hit@{k}": any_hit_at(ranks, k) for k in DEPTHS}
    found |= {f"{level} all-hit@{k}": all_hit_at(ranks, k) for k in DEPTHS}
    found[f"{level} MRR"] = reciprocal_rank(ranks)
    found[f"{level} nDCG@{NDCG_DEPTH}"] = ndcg_at(ranks)
    return found


def share(wanted: Sequence[str], held: Sequence[str]) -> float:
    """Return the fraction of the evidence that is held, such as inside a packed context."""
    return len(set(wanted) & set(held)) / len(set(wanted))


def area_under_curve(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """Return the chance that a positive scores above a negative, ties counting half (Mann and Whitney, 1947).

    It is the area under the receiver operating characteristic; None when either side is empty.
    """
    if not positives or not negatives:
        return None
    ordered = sorted([(score, 1) for score in positives] + [(score, 0) for score in negatives])
    below, wins, at = 0, 0.0, 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end][0] == ordered[at][0]:
            end += 1
        same = sum(positive for _, positive in ordered[at:end])
        others = end - at - same
        wins += same * (below + others / 2)
        below += others
        at = end
    return wins / (len(positives) * len(negatives))


def quantile(values: Sequence[float], share_below: float) -> float | None:
    """Return a quantile by linear interpolation between the two nearest values; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    place = share_below * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
