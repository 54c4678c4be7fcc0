"""Seeing and hearing: the words in a picture, what a picture shows, what is said in a recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from mnemic.model.seen import Line, Seen, Utterance


class WordsInPictures(Protocol):
    """Finds the words in a picture (OCR), on this machine."""

    name: str

    def lines(self, picture: Path) -> Sequence[Line]:
        """Return the lines of words, in reading order. Raises `ModelError`."""
        ...


class Vision(Protocol):
    """A model that looks at pictures."""

    name: str

    def look(self, picture: bytes, media: str, *, beside: str = "") -> Seen:
        """Return what is to be seen; `beside` is what was said with it. Raises `LanguageError`."""
        ...


class Hearing(Protocol):
    """A model that writes down what is said."""

    name: str

    def hear(self, sound: Path, media: str) -> Sequence[Utterance]:
        """Return what is said, in order. Raises `ModelError`."""
        ...
