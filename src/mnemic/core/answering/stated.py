"""Statements about attributes, as answering reads them, and what holds of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mnemic.model.query import Hit

TAKEN_BACK: Final = "taken_back"
"""The key in a hit's metadata that marks a version which its owner has taken back or corrected."""

CORRECTS: Final = "corrects"
"""The key that marks what is said in the place of such a version."""


CORRECTED: Final = "corrected"
"""The key that has the sentences of a passage which somebody has corrected since."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement about a subject, from a memory or from a message, with the hit that it stands on.

    `ended` says that its own words close it: "I used to live in Kiel"; `until` from when on memory holds it to be over.
    What was `taken_back` then never held.
    """

    subject: str
    attribute: str
    value: str
    text: str
    polarity: int
    since: datetime
    hit: Hit
    dated: bool
    ended: bool = False
    until: datetime | None = None
    taken_back: bool = False


@dataclass(frozen=True, slots=True)
class Topic:
    """What attribute of whom is asked for; `noun` narrows it (a favourite colour, a sister, a cat)."""

    subject: str
    attributes: tuple[str, ...]
    noun: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """The statements that hold, those that held before them, oldest first, and the denial that ended the last."""

    now: tuple[Statement, ...]
    before: tuple[Statement, ...]
    closing: Statement | None = None
