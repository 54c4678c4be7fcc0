"""Fetching addresses that people give: from the public internet only, within limits of size, time and redirects."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Fetched:
    """What an address gave. `path` is a file that is gone after the block; None when nothing changed (HTTP 304).

    `address` is where the last redirect led, `media` what the server says that it is, `name` what it calls it.
    """

    path: Path | None
    address: str
    media: str = ""
    name: str = ""
    etag: str = ""
    modified: str = ""


class Fetcher(Protocol):
    """Fetches addresses. Threads may share it."""

    def check(self, address: str) -> str:
        """Return an address as it is kept, without looking it up. Raises `InputError` for one that is none."""
        ...

    def fetch(self, address: str, *, etag: str = "", modified: str = "") -> AbstractContextManager[Fetched]:
        """Give what an address holds; with what its server said last time, only when that has changed.

        Raises `FetchError` (refused, not found, too large, too slow); its `passing` says whether trying again can help.
        """
        ...
