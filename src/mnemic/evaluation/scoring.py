"""How right an answer is, by its words and the gold answer's: token F1, BLEU-1, dates, and saying that it is not known.

Pure. F1 is that of LoCoMo's own scorer (snap-research/locomo, task_eval/evaluation.py), peculiarities included, with
Porter's stemmer as published in place of NLTK's variant of it; BLEU-1 is Papineni et al. (ACL 2002) for one reference.
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import Stemmer

from mnemic.core.temporal import find_times
from mnemic.model.moment import TimeSpan

MULTI_HOP: Final = "multi-hop"
OPEN_DOMAIN: Final = "open-domain"
"""LoCoMo's categories whose gold answers its scorer reads in a way of their own."""

DENIALS: Final = ("no information available", "not mentioned")
"""What LoCoMo's scorer takes for saying that it is not known."""

_PORTER: Final = Stemmer.Stemmer("porter")
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(?:a|an|the|and)\b")
_GLUED: Final = re.compile(r"(?<=\d)(?=[A-Z][a-z]{2})")
"""Where a file has lost the space of a date: "25October, 2022"."""

_COMMA: Final = re.compile(r"(?<=[a-z]),(?= ?\d{4}\b)")
"""The comma of "October, 2023", which keeps a month and its year apart."""


def tokens(text: str) -> list[str]:
    """Return the words that are compared: lower case, without punctuation, without "a", "an", "the" and "and"."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def token_f1(answer: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall over stems, each counted as often as it stands in both."""
    given, wanted = ([_stem(word) for word in tokens(text)] for text in (answer, gold))
    same = sum((Counter(given) & Counter(wanted)).values())
    if not same:
        return 0.0
    precision, recall = same / len(given), same / len(wanted)
    return 2 * precision * recall / (precision + recall)


def parts_f1(answer: str, gold: str) -> float:
    """Return the mean over the gold's parts between commas of the best F1 that a part of the answer has with it."""
    given = answer.split(",")
    wanted = gold.split(",")
    return sum(max(token_f1(part, each) for part in given) for each in wanted) / len(wanted)


def answer_f1(answer: str, gold: str, *, layout: str, category: str) -> float:
    """Return the F1 of an answer as its benchmark has it.

    In LoCoMo, multi-hop answers are compared part by part, and of an open-domain gold only what stands before the
    first ";" counts. Elsewhere it is the plain token F1.
    """
    if layout == "locomo" and category == MULTI_HOP:
        return parts_f1(answer, gold)
    return token_f1(answer, reference(gold, layout=layout, category=category))


def reference(gold: str, *, layout: str, category: str) -> str:
    """Return the part of a gold answer that counts."""
    return gold.split(";", maxsplit=1)[0].strip() if layout == "locomo" and category == OPEN_DOMAIN else gold


def bleu_1(answer: str, gold: str) -> float:
    """Return the clipped share of the answer's words that stand in the gold, times the penalty for being shorter.

    Words are those of `tokens`, not stemmed. The penalty is exp(1 - gold / answer) by numbers of words.
    """
    given, wanted = tokens(answer), tokens(gold)
    if not given or not wanted:
        return 0.0
    clipped = sum((Counter(given) & Counter(wanted)).values()) / len(given)
    return clipped * min(1.0, math.exp(1 - len(wanted) / len(given)))


def denies(answer: str) -> bool:
    """Tell whether an answer says that it is not known, by the two phrases of LoCoMo's scorer."""
    low = answer.lower()
    return any(phrase in low for phrase in DENIALS)


def dates_of(text: str, asked_at: datetime) -> list[TimeSpan]:
    """Return the dates, months and years that a text names, in order, read as UTC days.

    What counts from another moment ("two weeks ago") counts from `asked_at`. A year that stands alone is one.
    """
    plain = _COMMA.sub("", _GLUED.sub(" ", text)).replace("`", "").strip().rstrip(".")
    moment = asked_at.astimezone(UTC)
    found = find_times(plain, moment) or find_times(f"in {plain}", moment)
    return [time.span for time in found]


def date_scores(answer: str, gold: str, asked_at: datetime) -> Mapping[str, float]:
    """Return whether the answer has the gold's dates: `date exact`, the same days, and `date inside`, days within them.

    Nothing where the gold names no date that can be read ("four months", "Chicago").
    """
    wanted = dates_of(gold, asked_at)
    if not wanted:
        return {}
    given = dates_of(answer, asked_at)
    return {"date exact": _each(wanted, given, _same), "date inside": _each(wanted, given, _inside)}


def word_scores(answer: str, gold: str, *, layout: str, category: str) -> Mapping[str, float]:
    """Return `F1` and `BLEU-1` of an answer."""
    return {
        "F1": answer_f1(answer, gold, layout=layout, category=category),
        "BLEU-1": bleu_1(answer, reference(gold, layout=layout, category=category)),
    }


def _stem(word: str) -> str:
    """Return a word's stem; words of one or two letters are their own, as in Porter's program and in NLTK's."""
    return word if len(word) <= 2 else str(_PORTER.stemWord(word))


def _each(wanted: Sequence[TimeSpan], given: Sequence[TimeSpan], fits: Callable[[TimeSpan, TimeSpan], bool]) -> float:
    """Return 1 when every wanted time has its like among the given ones, else 0."""
    return float(all(any(fits(each, other) for other in given) for each in wanted))


def _same(wanted: TimeSpan, given: TimeSpan) -> bool:
    return (wanted.start, wanted.end) == (given.start, given.end)


def _inside(wanted: TimeSpan, given: TimeSpan) -> bool:
    """Tell whether the given time lies within the wanted one."""
    if given.start is None or given.end is None:
        return _same(wanted, given)
    return (wanted.start is None or wanted.start <= given.start) and (wanted.end is None or given.end <= wanted.end)
