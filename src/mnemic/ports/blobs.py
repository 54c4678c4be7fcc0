"""Where files are kept: by the cube that they belong to and the SHA-256 of their bytes.

Guarantees. What `put` returned is durable and whole: nobody finds half a blob, whoever dies when. The same bytes in one
cube are one blob; cubes share none, so that erasing in one is seen in no other, and nobody learns what others have.
Which blobs are still wanted is said by rows of the store (`ports.documents`), not here. Threads and processes share it.
Errors arrive as `StoreError`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol


@dataclass(frozen=True, slots=True)
class Blob:
    """A stored file: SHA-256 in hex, and bytes."""

    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class FoundBlob:
    """A file as it was found: SHA-256 in hex, bytes, and when it was put there last."""

    digest: str
    size: int
    put_at: datetime


class Blobs(Protocol):
    """Keeps files. `cube` is a cube's id."""

    @property
    def place(self) -> str:
        """Where it is, for people; two that are the same place say the same."""
        ...

    def put(self, cube: str, source: BinaryIO, *, most: int | None = None) -> Blob:
        """Keep what can be read from the source, to its end. Raises `TooLargeError` beyond `most` bytes."""
        ...

    def take(self, cube: str, digest: str, path: Path) -> None:
        """Keep a file of this machine that has this digest; the two may share their bytes, which nobody changes.

        Raises `StoreError` when its bytes are others.
        """
        ...

    def open(self, cube: str, digest: str) -> BinaryIO:
        """Return a blob to read from. Raises `NotFoundError`."""
        ...

    def local(self, cube: str, digest: str) -> AbstractContextManager[Path]:
        """Give a file of this machine with the blob's bytes for the time of the block; it is not to be changed."""
        ...

    def has(self, cube: str, digest: str) -> bool:
        """Tell whether a blob is there."""
        ...

    def erase(self, cube: str, digests: Collection[str]) -> int:
        """Erase blobs; return how many there were."""
        ...

    def erase_all(self, cube: str) -> int:
        """Erase all blobs of a cube; return how many there were."""
        ...

    def list(self, cube: str) -> Iterator[FoundBlob]:
        """Yield a cube's blobs."""
        ...
