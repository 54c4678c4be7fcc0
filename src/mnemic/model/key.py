"""Keys of those who call through a server: what is known of one, never what it is.

The secret is shown once, when a key is made; the store has a hash of it. No value here holds either but `NewKey`, which
does not show it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from mnemic.model.caller import Caller, Power

MARK: Final = "mnk"
"""What every secret begins with, so that it is known as one where it should not stand."""

PREFIX_LENGTH: Final = 8
"""Characters of a secret that are kept, for finding its key and for telling keys apart."""


class KeyState(enum.StrEnum):
    """Whether a key opens anything."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key and how far it reaches; see `mnemic.model.caller.Caller`.

    `per_minute` and `per_day` (UTC) are how many calls it may make; 0 means any number. `last_used_at` is a minute
    late at most. `prefix` is the beginning of its secret.
    """

    id: str
    prefix: str
    name: str
    project: str
    users: tuple[str, ...] | None
    cubes: tuple[str, ...] | None
    powers: tuple[Power, ...]
    per_minute: int
    per_day: int
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    def state_at(self, moment: datetime) -> KeyState:
        """Return what the key was, is or will be worth at a moment."""
        if self.revoked_at is not None and self.revoked_at <= moment:
            return KeyState.REVOKED
        if self.expires_at is not None and self.expires_at <= moment:
            return KeyState.EXPIRED
        return KeyState.ACTIVE

    @property
    def caller(self) -> Caller:
        """Who calls with it."""
        return Caller(self.id, self.users, self.cubes, frozenset(self.powers), self.project)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was made at this moment, with its secret: nobody can show that again."""

    key: ApiKey
    secret: str = field(repr=False)
