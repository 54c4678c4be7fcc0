"""What knowing named things needs from the store: entities and the messages that mention them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from mnemic.model.entity import Entity


class Entities(Protocol):
    """Entities by cube. An entity lives as long as a message mentions it."""

    def note(
        self, cube_key: int, name: str, kind: str, mentions: Mapping[str, str], *, entity_id: str, at: datetime
    ) -> str:
        """Store an entity with the messages that mention it (id to the words); return its id, a known one's when known.

        Known is one of the same kind whose name is the same but for case and accents; it keeps its name.
        """
        ...

    def list(self, cube_key: int, *, limit: int | None = 1_000) -> Sequence[Entity]:
        """Return entities, the most mentioned first; all of them without a limit."""
        ...

    def of_messages(self, cube_key: int, message_ids: Sequence[str]) -> Sequence[Entity]:
        """Return the entities that these messages mention."""
        ...

    def prune(self, cube_key: int) -> int:
        """Erase entities that no message mentions; return how many there were."""
        ...
