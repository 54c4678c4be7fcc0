"""What one condition answered to one question, and what the judge said of it, as the journal keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

NONE: Final = "none"
FULL: Final = "full"
MNEMIC: Final = "mnemic"
ASK: Final = "ask"
EXTRACTIVE: Final = "extractive"
CONDITIONS: Final = (NONE, FULL, MNEMIC, ASK, EXTRACTIVE)
"""What a question can be answered from: nothing, the whole conversation, what memory packs for it, `ask` with the
model, `ask` without one."""

Key = tuple[str, str]
"""A question's id and a condition."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer and what it took. `withheld`: it says that it is not known.

    `context` counts the tokens of what stood beside the question, by Mnemic's estimate, `held` is the evidence
    inside. `finding` are the seconds until the context was there, `seconds` all of them. With `fits` False the
    conversation does not fit into the model, and nothing was asked.
    """

    conversation: str
    id: str
    condition: str
    text: str = ""
    withheld: bool = False
    fits: bool = True
    model: str = ""
    context: int = 0
    held: tuple[str, ...] = ()
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    finding: float = 0.0
    seconds: float = 0.0
    cut: bool = False

    @property
    def key(self) -> Key:
        """The question and the condition."""
        return self.id, self.condition


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge said of an answer; `right` is None when that could not be read."""

    id: str
    condition: str
    judge: str
    right: bool | None
    reason: str
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    @property
    def key(self) -> Key:
        """The question and the condition."""
        return self.id, self.condition


@dataclass(frozen=True, slots=True)
class Failed:
    """A question that a model failed on: it has no answer (or no judgement), and the next run asks again."""

    id: str
    condition: str
    stage: str
    error: str


def plain(record: Answered | Judged | Failed) -> dict[str, Any]:
    """Return a record as JSON takes it."""
    return asdict(record)


def answered(given: Mapping[str, Any]) -> Answered:
    """Return what `plain` made of an answer."""
    return Answered(**{**given, "held": tuple(given["held"])})


def judged(given: Mapping[str, Any]) -> Judged:
    """Return what `plain` made of a judgement."""
    return Judged(**given)
