"""What a move of a whole store did, and what a backup is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

STORE_ID: Final = "store_id"
"""A store's note of its id, made when it is first moved: what a move has made keeps it."""

MOVING: Final = "moving"
"""A target's note of how far the move into it is; while it is there, nothing else opens the store."""

MOVED: Final = "moved"
"""A target's note of what came with the move, table by table."""

MOVED_TO: Final = "moved_to"
"""A source's note of where it was moved to, for good; while it is there, nothing else opens the store."""

OWN_NOTES: Final = frozenset((MOVING, MOVED, MOVED_TO))
"""Notes that are a store's own: they are not moved."""


def why_closed(notes: Mapping[str, str]) -> str | None:
    """Return why a store that notes this must not be opened, and what to do; None when it may be."""
    if MOVING in notes:
        told = json.loads(notes[MOVING])
        return (
            "a move into this store is not finished; "
            f"`mnemic migrate --from {told['place']} --to {told['to']}` goes on with it"
        )
    if MOVED_TO in notes:
        told = json.loads(notes[MOVED_TO])
        return (
            f"this store was moved to {told['place']} on {told['at'][:10]} and is closed; open that one, or let this "
            "one be opened again with `mnemic migrate --reopen`"
        )
    return None


@dataclass(frozen=True, slots=True)
class TableMoved:
    """One table on both sides: its rows, and a hash of their content that does not depend on their order."""

    table: str
    rows: int
    hash: str
    arrived: int
    arrived_hash: str

    @property
    def same(self) -> bool:
        """Whether what arrived is what was there."""
        return (self.rows, self.hash) == (self.arrived, self.arrived_hash)


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move did, or a comparison of two stores found.

    `again` names the cubes that were written to while they were moved and were moved once more; `differing`, those that
    a comparison found not to be the same. `closed` tells that the source opens no more; `settings` says what to set.
    `files` are those of documents and messages that came along, `absent` those that rows name and that the target
    lacks; `shared` is where both look for them, when that is one place: only one of the stores may go on then.
    """

    source: str
    target: str
    cubes: int
    tables: tuple[TableMoved, ...]
    seconds: float
    again: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    resumed: bool = False
    closed: bool = False
    settings: tuple[str, ...] = ()
    files: int = 0
    file_bytes: int = 0
    absent: int = 0
    shared: str = ""

    @property
    def rows(self) -> int:
        """How many rows the source has."""
        return sum(each.rows for each in self.tables)

    @property
    def same(self) -> bool:
        """Whether both stores hold the same."""
        return all(each.same for each in self.tables)

    def __repr__(self) -> str:
        return f"<Moved {self.rows:,} rows in {self.cubes:,} cubes to {self.target}>"


@dataclass(frozen=True, slots=True)
class Kept:
    """A backup: a folder that opens as a memory. `rows`, `cubes` and `files` were counted when it was verified."""

    path: str
    made_at: datetime
    source: str
    cubes: int
    rows: int
    bytes: int
    seconds: float = 0.0
    removed: tuple[str, ...] = ()
    files: int = 0
