"""A model writes down what is said in a recording: within the cube's budget of calls, and accounted as every other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from mnemic.errors import LanguageError
from mnemic.model.language import Prompt, Reply
from mnemic.model.seen import Utterance
from mnemic.ports.clock import Clock
from mnemic.ports.spans import Watch
from mnemic.ports.store import Store
from mnemic.ports.vision import Hearing
from mnemic.services.language import Budget, Language

PURPOSE: Final = "hear"
"""What such calls are accounted as."""


class Listening:
    """Hears recordings with a model."""

    def __init__(self, hearing: Hearing, store: Store, clock: Clock, *, budget: Budget, watch: Watch) -> None:
        self._hearing = hearing
        self._guard = Language(_OnlyHears(hearing), store, clock, budget=budget, watch=watch)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._hearing.name

    def hear(self, sound: Path, media: str, *, cube_key: int) -> Sequence[Utterance]:
        """Return what is said, in order. Raises `LanguageError`, `BudgetError`."""
        return self._guard.spend(lambda: self._hearing.hear(sound, media), purpose=PURPOSE, cube_key=cube_key)


class _OnlyHears:
    """A model that hears, where one that answers is asked for its name."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing

    @property
    def name(self) -> str:
        return self._hearing.name

    def complete(self, prompt: Prompt) -> Reply:  # noqa: ARG002 - what its port says
        raise self._no_words()

    def stream(self, prompt: Prompt) -> Iterator[str | Reply]:  # noqa: ARG002 - the same
        raise self._no_words()

    def close(self) -> None:
        self._hearing.close()

    def _no_words(self) -> LanguageError:
        told = f"{self.name} only hears; it answers nothing"
        return LanguageError(told, passing=False, retry_after=None, status=None, model=self.name)
