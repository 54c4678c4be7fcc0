"""Which numbers a text says in English words: "eighty-four", "four hundred and twelve", "the thirteenth", "twice"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mnemic.text import words

_UNITS: Final = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen""".split()
    )
}
_TENS: Final = {
    word: 10 * number for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SCALES: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_OTHERS: Final = {"a": 1, "an": 1, "once": 1, "twice": 2, "thrice": 3, "both": 2, "couple": 2, "dozen": 12}
_PLAIN: Final = 2
_ORDINALS: Final = {
    word: number
    for number, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split(),
        1,
    )
} | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50}


def numbers_said(text: str) -> frozenset[int]:
    """Return the numbers that a text says in words, of a run of them the whole and its parts."""
    return frozenset(_found(words(text)))


def counts_told(text: str) -> frozenset[int]:
    """Return the numbers from three up that a text tells in number words, which somebody must have said.

    What is two is often plain to see: two names were told.
    """
    return frozenset(
        number for number in _runs(["." if word in _ORDINALS else word for word in words(text)]) if number > _PLAIN
    )


def _found(said: list[str]) -> Iterator[int]:
    for word in said:
        for listed in (_UNITS, _TENS, _OTHERS, _ORDINALS):
            if word in listed:
                yield listed[word]
    yield from _runs(said)


def _runs(said: list[str]) -> Iterator[int]:
    """Yield what each run of number words comes to."""
    whole = part = 0
    open_run = False
    for word in [*said, ""]:
        value = _UNITS.get(word, _TENS.get(word, _ORDINALS.get(word)))
        if value is not None and open_run and not _continues(part, value):
            yield whole + part
            whole = part = 0
        if value is not None:
            part, open_run = part + value, True
        elif word in _SCALES:
            scale = _SCALES[word]
            part, open_run = (part or 1) * scale, True
            if scale >= 1_000:
                whole, part = whole + part, 0
        elif open_run and word != "and":
            yield whole + part
            whole, part, open_run = 0, 0, False


def _continues(part: int, value: int) -> bool:
    """Tell whether a number goes on with a value: twenty with one to nine, a hundred with what is smaller."""
    if part == 0:
        return True
    return (part % 100 == 0 and value < 100) or (part % 10 == 0 and part % 100 >= 20 and value < 10)
