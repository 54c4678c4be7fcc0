"""Named things that messages mention: people, places, organisations, works, and so on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing. `kind` is one word such as person or place; `mentions` are messages and the words in them.

    What is known about it is in the memories whose subject it is.
    """

    id: str
    cube_key: int
    name: str
    kind: str
    created_at: datetime
    mentions: tuple[tuple[str, str], ...] = ()

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The messages that mention it."""
        return tuple(message_id for message_id, _ in self.mentions)
