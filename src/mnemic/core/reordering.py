"""Puts hits in the order that a reranker gives them, and keeps what their scores mean.

A reranker's numbers are comparable only within one call, while a hit's score can be compared between questions. So the
scores that the hits had are dealt out anew: the first place keeps the score of the first place, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mnemic.model.query import Hit, Why

CHANNEL: Final = "rerank"
"""The reranker's name among the channels of a hit's `why`."""

_EDGE = 1e-6  # how near to 0 and 1 log-odds are taken


def reordered(hits: Sequence[Hit], relevance: Sequence[float], *, log_odds: bool) -> list[Hit]:
    """Return hits, best first, in the order of their relevance; equals stay as they stand.

    An explained hit also tells its rank by the reranker and what that did to its score, in log-odds where the other
    parts of its score are log-odds.
    """
    order = sorted(range(len(hits)), key=lambda at: -relevance[at])
    scores = [hit.score for hit in hits]
    moved = []
    for rank, (at, score) in enumerate(zip(order, scores, strict=True), 1):
        hit = hits[at]
        part = _log_odds(score) - _log_odds(hit.score) if log_odds else score - hit.score
        why = hit.why and Why({**hit.why.channels, CHANNEL: (rank, round(part, 4))}, hit.why.boosts)
        moved.append(replace(hit, score=score, why=why))
    return moved


def _log_odds(score: float) -> float:
    kept = min(max(score, _EDGE), 1 - _EDGE)
    return math.log(kept / (1 - kept))
