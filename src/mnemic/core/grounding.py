"""Whether a statement says only what was said: each number and name in it must stand in the words that it rests on.

Names are words with a capital letter; in German, which writes all nouns so, the value's words decide alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from mnemic.core.counting import counts_told, numbers_said
from mnemic.model.moment import TimeSpan
from mnemic.text import STOP_WORDS, content_terms, fold, likely, stem, words

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITAL: Final = re.compile(r"(?<=[^\W\d_]|[,;:'\"(\u2019])\s+([^\W\d_][\w'\u2019-]+)")
_FIRST: Final = re.compile(r"(?:\A|[.!?]\s+)[\"'(\u201c]?([^\W\d_][\w'\u2019-]+)")
_OPENING: Final = STOP_WORDS | frozenset(
    """since during every although though despite instead within without besides unlike nobody everybody someone
    everyone somebody people today user assistant speaker human client neither either another whenever together
    according currently recently previously formerly""".split()
)
"""Words that begin a sentence and are no names."""

_OWN_WORDS: Final = 4  # that a statement may have; more than that is a tale of its own
_SMALL: Final = 12  # numbers up to this are often said in words
_CALENDAR: Final = frozenset(
    """january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday spring summer autumn fall winter""".split()
)


def unsaid(
    statement: str, value: str, said: Iterable[str], time: TimeSpan | None, *, beside: Iterable[str] = ()
) -> str | None:
    """Return what a statement or its value holds that nobody said: a number or a name; None when there is nothing.

    `beside` are texts whose names a statement may hold too, but not its value: what is known, and earlier turns.
    """
    told = " ".join(said)
    if time is not None:
        told += f" {time.label()} {time.words} " + " ".join(
            f"{each:%Y %m %d}" for each in (time.start, time.end) if each
        )
    number = _unsaid_number(f"{value}. {statement}", told)
    return number or _unsaid_name(statement, value, told, " ".join(beside))


def shares_a_word(value: str, said: Iterable[str]) -> bool:
    """Tell whether a word of a value that carries meaning stands in what was said."""
    heard = {term for text in said for term in content_terms(text)}
    wanted = set(content_terms(value))
    return not wanted or not wanted.isdisjoint(heard)


def rests_on(value: str, said: Iterable[str]) -> bool:
    """Tell whether half of a value's words that carry meaning stand in what was said, in English; elsewhere one."""
    texts = list(said)
    heard = {term for text in texts for term in content_terms(text)}
    wanted = _telling(value)
    if not wanted:
        return True
    if not _is_english(" ".join([value, *texts])):
        return not wanted.isdisjoint(heard)
    return 2 * len(wanted & heard) >= len(wanted)


def goes_beyond(statement: str, said: Iterable[str]) -> bool:
    """Tell whether a statement in English holds more words of its own than a paraphrase needs."""
    texts = list(said)
    if not _is_english(" ".join([statement, *texts])):
        return False
    heard = {term for text in texts for term in content_terms(text)}
    return len(_telling(statement) - heard) > _OWN_WORDS


def _telling(text: str) -> set[str]:
    """Return the stems of a text that carry meaning, without numbers and the calendar, which are checked as such."""
    return {
        stem(word) for word in words(text) if word not in STOP_WORDS and word not in _CALENDAR and not word.isdecimal()
    }


def _is_english(text: str) -> bool:
    return likely(set(words(text)), text) == ()


def _unsaid_number(text: str, told: str) -> str | None:
    known = {_plain(each) for each in _NUMBER.findall(told)}
    counted = {str(number) for number in numbers_said(told)}
    heard = known | counted
    foreign = not _is_english(told)
    for each in map(str, _NUMBER.findall(text)):
        plain = _plain(each)
        parts = {_plain(part) for part in re.split("[.,:]", each)}
        if plain in heard or parts <= heard:
            continue
        if plain.isdigit() and int(plain) <= _SMALL and foreign:
            continue  # said in the words of a language whose numbers are not known here
        return each
    if foreign:
        return None
    return next((str(number) for number in sorted(counts_told(text)) if str(number) not in heard), None)


def _plain(number: str) -> str:
    return re.sub(r"[,:.]", "", number).lstrip("0") or "0"


def _unsaid_name(statement: str, value: str, told: str, beside: str) -> str | None:
    heard = {stem(each) for each in words(told)}
    around = heard | {stem(each) for each in words(beside)}
    small = set(re.findall(r"[^\W\d_][\w'\u2019-]*", statement))
    for place, word in enumerate(words_of(value)):
        begins = place == 0 and word.lower() in small  # it has its capital letter for standing first
        if word[0].isupper() and not begins and _is_foreign(word, heard):
            return word
    if _is_german(f"{statement} {told}"):
        return None
    return next((word for word in _capitals(statement, told) if _is_foreign(word, around)), None)


def _is_foreign(word: str, heard: set[str]) -> bool:
    return fold(word) not in _CALENDAR and any(stem(each) not in heard for each in words(word))


def _capitals(statement: str, told: str) -> Iterator[str]:
    """Yield the words with a capital letter inside sentences and, in English, those in front that may be names."""
    if _is_english(f"{statement} {told}"):
        fronts = map(str, _FIRST.findall(statement))
        yield from (word for word in fronts if word[0].isupper() and fold(word) not in _OPENING and word[-3:] != "ing")
    yield from (word for word in map(str, _CAPITAL.findall(statement)) if word[0].isupper())


def _is_german(text: str) -> bool:
    return "de" in (likely(set(words(text)), text) or ())


def words_of(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return re.findall(r"[^\W\d_][\w'\u2019-]*", text)
