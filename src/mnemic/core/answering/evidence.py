"""The sentences of the hits, each with how well it fits the question; what people have corrected of a document is none.

A sentence stands for the words around it: what the sentence before it says counts half. Rarity of a stem is judged by
the hits alone, for the whole memory is not seen from here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from mnemic.core.answering.asking import Asked
from mnemic.core.answering.roots import content_roots, roots
from mnemic.core.answering.stated import CORRECTED, CORRECTS, TAKEN_BACK
from mnemic.model.moment import TimeSpan
from mnemic.model.query import Hit
from mnemic.text import fold, sentence_spans, words

_LONGEST: Final = 4_000  # characters of a hit that are read
_DERIVED: Final = 0.2
"""What a memory's score is above that of a message as good: it is short, and all of it is the point."""
_MOST_OF_IT: Final = 0.6  # share of a message from which a quote is what it says
_SOON: Final = timedelta(days=10)  # what happened is mostly told within days
_SAID_THEN: Final = 0.25
_CORRECTION: Final = re.compile(
    r"\b(?:correction|i (?:told|said) (?:you )?(?:it )?wrong|i was wrong|it's actually|it is actually)\b", re.IGNORECASE
)
_CORRECTS: Final = 0.25


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a hit, `start:end` of its text. `cover` is the share of the question's weight in it (0 to 1),
    `around` the same for the sentence with those beside it, `score` what both and the hit are worth together.
    `ours` says that the one who is asked about speaks or is spoken of.
    """

    hit: Hit
    rank: int
    text: str
    start: int
    end: int
    terms: frozenset[str]
    cover: float
    around: float
    score: float
    ours: bool

    @property
    def said_at(self) -> datetime:
        """The moment when it was said."""
        return self.hit.said_at


def corrected(hits: Sequence[Hit], over: Sequence[Hit]) -> list[Hit]:
    """Return the hits with what corrects them in the place of messages that say little else than what was taken back.

    `over` has the versions that were taken back, marked so, and what their memories say now.
    """
    right = {hit.id: hit for hit in over if hit.metadata.get(CORRECTS)}
    wrong: dict[str, Hit] = {}
    quoted: dict[str, int] = {}
    for hit in over:
        if hit.metadata.get(TAKEN_BACK) and hit.id in right:
            for source in hit.sources:
                wrong[source.message_id] = right[hit.id]
                quoted[source.message_id] = max(quoted.get(source.message_id, 0), len(source.quote))
    kept: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        instead = wrong.get(hit.id)
        if hit.kind == "message" and instead is not None and quoted[hit.id] >= _MOST_OF_IT * len(hit.text.strip()):
            kept.setdefault((instead.id, instead.text), replace(instead, score=hit.score))
        else:
            kept.setdefault((hit.id, hit.text), hit)
    return list(kept.values())


def pool_of(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits to read sentences in, best first: a memory gives way to the message that it was drawn from, which
    takes over its score when that is better.
    """
    messages = {hit.id for hit in hits if hit.kind == "message"}
    raised: dict[str, float] = {}
    kept = []
    for hit in hits:
        said = [source.message_id for source in hit.sources if source.message_id in messages]
        if hit.metadata.get(CORRECTS) and hit.kind != "message":
            kept.append(hit)
        elif hit.kind != "message" and said:
            for each in said:
                raised[each] = max(raised.get(each, 0.0), hit.score - _DERIVED)
        else:
            verbatim = hit.kind == "message" or hit.locator is not None
            kept.append(hit if verbatim else replace(hit, score=max(0.0, hit.score - _DERIVED)))
    lifted = [replace(hit, score=max(hit.score, raised.get(hit.id, 0.0))) for hit in kept]
    return sorted(lifted, key=lambda hit: -hit.score)


def stem_weights(asked: Asked, hits: Sequence[Hit]) -> dict[str, float]:
    """Return how much each stem of the question tells, judged by in how many of the hits it stands."""
    held = [roots(hit.text[:_LONGEST]) for hit in hits]
    return {each: math.log1p((len(held) + 1) / (sum(each in one for one in held) + 0.5)) for each in asked.stems}


def share(weights: Mapping[str, float], found: frozenset[str]) -> float:
    """Return the share of the weights whose stems are found; 0 when there are none."""
    whole = sum(weights.values())
    return sum(weight for each, weight in weights.items() if each in found) / whole if whole else 0.0


def read_sentences(asked: Asked, hits: Sequence[Hit]) -> list[Sentence]:
    """Return the sentences of all hits, best first; said in, or soon after, a time that is named makes them better."""
    weights = stem_weights(asked, hits)
    found = []
    for rank, hit in enumerate(hits):
        timely = _SAID_THEN if any(_near(span, hit.said_at) for span in asked.times) else 0.0
        found.extend(_of_hit(asked, hit, rank, weights, timely))
    return sorted(found, key=lambda sentence: -sentence.score)


def _near(span: TimeSpan, said_at: datetime) -> bool:
    try:
        return replace(span, end=span.end + _SOON if span.end else None).contains(said_at)
    except OverflowError:  # beyond what datetime can hold
        return span.contains(said_at)


def _of_hit(asked: Asked, hit: Hit, rank: int, weights: Mapping[str, float], timely: float) -> list[Sentence]:
    text = hit.text[:_LONGEST]
    spans = sentence_spans(text)
    stems = [roots(text[start:end]) for start, end in spans]
    ours = is_about(asked, hit)
    for_hit = timely + 3.0 * hit.score + (0.35 if ours else 0.0) + (_CORRECTS if _CORRECTION.search(text) else 0.0)
    found = []
    wrong = hit.metadata.get(CORRECTED, ()) if hit.locator is not None else ()
    for place, (start, end) in enumerate(spans):
        if any(text[start:end] in each or each in text[start:end] for each in wrong):
            continue
        beside = stems[max(0, place - 1) : place + 2]
        cover, around = share(weights, stems[place]), share(weights, frozenset().union(*beside))
        score = _worth(asked, text[start:end], cover, around) + for_hit
        found.append(Sentence(hit, rank, text[start:end], start, end, stems[place], cover, around, score, ours))
    return found


def is_about(asked: Asked, hit: Hit) -> bool:
    """Tell whether the hit is of, or about, the one whom the question asks about; True when it names no one."""
    if not asked.speakers:
        return True
    subject = str(hit.metadata.get("subject", "")) if hit.kind != "message" and hit.locator is None else ""
    return any(fold(name) in (fold(hit.speaker), fold(subject)) for name in asked.speakers)


def _worth(asked: Asked, text: str, cover: float, around: float) -> float:
    """Return what a sentence is worth by itself; a question hardly answers, and an answer says something new."""
    new = min(4, len(_fresh(asked, text)))
    question = text.rstrip().endswith("?")
    return 0.5 * cover + 0.5 * around + 0.03 * new + 0.05 * math.log1p(len(text)) - (0.37 if question else 0.0)


def _fresh(asked: Asked, text: str) -> set[str]:
    """Return the stems of a sentence that the question does not have: what it could answer with."""
    return set(content_roots(words(text))) - set(asked.stems)
