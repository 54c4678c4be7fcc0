"""Bringing the full-text index up to date with how text is read now, after an upgrade that reads it otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mnemic.model.index import Entry


class Terms(Protocol):
    """The terms of entries: those of an older reading are found, and put in order a batch at a time.

    What is written is always of the newest reading, so only entries from before an upgrade can be stale, and a batch
    that is committed is done: the work goes on from there whenever it stops.
    """

    def stale_cubes(self) -> Sequence[int]:
        """Return the keys of the cubes that may have stale entries; no content is reached by it."""
        ...

    def is_stale(self, cube_key: int) -> bool:
        """Tell whether a cube may have stale entries."""
        ...

    def count_stale(self, cube_key: int) -> int:
        """Return how many entries of a cube have stale terms."""
        ...

    def stale(self, cube_key: int, limit: int) -> Sequence[tuple[int, Entry]]:
        """Return entries (key and entry, without text) of a cube whose terms are stale, the newest first."""
        ...

    def renew(self, cube_key: int, revision: int, texts: Sequence[tuple[int, str]]) -> None:
        """Index entries anew by these texts, by their keys: of all that `stale` returned; what is gone stays gone."""
        ...

    def settle(self, cube_key: int) -> None:
        """Note that a cube has no stale entries."""
        ...
