"""What looking inside needs from the store: counts of a cube, and where a message lies. Nothing here writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from mnemic.model.memory import Segment


@dataclass(frozen=True, slots=True)
class Totals:
    """How much a cube holds. `short_term` are the pages in no segment, `superseded` versions that are not current.

    `given_up` are messages that a language model could not make sense of.
    """

    messages: int
    sessions: int
    pages: int
    short_term: int
    archived: int
    memories: Mapping[str, int]
    superseded: int
    jobs: Mapping[str, int]
    given_up: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much a whole store holds, all cubes together, and what this process keeps of it in memory.

    `entries` and `vectors` are about right on engines to which counting costs much.
    """

    cubes: int
    entries: int
    vectors: int
    database_bytes: int
    cache_bytes: int
    cached_cubes: int


class Counts(Protocol):
    """Counts of one cube, as of the transaction."""

    def totals(self, cube_key: int) -> Totals:
        """Return how much of each kind the cube holds."""
        ...

    def by_session(self, cube_key: int) -> Mapping[str, int]:
        """Return the number of messages by session id."""
        ...

    def segment_of(self, cube_key: int, page_id: str) -> Segment | None:
        """Return the segment that holds a page; None while it is in short-term memory."""
        ...

    def bytes_on_disk(self) -> int:
        """Return the size of the whole store, all cubes together: of its files, or of its database on a server."""
        ...
