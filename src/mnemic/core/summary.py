"""Extractive summaries of topics: the sentences that say most of what a topic is about, verbatim, with their speakers.

A sentence is worth the topic's words that it adds to the summary. Greetings, questions and thanks add none. Nothing is
rewritten, so a summary never says what nobody said.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.keywords import FILLERS, stems
from mnemic.text import STOP_WORDS, sentences, shorten, stem, words

LIMIT: Final = 280
"""Characters of a summary."""

SENTENCES: Final = 3
"""Sentences of a summary."""

_TYPICAL: Final = 60
"""Characters of a sentence that costs nothing extra; longer ones have to say more."""

_KEYWORD: Final = 2.0
"""How much more a keyword of the topic weighs than another word."""

_EMPTY: Final = re.compile(
    r"^(?:hey|hi|hello|thanks?|thank you|bye|good (?:morning|evening|night|luck|to see)|see you|take care|wow|congrat"
    r"|great to|nice to|glad|happy to hear|sounds|let me know|keep (?:it )?up"
    r"|(?:that|it)(?:['\u2019]s| is| sounds| must) (?:so|really|very|great|good|awesome|nice|cool|amazing|sweet)\b)",
    re.IGNORECASE,
)
"""How sentences begin that answer another one and tell nothing by themselves; a bracket opens a caption."""

_LEANING: Final = re.compile(
    r"^(?:it|that|this|they|those|these|he|she|and|but|so|yeah|yes|yep|\[)(?![a-z])", re.IGNORECASE
)
"""How sentences begin that need the one before them, and captions, which nobody said."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int
    speaker: str
    text: str
    terms: frozenset[str]
    worth: float


def summarise(lines: Sequence[tuple[str, str]], limit: int = LIMIT, *, keywords: Sequence[str] = ()) -> str:
    """Return at most three sentences of (speaker, text) lines in time order, within `limit` characters.

    Each stands after its speaker's name, which is not repeated for sentences in a row. `keywords` are the topic's and
    weigh double. Of lines without a telling sentence, the first one that fits is returned, or its beginning.
    """
    pool = _pool(lines)
    spread = Counter(term for sentence in pool for term in sentence.terms)
    topic = stems(keywords)
    weights = {term: math.log1p(count) * (_KEYWORD if term in topic else 1.0) for term, count in spread.items()}
    chosen: list[_Sentence] = []
    covered: set[str] = set()
    while len(chosen) < SENTENCES:
        fitting = [each for each in pool if each not in chosen and len(_written([*chosen, each])) <= limit]
        best = max(fitting, key=lambda each: (_gain(each, weights, covered), -each.place), default=None)
        if best is None or (chosen and _gain(best, weights, covered) <= 0):
            break
        chosen.append(best)
        covered |= best.terms
    if not chosen and pool:
        return shorten(_written(pool[:1]), limit)
    return _written(chosen)


def _pool(lines: Sequence[tuple[str, str]]) -> list[_Sentence]:
    told = [(speaker, " ".join(text.split())) for speaker, said in lines for text in sentences(said)]
    names = {word for speaker, _ in lines for word in words(speaker)}
    pool: list[_Sentence] = []
    seen: set[tuple[str, str]] = set()
    for place, (speaker, text) in enumerate(told):
        if (speaker, text) in seen:
            continue
        seen.add((speaker, text))
        kept = [word for word in words(text) if word not in STOP_WORDS and word not in FILLERS and word not in names]
        pool.append(_Sentence(place, speaker, text, frozenset(map(stem, kept)), _worth(text)))
    return pool


def _worth(text: str) -> float:
    if text.endswith(("?", "\uff1f")) or text.startswith("[") or _EMPTY.match(text):
        return 0.2
    return 0.6 if _LEANING.match(text) else 1.0


def _gain(sentence: _Sentence, weights: dict[str, float], covered: set[str]) -> float:
    added = sum(weights[term] for term in sentence.terms - covered)
    return added * sentence.worth / math.sqrt(max(1.0, len(sentence.text) / _TYPICAL))


def _written(chosen: Sequence[_Sentence]) -> str:
    parts: list[str] = []
    speaker: str | None = None
    for sentence in sorted(chosen, key=lambda each: each.place):
        named = sentence.speaker and sentence.speaker != speaker
        parts.append(f"{sentence.speaker}: {sentence.text}" if named else sentence.text)
        speaker = sentence.speaker
    return " ".join(parts)
