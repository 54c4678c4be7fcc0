"""What undoing needs from the store: the changes of several memories that were made as one."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from mnemic.model.change import MemoryChange


class Changes(Protocol):
    """Changes by cube."""

    def put(self, change: MemoryChange) -> None:
        """Store a change."""
        ...

    def exist(self, cube_key: int) -> bool:
        """Tell whether a cube has any."""
        ...

    def get(self, cube_key: int, change_id: str) -> MemoryChange | None:
        """Return a change of this cube."""
        ...

    def list(self, cube_key: int, *, limit: int = 100) -> list[MemoryChange]:
        """Return changes, newest first."""
        ...

    def set_undone(self, cube_key: int, change_id: str, at: datetime) -> None:
        """Note that a change was taken back."""
        ...

    def erase(self, cube_key: int, memory_ids: Collection[str], message_ids: Collection[str] = ()) -> int:
        """Erase the steps about these memories, and changes left without steps; return how many steps went.

        What asked for such a change, or was said in one of these messages, goes too: it may tell what was erased.
        """
        ...
