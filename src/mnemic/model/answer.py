"""Answers: what memory says to a question, and what it stands on."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.model.query import Hit


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with the hits it stands on. `found` is False when memory does not hold it; `mode` says who wrote it
    (`extractive`, or a model's name). `confidence` is 0 to 1.
    """

    text: str
    citations: tuple[Hit, ...]
    found: bool
    mode: str
    confidence: float = 0.0

    def __str__(self) -> str:
        return self.text
