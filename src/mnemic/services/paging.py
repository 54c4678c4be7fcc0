"""All memories of a cube, read page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mnemic.model.memory import Memory
from mnemic.ports.store import Transaction

_PAGE: Final = 1_000  # memories read together


def every_memory(tx: Transaction, cube_key: int) -> Iterator[Memory]:
    """Yield the memories of a cube, those that say nothing any more too, oldest first."""
    after: str | None = None
    while page := tx.memories.list(cube_key, after=after, limit=_PAGE):
        yield from page
        after = page[-1].id
