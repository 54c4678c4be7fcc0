"""Folders of this machine, as what keeps a knowledge base in step with one sees them. Nothing outside one is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a folder and the folders in it. `folder` is its absolute path, without links.

    `files` are paths in it, with forward slashes, in order. `left_out` has what is not taken, with why.
    """

    folder: str
    files: Sequence[str]
    left_out: Sequence[tuple[str, str]]


class Folders(Protocol):
    """Looks into folders. Threads may share it."""

    def list(self, folder: str | Path) -> Listing:
        """Return what is in a folder. Raises `InputError` when it is none, or cannot be read.

        Left out are hidden files and folders, links that lead out of it, links to folders, and what is no plain file.
        """
        ...

    def open(self, folder: str, name: str) -> AbstractContextManager[BinaryIO]:
        """Give a listed file to read from. Raises `InputError` when it is no plain file inside the folder (any more),
        or cannot be read.
        """
        ...

    def changes(self, folder: str, over: Callable[[], bool]) -> Iterator[None]:
        """Yield once watching has begun, then whenever something in a folder has changed and it has been quiet for a
        moment; until it is `over`, which is looked at now and then.

        Raises `InputError` when what watches folders is not installed, or the folder is gone.
        """
        ...
