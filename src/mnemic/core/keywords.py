"""The words that tell a page or a segment apart, for its label and for the Jaccard half of segment assignment.

Words are counted by stem and shown in the form that was used most; how rare a stem is in the cube weighs it (tf-idf)
when the caller knows. It is a statistic over words, deliberately not a model of topics.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from mnemic.text import STOP_WORDS, stem, words

FILLERS: Final = frozenset(
    """able absolutely actually always amazing amp another anything anyway awesome awhile back bet bit bye came care
    around best part come coming cool definitely else ever every everyone everything exciting feel feeling felt fine
    forward
    found fun getting give given glad go goes going gone good gotta gotten great guess haha happen happened hear
    heard hello help heres hope idea ill im image keep kind kinda know last let lets like little long look
    looking looks lot lots love loved made make makes making many matter maybe mean might miss much need never
    new next nice now okay one ones others people perfect photo photography photos pic picture please pretty
    probably put quite right said saw say saying see seem seems seen share sharing show since someone something
    soon sorry sound sounds still stuff super sure take taking talk tell thank thanks theyd theyll theyve thing
    things think thinking thought time times today together told tomorrow took tried try trying two use used
    using via want wanted way week well went whats whos wish without wonder wonderful wondering worth would yay
    year years yep yes yesterday yet youd youll youve yup""".split()
)
"""What people say about any topic; shown only when a text has nothing else."""

_TOGETHER: Final = 0.6
"""Share of the rarer word's uses that must be in the pair for two words to become one phrase."""


def keywords(
    texts: Sequence[str],
    *,
    limit: int = 8,
    frequency: Mapping[str, int] | None = None,
    total: int = 0,
    skip: Collection[str] = (),
) -> tuple[str, ...]:
    """Return at most `limit` keywords of the texts, the weightiest first.

    `frequency` tells in how many of the cube's `total` texts a stem occurs; without it all stems count as equally
    rare. `skip` names what is no topic here, such as the speakers. Two words that mostly come side by side, at least
    twice, are one keyword. Equal weights keep the order of first use, so that the same texts give the same keywords.
    """
    skipped = {stem(word) for name in skip for word in words(name)}
    runs = [_run(text, skipped) for text in texts]
    kept = [[word if word and word not in FILLERS else "" for word in run] for run in runs]
    if not any(word for run in kept for word in run):
        kept = runs
    counts: Counter[str] = Counter(stem(word) for run in kept for word in run if word)
    forms = _forms(kept)
    phrases = _phrases(kept, counts)
    weights = {each: _weight(count, each, frequency, total) for each, count in counts.items()}
    chosen: list[str] = []
    used: set[str] = set()
    for each in sorted(counts, key=lambda key: -weights[key]):
        if each in used:
            continue
        pair = phrases.get(each, (each,))
        if used.isdisjoint(pair):
            chosen.append(" ".join(forms[part] for part in pair))
            used.update(pair)
        else:
            chosen.append(forms[each])
            used.add(each)
        if len(chosen) == limit:
            break
    return tuple(chosen)


def stems(labels: Iterable[str]) -> frozenset[str]:
    """Return the stems of keywords, phrases taken apart: what `overlap` compares."""
    return frozenset(stem(word) for label in labels for word in words(label))


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the Jaccard index of two sets of stems; 0 when both are empty."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


def _run(text: str, skipped: Collection[str]) -> list[str]:
    """Return the words of a text with an empty string in the place of each that can be no keyword."""
    return [word if _can_name(word) and stem(word) not in skipped else "" for word in words(text)]


def _can_name(word: str) -> bool:
    if word in STOP_WORDS or word.isnumeric() or not any(char.isalnum() for char in word):
        return False
    return len(word) > 1 or not word.isascii()


def _forms(runs: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return the most used form of each stem; of equally used ones the shortest, then the first in the alphabet."""
    uses = Counter(word for run in runs for word in run if word)
    forms: dict[str, str] = {}
    for word in sorted(uses, key=lambda word: (-uses[word], len(word), word)):
        forms.setdefault(stem(word), word)
    return forms


def _phrases(runs: Sequence[Sequence[str]], counts: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """Return for a stem the pair of stems that it mostly comes in."""
    pairs = Counter(
        (stem(left), stem(right))
        for run in runs
        for left, right in pairwise(run)
        if left and right and left.isascii() and right.isascii() and left != right
    )
    found: dict[str, tuple[str, str]] = {}
    for pair, count in pairs.most_common():
        if count < 2 or count < _TOGETHER * min(counts[pair[0]], counts[pair[1]]):
            continue
        for each in pair:
            found.setdefault(each, pair)
    return found


def _weight(count: int, each: str, frequency: Mapping[str, int] | None, total: int) -> float:
    rarity = 1.0
    if frequency is not None and total > 0:
        seen = min(max(frequency.get(each, 0), 0), total)
        rarity = math.log1p((total - seen + 0.5) / (seen + 0.5))
    return (1.0 + math.log(count)) * rarity
