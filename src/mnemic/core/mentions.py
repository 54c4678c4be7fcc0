"""Whether a text mentions a phrase: the same words, whole and in order, whatever their case and accents."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.text import fold, words


def phrase_of(text: str) -> tuple[str, ...]:
    """Return the folded words of a phrase; none for white space."""
    return tuple(words(text))


def is_part(phrase: Sequence[str]) -> bool:
    """Tell whether a phrase is one character of a script without spaces, which is only ever a part of a word."""
    return len(phrase) == 1 and len(phrase[0]) == 1 and not phrase[0].isascii()


def mentions(text: str, phrase: Sequence[str]) -> bool:
    """Tell whether a text holds the words of a phrase one after the other."""
    if not phrase:
        return False
    if len(phrase) == 1 and len(phrase[0]) == 1 and not phrase[0].isascii():
        return phrase[0] in fold(text)  # one character of a script without spaces is a word
    said = words(text)
    if is_part(phrase):
        return any(phrase[0] in word for word in said)
    size = len(phrase)
    starts = (place for place, word in enumerate(said) if word == phrase[0])
    return any(tuple(said[place : place + size]) == tuple(phrase) for place in starts)
