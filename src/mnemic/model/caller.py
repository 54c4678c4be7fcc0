"""Who calls through a server, and how far the key reaches that the call came with."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Power(enum.StrEnum):
    """What a key lets its holder do. None includes another: a key may write and not read."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


ALL_POWERS = frozenset(Power)
"""Everything: what somebody at the machine itself may do."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A key's reach. What a call does in a cube is bounded by the role of its user there, too.

    `key` is the key's id, None for a call at the machine itself that needs none. `users` are those for whom it may
    call, None for anybody; `cubes` those that it reaches, None for all that its user may. In a `project`, users are the
    project's own: `ann` of one project is not `ann` of another, nor of none.
    """

    key: str | None = None
    users: tuple[str, ...] | None = None
    cubes: tuple[str, ...] | None = None
    powers: frozenset[Power] = ALL_POWERS
    project: str = ""

    @property
    def user(self) -> str | None:
        """The user that a call is for when it names none: the only one that the key may call for."""
        return self.users[0] if self.users is not None and len(self.users) == 1 else None


LOCAL = Caller()
"""Somebody at the machine itself."""
