"""What is read page by page: all memories of a cube, and lists that a caller wants whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from mnemic.model.item import Item
from mnemic.model.job import Job
from mnemic.model.memory import Memory
from mnemic.ports.store import Transaction

Row = TypeVar("Row", Item, Job)

_PAGE: Final = 1_000  # memories read together


def every_memory(tx: Transaction, cube_key: int) -> Iterator[Memory]:
    """Yield the memories of a cube, those that say nothing any more too, oldest first."""
    after: str | None = None
    while page := tx.memories.list(cube_key, after=after, limit=_PAGE):
        yield from page
        after = page[-1].id


def every_page(page: Callable[[object], Sequence[Row]], after: object, size: int) -> Iterator[Row]:
    """Yield what comes in pages of a size, each from behind the last one's id.

    The first page is read at once, so that who asks for what there is not hears of it when asking.
    """
    return _behind(page, page(after), size)


def _behind(page: Callable[[object], Sequence[Row]], first: Sequence[Row], size: int) -> Iterator[Row]:
    found = first
    while found:
        yield from found
        found = page(found[-1].id) if len(found) == size else ()
