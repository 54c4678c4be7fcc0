"""The words in a picture, and what is said in a recording. Models that look at pictures are `ports.llm`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from mnemic.model.seen import Line, Utterance


class WordsInPictures(Protocol):
    """Finds the words in a picture (OCR), on this machine."""

    name: str

    def lines(self, picture: Path) -> Sequence[Line]:
        """Return the lines of words, in reading order. Raises `ModelError`."""
        ...


class Hearing(Protocol):
    """A model that writes down what is said."""

    name: str

    def hear(self, sound: Path, media: str) -> Sequence[Utterance]:
        """Return what is said, in order. Raises `LanguageError`; its `passing` says whether trying again can help."""
        ...

    def close(self) -> None:
        """End connections of its own."""
        ...
