"""What a passage is like, whatever it is about: whether it asks, and whether it holds numbers, times or names.

Ranking weighs these against what a question asks for: who says when, says a time. They are read off the surface, in
English beyond marks and digits, and a wrong one costs little.
"""

from __future__ import annotations

import enum
import re
from typing import Final


class Trait(enum.IntFlag):
    """A passage's traits, as the index keeps them."""

    ASKS = 1
    """It holds a question mark."""
    NUMBER = 4
    """It holds digits, or a word that counts."""
    TIME = 8
    """It holds a word for a time."""
    NAME = 16
    """It holds a name: a word with a capital inside a sentence."""
    TWO_NAMES = 32
    THREE_NAMES = 512
    """It holds two, or three and more."""
    PICTURE = 128
    """It came with a picture."""
    REPLY = 256
    """The assistant says it."""


_QUESTION_MARKS: Final = "?\uff1f\u061f\u037e"
_NUMBER: Final = re.compile(
    r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|dozen|couple|few|several|once|twice|many|first|second|third)\b",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|(mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|june|july|august|september|october|november|december|recently|since|morning"
    r"|evening|days?|19\d\d|20\d\d)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z\u00c0-\u00de][a-z\u00df-\u00ff]+")
_PICTURE: Final = "[image"


def traits_of(text: str) -> int:
    """Return the traits that a passage's text has."""
    found = Trait(0)
    if any(mark in text for mark in _QUESTION_MARKS):
        found |= Trait.ASKS
    if _NUMBER.search(text):
        found |= Trait.NUMBER
    if _TIME.search(text):
        found |= Trait.TIME
    names = len(_NAME.findall(text))
    for least, trait in enumerate((Trait.NAME, Trait.TWO_NAMES, Trait.THREE_NAMES), 1):
        if names >= least:
            found |= trait
    if _PICTURE in text:
        found |= Trait.PICTURE
    return int(found)
