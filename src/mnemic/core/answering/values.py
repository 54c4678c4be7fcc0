"""Short values inside the evidence that the question's own words point at: a number, a duration, a title, a name.

Each rule gives a stretch of a sentence, never new words, and nothing when it is not sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.answering.asking import Asked
from mnemic.core.answering.evidence import Sentence
from mnemic.model.query import Hit


@dataclass(frozen=True, slots=True)
class Drawn:
    """A value, as it is written in the evidence, and the hits that it stands on."""

    text: str
    citations: tuple[Hit, ...]


def value_answer(asked: Asked, sentences: Sequence[Sentence]) -> Drawn | None:
    """Return the value in the best sentences that has the kind that is asked for; None when none stands out."""
    return None
