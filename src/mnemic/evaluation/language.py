"""What the evaluation needs of a language model; see `mnemic.ports.llm`, whose backends are handed in by the wiring."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from mnemic.model.language import Prompt, Reply


class Completes(Protocol):
    """Answers prompts, or raises `LanguageError`."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    def complete(self, prompt: Prompt) -> Reply:
        """Return the reply to a prompt."""
        ...

    def stream(self, prompt: Prompt) -> Iterator[str | Reply]:
        """Yield the reply's text piece by piece, and at last the whole `Reply`."""
        ...

    def close(self) -> None:
        """End connections and processes of its own."""
        ...
