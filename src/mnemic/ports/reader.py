"""Reading files to text. A reader decides by the bytes what a file is, and never runs or fetches anything in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mnemic.model.reading import Reading

Progress = Callable[[int, int], None]
"""Told how many pages are read, and of how many; 0 of 0 for what has none."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may take: pages, seconds, megabytes of memory, megabytes of text, whether OCR is used."""

    pages: int = 500
    seconds: float = 600.0
    memory_megabytes: int = 2_048
    text_megabytes: int = 64
    ocr: bool = True


class Reader(Protocol):
    """Reads files, each apart from this process: one that takes too much, or crashes its library, fails alone."""

    def read(self, path: Path, *, name: str, media: str = "", password: str = "", told: Progress) -> Reading:
        """Return what a file says. `name` is what its owner calls it, `media` what its sender says that it is.

        Raises `ReadError`, with the page where that is known, for what cannot be read: damaged, a password that is
        missing or wrong, too many pages, a kind that is not known or whose library is missing (the extra is named).
        """
        ...
