"""When two values are the same, and when one says more than the other, judged by their words alone.

Values are compared as sets of stems without function words. "Alfama, Lisbon" says more than "Lisbon", and "a dog
named Max" more than "a dog"; "dog food" does not, for it is another thing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from mnemic.text import STOP_WORDS, content_terms, fold, stem, words

_TAIL: Final = re.compile(
    r"[,;(]|\b(?:named|called|in|at|of|from|with|for|near|on|by|to|who|that|which|and|because|when)\b", re.IGNORECASE
)
"""What ends the noun phrase that a value begins with; its last word is what the value is about."""

_PLACE: Final = re.compile(r"[,;]|\bin\b", re.IGNORECASE)


_OTHERS: Final = frozenset(
    stem(word)
    for word in "another assistant chief deputy ex former head junior lead new old retired second senior".split()
)
"""Words that make something else of what they stand with: a senior nurse was promoted, a new car is another one."""


@lru_cache(maxsize=16_384)
def value_terms(value: str) -> frozenset[str]:
    """Return the stems of a value that carry meaning; of a value without words, the value itself."""
    return frozenset(content_terms(value)) or frozenset((fold(value).strip(),))


def stems_key(value: str) -> str:
    """Return the stems of a value as one string, in an order that does not depend on the wording."""
    return " ".join(sorted(value_terms(value)))


def same_value(a: str, b: str) -> bool:
    """Tell whether two values are the same but for case, accents, inflection, order and function words."""
    return value_terms(a) == value_terms(b)


def says_more(specific: str, general: str) -> bool:
    """Tell whether one value holds all that the other says, and more, about the same thing.

    The general value is either what the specific one is about (its head noun), or a place that it lies in.
    """
    all_of_it = value_terms(general)
    if not all_of_it < value_terms(specific) or _OTHERS & (value_terms(specific) - all_of_it):
        return False
    head = [stem(word) for word in words(_TAIL.split(specific.strip(), maxsplit=1)[0]) if word not in STOP_WORDS]
    if head and head[-1] in all_of_it:
        return True
    return any(part.strip() and value_terms(part) == all_of_it for part in _PLACE.split(specific)[1:])


def akin(a: str, b: str) -> bool:
    """Tell whether two values are the same, or one says more than the other."""
    return same_value(a, b) or says_more(a, b) or says_more(b, a)
