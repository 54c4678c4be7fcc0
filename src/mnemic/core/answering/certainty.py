"""Whether the evidence answers the question at all: a confidence from 0 to 1.

Where several people talk and the question names one of them, it is a logistic model over who says what is asked.
Where nobody else can be meant, it is what the search itself makes of it, less when names of the question are missing.
`python -m bench.fitting.certainty` writes the weights. It cannot know what was never said in other words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.answering.asking import Asked
from mnemic.core.answering.evidence import Sentence, share, stem_weights
from mnemic.core.answering.roots import roots
from mnemic.core.fusion import chance
from mnemic.model.query import Hit
from mnemic.text import words


@dataclass(frozen=True, slots=True)
class Signs:
    """What the confidence is made of. Ours are the hits of or about the one who is asked about, theirs are the rest;
    a cover is the share of the question's stems, weighed by rarity, that stands in a hit. `rivals` says that somebody
    else may be meant; nobody else can be without.

    `depth` is the mean of our three best covers above that of their three best, `lead` our best score above their
    best, both 0 without rivals; `about` says that somebody is asked about; `cover` is our best cover, `named` the share
    of the question's other names (a pet, a place) that stand in the best evidence.
    """

    rivals: bool
    about: bool
    depth: float
    lead: float
    cover: float
    named: float


OFFSET: Final = -2.04
DEPTH: Final = 5.27
LEAD: Final = 3.83
NAMED: Final = 0.4

_CALENDAR: Final = frozenset(
    """january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday i""".split()
)
_WHOLE: Final = 0.95
_BESIDE: Final = 0.6
_COVER: Final = 7.5
_ENOUGH: Final = {True: 0.13, False: 0.5}
"""The cover that makes an answer as likely as not where search knows nothing: with and without somebody asked about."""


def read_signs(asked: Asked, hits: Sequence[Hit], sentences: Sequence[Sentence], *, rivals: bool) -> Signs:
    """Return the signs for and against an answer; `rivals` says that several people talk, and one of them is named."""
    weights = stem_weights(asked, hits)
    mine = {sentence.rank for sentence in sentences if sentence.ours}
    covers = [(share(weights, roots(hit.text[:4_000])), hit.score, place in mine) for place, hit in enumerate(hits)]
    ours = sorted((cover for cover, _, own in covers if own), reverse=True)
    theirs = sorted((cover for cover, _, own in covers if not own), reverse=True)
    cover = ours[0] if ours else 0.0
    named = _names_in(asked, sentences[0].hit, hits) if sentences else 0.0
    if not rivals:
        return Signs(rivals, bool(asked.speakers), 0.0, 0.0, cover, named)
    lead = max((score for _, score, own in covers if own), default=0.0) - max(
        (score for _, score, own in covers if not own), default=0.0
    )
    least = 0.0 if cover > _WHOLE else -1.0  # who says all of it is not made doubtful by others who say it more often
    return Signs(
        rivals=rivals,
        about=True,
        depth=max(least, (sum(ours[:3]) - sum(theirs[:3])) / min(3, max(len(ours), len(theirs), 1))),
        lead=lead if theirs and ours else 0.0,
        cover=cover,
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
    about = hit.metadata.get("subject", "") if hit.locator is None else hit.locator
    return set(words(f"{hit.speaker} {about} {hit.text[:4_000]}"))


def confidence(signs: Signs, likely: float | None) -> float:
    """Return how likely it is that the evidence answers the question, 0 to 1; `likely` is what the search says."""
    if signs.rivals:
        return chance(OFFSET + DEPTH * signs.depth + LEAD * signs.lead + NAMED * signs.named)
    if likely is None:
        return chance(_COVER * (signs.cover * signs.named - _ENOUGH[signs.about]))
    certain = min(max(likely, 1e-9), 1 - 1e-9)
    return chance(math.log(certain / (1 - certain)) + NAMED * (signs.named - 1))
