"""Whose memory it is: cubes, roles, and the scope that every read and write carries.

There is no call that reaches the store without a scope: it lists the cubes and what the caller may do in each.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime


class CubeKind(enum.StrEnum):
    """What a cube is for."""

    PERSONAL = "personal"
    PROJECT = "project"
    AGENT = "agent"
    KNOWLEDGE = "knowledge"


class Role(enum.StrEnum):
    """What a principal may do in a cube; each includes the ones before it."""

    READER = "reader"
    EDITOR = "editor"
    OWNER = "owner"

    def covers(self, needed: Role) -> bool:
        """Tell whether this role includes the needed one."""
        order = (Role.READER, Role.EDITOR, Role.OWNER)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, slots=True)
class Member:
    """A principal, a user or an agent, with its role in a cube."""

    principal: str
    role: Role


@dataclass(frozen=True, slots=True)
class Cube:
    """A namespace of memories. `key` is the store's small integer for it and never leaves the process."""

    id: str
    key: int
    name: str
    kind: CubeKind
    owner: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Scope:
    """A principal and the cubes that this call is about, with its role in each."""

    principal: str
    cubes: tuple[Cube, ...]
    roles: tuple[Role, ...]

    @property
    def keys(self) -> tuple[int, ...]:
        """The store's integers of the cubes."""
        return tuple(cube.key for cube in self.cubes)
