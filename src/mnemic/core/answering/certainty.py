"""Whether the evidence answers the question at all: a confidence from 0 to 1.

It is a logistic model over a handful of signs, fitted on public conversations whose questions are half about the
wrong person. It cannot know what was never said in other words; it leans on who speaks and what is shared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final

from mnemic.core.answering.asking import Asked
from mnemic.core.answering.evidence import Sentence, share, stem_weights
from mnemic.model.query import Hit
from mnemic.text import terms


@dataclass(frozen=True, slots=True)
class Signs:
    """What the confidence is made of. `ours` are hits of or about the one asked about, `others` the rest.

    `top` is the best score, `cover` the best share of the question's stems in one of our hits, `lead` how much our
    best hit is above the others' best in score, `lead_cover` the same in share, `close` the share in the best
    sentence with those beside it, `first` whether the best hit is ours, `known` whether someone known is named.
    """

    top: float
    cover: float
    lead: float
    lead_cover: float
    close: float
    first: float
    known: float


WEIGHTS: Final = (8.0, 1.5, 6.0, 1.5, 1.0, 0.5, 0.3)
BIAS: Final = -3.6


def read_signs(asked: Asked, hits: Sequence[Hit], sentences: Sequence[Sentence]) -> Signs:
    """Return the signs for and against an answer."""
    weights = stem_weights(asked, hits)
    mine = {sentence.rank for sentence in sentences if sentence.ours}
    cover = [share(weights, frozenset(terms(hit.text[:4_000]))) for hit in hits]
    ours = [place for place in range(len(hits)) if place in mine]
    others = [place for place in range(len(hits)) if place not in mine]

    def best(values: Sequence[float], places: Sequence[int]) -> float:
        return max((values[place] for place in places), default=0.0)

    scores = [hit.score for hit in hits]
    return Signs(
        top=best(scores, range(len(hits))),
        cover=best(cover, ours[:10]),
        lead=best(scores, ours) - best(scores, others) if ours and others else 0.1,
        lead_cover=best(cover, ours[:10]) - best(cover, others[:10]),
        close=sentences[0].around if sentences else 0.0,
        first=1.0 if ours and ours[0] == 0 else 0.0,
        known=1.0 if asked.speakers else 0.0,
    )


def confidence(signs: Signs) -> float:
    """Return how likely it is that the evidence answers the question, 0 to 1."""
    total = BIAS + sum(weight * value for weight, value in zip(WEIGHTS, astuple(signs), strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
