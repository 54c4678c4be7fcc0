"""Whether a statement says only what was said: each number and name in it must stand in the words that it rests on.

Names are words with a capital letter; in German, which writes all nouns so, the value's words decide alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from mnemic.core.temporal_words import NUMBERS
from mnemic.model.moment import TimeSpan
from mnemic.text import content_terms, fold, likely, stem, words

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITAL: Final = re.compile(r"(?<=[^\W\d_]|[,;:'\"(\u2019])\s+([^\W\d_][\w'\u2019-]+)")
_SMALL: Final = 12  # numbers up to this are often said in words
_CALENDAR: Final = frozenset(
    """january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday spring summer autumn fall winter""".split()
)


def unsaid(statement: str, value: str, said: Iterable[str], time: TimeSpan | None) -> str | None:
    """Return what a statement or its value holds that nobody said: a number or a name; None when there is nothing."""
    texts = list(said)
    told = " ".join(texts)
    if time is not None:
        told += f" {time.label()} {time.words} " + " ".join(
            f"{each:%Y %m %d}" for each in (time.start, time.end) if each
        )
    number = _unsaid_number(f"{value} {statement}", told)
    return number or _unsaid_name(statement, value, told)


def shares_a_word(value: str, said: Iterable[str]) -> bool:
    """Tell whether a word of a value that carries meaning stands in what was said."""
    heard = {term for text in said for term in content_terms(text)}
    wanted = set(content_terms(value))
    return not wanted or not wanted.isdisjoint(heard)


def _unsaid_number(text: str, told: str) -> str | None:
    known = {_plain(each) for each in _NUMBER.findall(told)}
    counted = {f"{NUMBERS[word]:g}" for word in words(told) if word in NUMBERS}
    for each in map(str, _NUMBER.findall(text)):
        plain = _plain(each)
        if plain in known or plain in counted:
            continue
        if plain.isdigit() and int(plain) <= _SMALL and not counted and not told.isascii():
            continue  # said in the words of a language whose numbers are not known here
        return each
    return None


def _plain(number: str) -> str:
    return re.sub(r"[,:.]", "", number).lstrip("0") or "0"


def _unsaid_name(statement: str, value: str, told: str) -> str | None:
    inside = _CAPITAL.findall(statement)
    capital = [word for word in inside if word[0].isupper()]
    checked = [word for word in words_of(value) if word[0].isupper()]
    if not _is_german(f"{statement} {told}"):
        checked += capital
    heard = {stem(each) for each in words(told)}
    for word in map(str, checked):
        stems = [stem(each) for each in words(word)]
        if fold(word) not in _CALENDAR and any(each not in heard for each in stems):
            return word
    return None


def _is_german(text: str) -> bool:
    return "de" in (likely(set(words(text)), text) or ())


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return re.findall(r"[^\W\d_][\w'\u2019-]*", text)
