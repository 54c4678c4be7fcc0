"""Moving a whole store: what one gives of its rows, raw, and what another takes, whatever engines the two have.

Rows are tuples of values that every engine knows (times are whole numbers already). Nothing here is of one cube: a
mover enters all of them, and looks at nobody's grants. What an engine derives for itself travels as what it was
derived from: full text as its terms, never as text that would be read again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

Value = bool | int | float | str | bytes | None
"""What a row is made of."""

Row = tuple[Value, ...]

Span = tuple[int, int]
"""Cubes from the first key to the last, both included."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A table as it is moved. `key` are the places of its primary key's columns, `cube` that of the cube's key.

    `plain` makes of a row what every engine can hold of it: by that, stores are compared.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[int, ...]
    cube: int | None
    plain: Callable[[Row], Row] | None = None

    def key_of(self, row: Row) -> Row:
        """Return a row's primary key."""
        return tuple([row[place] for place in self.key])


class RawReading(Protocol):
    """One moment of a store. Rows come in the order of their primary keys, as this engine sorts them."""

    def notes(self) -> Mapping[str, str]:
        """Return what the store notes about itself, by name."""
        ...

    def count(self) -> int:
        """Return how many rows there are to move."""
        ...

    def cubes(self, after: int, limit: int) -> Sequence[tuple[int, str]]:
        """Return cubes (key, id) in the order of their keys, those behind the key `after`."""
        ...

    def rows(self, shape: Shape, cubes: Span | None, after: Row | None, limit: int) -> Sequence[Row]:
        """Return rows of a table, of some cubes when it is of cubes, behind the one with the key `after`.

        Leases are given as over: who held one works for another store.
        """
        ...

    def copy_into(self, target: RawStore) -> bool:
        """Make an empty store the same as this moment, all at once; False when the two engines cannot: move rows."""
        ...


class RawWriting(RawReading, Protocol):
    """A write transaction of a store: all or nothing, durable when its block ends."""

    def put(self, shape: Shape, rows: Sequence[Row]) -> None:
        """Store new rows."""
        ...

    def empty(self, shape: Shape) -> None:
        """Erase all rows of a table that is not of cubes."""
        ...

    def erase(self, cubes: Collection[int]) -> None:
        """Erase cubes with all that is in them."""
        ...

    def note(self, name: str, value: str | None, *, was: str | None) -> bool:
        """Change a note, or take it away with None; False, and nothing is changed, when it is not what it was."""
        ...

    def finish(self, *, erased: bool) -> None:
        """Make a store whole that rows were put into: keys go on behind the highest, leases are over.

        With `erased`, what was erased on the way leaves the full text's own files.
        """
        ...


class RawStore(Protocol):
    """A store that is moved. One thread uses it."""

    @property
    def place(self) -> str:
        """Where it is, for people: a folder, or an address without its password."""
        ...

    @property
    def shapes(self) -> Sequence[Shape]:
        """The tables in an order that respects references: those that are not of cubes first, then the others."""
        ...

    def read(self) -> AbstractContextManager[RawReading]:
        """Open a snapshot; writers do not wait for it."""
        ...

    def write(self, *, alone: bool = False) -> AbstractContextManager[RawWriting]:
        """Open a write transaction; `alone`, it begins when all others have ended, and others begin when it has."""
        ...

    def stamp(self) -> str:
        """Return what is the same again only while nobody has written to the store."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...
