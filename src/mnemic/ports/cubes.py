"""Cubes and who may use them, as the store keeps them. Grants are looked at in `mnemic.services.scoping`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from mnemic.model.scope import Cube, CubeKind, Member, Role


class Cubes(Protocol):
    """Cubes and who may use them."""

    def create(self, cube_id: str, name: str, kind: CubeKind, owner: str, created_at: datetime) -> Cube:
        """Store a new cube; its owner gets the role owner. A taken (owner, kind, name) is a `ConflictError`.

        A knowledge base is bound to its owner.
        """
        ...

    def find(self, owner: str, kind: CubeKind, name: str) -> Cube | None:
        """Return the owner's cube of that name."""
        ...

    def get(self, principal: str | Collection[str], cube_id: str) -> tuple[Cube, Role] | None:
        """Return a cube that the principal has a role in; None otherwise, whether it exists or not.

        Of several principals (a user, and all users of a project), the highest role counts.
        """
        ...

    def list(self, principal: str | Collection[str]) -> Sequence[tuple[Cube, Role]]:
        """Return the cubes that the principal, or one of several, has a role in (the highest), oldest first."""
        ...

    def bound(self, principals: Collection[str]) -> Sequence[tuple[Cube, Role]]:
        """Return the cubes that are bound to any of these principals, with the highest role of those, oldest first."""
        ...

    def set_bound(self, cube_key: int, principal: str, *, bound: bool) -> bool:
        """Bind a cube to a principal, or unbind it; False when the principal has no role in it. Call `touch` before."""
        ...

    def update(
        self, cube_key: int, *, name: str | None = None, description: str | None = None, learns: bool | None = None
    ) -> None:
        """Change what is told of a cube; what is None stays. A taken name is a `ConflictError`. Call `touch` before."""
        ...

    def described(self, cube_key: int) -> tuple[str, bool]:
        """Return a cube's description, and whether what is said about it is remembered in it."""
        ...

    def members(self, cube_key: int) -> Sequence[Member]:
        """Return who has a role in a cube, in the order of their names."""
        ...

    def set_member(self, cube_key: int, principal: str, role: Role | None) -> None:
        """Give a principal this role in a cube, whatever it had before; None takes it away. Call `touch` before."""
        ...

    def touch(self, cube_key: int, *, said_at: datetime | None = None) -> int:
        """Lock the cube for this transaction, count its revision up and return it. Call before writing entries."""
        ...

    def every_key(self) -> Sequence[int]:
        """Return the keys of all cubes, for upkeep of the whole store; no content is reached by it."""
        ...

    def of_key(self, cube_key: int) -> Cube | None:
        """Return the cube that background work is about, by its key; None when it was erased."""
        ...

    def latest_said(self, cube_key: int) -> datetime | None:
        """Return the newest time that a message of the cube was said."""
        ...

    def delete(self, cube_key: int, at: datetime) -> Mapping[str, int]:
        """Erase a cube with all that is in it; return the number of rows of each kind.

        Where it has files, it is noted that these are to be erased (`KeptBlobs.erased_cubes`).
        """
        ...
