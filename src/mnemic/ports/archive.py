"""What moving a cube needs from the store: its records as they are, in order, and a way to put them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from mnemic.model.archive import Record


class Archive(Protocol):
    """Reads and writes the records of one cube (see `model.archive`); memories and entries go by their own ports."""

    def counts(self, cube_key: int) -> Mapping[str, int]:
        """Return how many records of each kind a cube has; of files, how many parts (`model.archive.PART`)."""
        ...

    def read(self, cube_key: int, kind: str, after: Record | None, limit: int) -> Sequence[Record]:
        """Return records of a kind in the order of their keys, behind the one `after`; files without their bytes."""
        ...

    def vectors(self, cube_key: int, owners: Sequence[str], model: str) -> Mapping[tuple[str, str | None], list[bytes]]:
        """Return the vectors of a model by owner and version id, in order of the passages; only whole lists."""
        ...

    def taken(self, cube_key: int, kind: str, ids: Sequence[str]) -> set[str]:
        """Return those of the ids that things of this cube have."""
        ...

    def write(self, cube_key: int, kind: str, records: Sequence[Record]) -> Sequence[str]:
        """Store new records; return the ids of those stored.

        A page or message whose position is taken in its session comes after the last one; a message that its session
        holds already, by its `dedupe`, is not stored.
        """
        ...

    def settle(self, cube_key: int) -> None:
        """Make sessions and the cube agree with the messages that they hold now."""
        ...
