"""What one question found, as it is kept in the journal and summed up in the results: plain values that JSON holds.

Only the ranks of the evidence are kept, not whole rankings: every measure follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

MNEMIC: Final = "mnemic"
"""The name of our own system among those of a run."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one system found: for evidence turns and sessions, the rank (from 1); those not found are absent.

    `strict` counts hits only that are the message itself, not a memory drawn from it. `seconds` is a search for 10 with
    the question's embedding, `again` the same search a second time, its embedding known.
    """

    turns: Mapping[str, int]
    sessions: Mapping[str, int]
    seconds: float
    again: float
    strict: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Packed:
    """A context within a budget: the tokens used, by Mnemic's estimate, and the evidence turns inside."""

    tokens: int
    turns: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with all that came back. `ages` are days from each evidence turn to the question.

    `packed` is by budget in tokens, `scores` by the name of a confidence, `answered` what `ask` decided, `same` whether
    the first 10 of the deep search are those of a search for 10.
    """

    conversation: str
    id: str
    text: str
    category: str
    absent: bool
    evidence: tuple[str, ...]
    sessions: tuple[str, ...]
    ages: Mapping[str, float]
    systems: Mapping[str, Found]
    packed: Mapping[str, Packed]
    scores: Mapping[str, float]
    answered: bool
    ask_seconds: float
    same: bool


@dataclass(frozen=True, slots=True)
class Stored:
    """One conversation as it was taken in: turns of the file, messages stored, and the seconds it took.

    `embedded` counts the texts for which a vector was computed; an earlier run may have left the others. `calls` and
    the tokens are those of a language model that drew memories from it, none without one.
    """

    conversation: str
    turns: int
    messages: int
    sessions: int
    questions: int
    adding: float
    refining: float
    embedded: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    problems: tuple[Mapping[str, Any], ...] = ()


def plain(record: Asked | Stored) -> dict[str, Any]:
    """Return a record as JSON takes it."""
    return asdict(record)


def asked(given: Mapping[str, Any]) -> Asked:
    """Return what `plain` made of a question."""
    values = dict(given)
    values["systems"] = {name: Found(**found) for name, found in given["systems"].items()}
    values["packed"] = {
        budget: Packed(each["tokens"], tuple(each["turns"]), each["seconds"])
        for budget, each in given["packed"].items()
    }
    values["evidence"], values["sessions"] = tuple(given["evidence"]), tuple(given["sessions"])
    return Asked(**values)


def stored(given: Mapping[str, Any]) -> Stored:
    """Return what `plain` made of a conversation."""
    return Stored(**{**given, "problems": tuple(given["problems"])})
