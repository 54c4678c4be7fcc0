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
from mnemic.core.answering.roots import roots
from mnemic.model.query import Hit
from mnemic.text import words


@dataclass(frozen=True, slots=True)
class Signs:
    """What the confidence is made of. Ours are the hits of or about the one who is asked about, theirs are the rest;
    a cover is the share of the question's stems, weighed by rarity, that stands in a hit.

    `depth` is the mean of our three best covers above that of their three best; `cover` our best cover, `ahead` that
    above theirs; `lead` our best score above their best; `named` the share of the question's other names (a pet, a
    place) that stand in the best evidence.
    """

    depth: float
    cover: float
    ahead: float
    lead: float
    named: float


WEIGHTS: Final = (4.2, 1.6, 1.7, -10.0, 0.8)
BIAS: Final = -1.8
_CALENDAR: Final = frozenset(
    """january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday i""".split()
)
_WHOLE: Final = 0.95
_BESIDE: Final = 0.6
_NOBODY: Final = 0.25
"""Half the depth and lead of cover that a question without names is given: nobody else can be meant."""


def read_signs(asked: Asked, hits: Sequence[Hit], sentences: Sequence[Sentence]) -> Signs:
    """Return the signs for and against an answer."""
    weights = stem_weights(asked, hits)
    mine = {sentence.rank for sentence in sentences if sentence.ours}
    covers = [(share(weights, roots(hit.text[:4_000])), hit.score, place in mine) for place, hit in enumerate(hits)]
    ours = sorted((cover for cover, _, own in covers if own), reverse=True)
    theirs = sorted((cover for cover, _, own in covers if not own), reverse=True)
    cover = ours[0] if ours else 0.0
    best = sentences[0].hit if sentences else None
    named = _names_in(asked, best, hits) if best else 0.0
    if not asked.speakers:
        held = cover * named
        return Signs(held - 2 * _NOBODY, held, held - 2 * _NOBODY, 0.0, named)
    lead = max((score for _, score, own in covers if own), default=0.0) - max(
        (score for _, score, own in covers if not own), default=0.0
    )
    least = 0.0 if cover > _WHOLE else -1.0  # who says all of it is not made doubtful by others who say it more often
    return Signs(
        depth=max(least, (sum(ours[:3]) - sum(theirs[:3])) / 3),
        cover=cover,
        ahead=max(least, cover - (theirs[0] if theirs else 0.0)),
        lead=lead if theirs and ours else 0.0,
        named=named,
    )


def _names_in(asked: Asked, hit: Hit, hits: Sequence[Hit]) -> float:
    """Return the share of a question's names, speakers' left out, that stand in a hit, or less surely beside it."""
    spoken = {word for name in asked.speakers for word in words(name)}
    names = [name for name in asked.names if not (spoken | _CALENDAR) & set(words(name))]
    if not names:
        return 1.0
    held = _words_of(hit)
    beside = {word for other in hits if other.session and other.session == hit.session for word in _words_of(other)}
    found = [1.0 if held & set(words(name)) else _BESIDE if beside & set(words(name)) else 0.0 for name in names]
    return sum(found) / len(found) if asked.speakers else min(found[0], sum(found) / len(found))


def _words_of(hit: Hit) -> set[str]:
    return set(words(f"{hit.speaker} {hit.metadata.get('subject', '')} {hit.text[:4_000]}"))


def confidence(signs: Signs) -> float:
    """Return how likely it is that the evidence answers the question, 0 to 1."""
    total = BIAS + sum(weight * value for weight, value in zip(WEIGHTS, astuple(signs), strict=True))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
