"""Extractive summaries: the sentences that say most of what a topic is about, with their speakers, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mnemic.text import content_terms, sentences, shorten

LIMIT = 280
"""Characters of a summary."""


def summarise(lines: Sequence[tuple[str, str]], limit: int = LIMIT) -> str:
    """Return at most three central sentences of (speaker, text) lines in time order, within `limit` characters."""
    found = [(speaker, sentence) for speaker, text in lines for sentence in sentences(text)]
    counts = Counter(term for _, sentence in found for term in set(content_terms(sentence)))
    scored = []
    for place, (_, sentence) in enumerate(found):
        terms = set(content_terms(sentence))
        score = sum(counts[term] - 1 for term in terms) / (4 + len(terms)) + min(len(terms), 8) / 8
        scored.append((score - 1.5 * sentence.endswith("?"), -place))
    chosen: list[int] = []
    left = limit
    for _, place in sorted(scored, reverse=True):
        speaker, sentence = found[-place]
        cost = len(speaker) + len(sentence) + 3
        if cost <= left and len(chosen) < 3:
            chosen.append(-place)
            left -= cost
    if not chosen and found:
        return shorten(f"{found[0][0]}: {found[0][1]}", limit)
    return " ".join(f"{found[place][0]}: {found[place][1]}" for place in sorted(chosen))
