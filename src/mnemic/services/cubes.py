"""Cubes as their users see them: making one and listing those that may be read. Erasing one is forgetting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.core.intake import check_id
from mnemic.errors import InputError
from mnemic.ids import new_id
from mnemic.model.scope import Cube, CubeKind
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store

_MADE: Final = tuple(kind for kind in CubeKind if kind is not CubeKind.PERSONAL)


class CubeDesk:
    """The use cases of creating and listing cubes."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def create(self, name: object, *, user: object, kind: object = CubeKind.PROJECT) -> Cube:
        """Create a cube that the user owns; see `Cubes.create`. Raises `ConflictError` when the name is taken."""
        owner, called = check_id(user, "user"), check_id(name, "name")
        if kind not in [each.value for each in _MADE]:
            known = ", ".join(_MADE)
            raise InputError("kind", f"{kind!r} cannot be created; known: {known} (a personal cube comes by itself)")
        with self._store.write() as tx:
            return tx.cubes.create(new_id(), called, CubeKind(str(kind)), owner, self._clock.now())

    def list(self, *, user: object) -> Sequence[Cube]:
        """Return the cubes that the user may read, oldest first."""
        principal = check_id(user, "user")
        with self._store.read() as tx:
            return tuple(cube for cube, _ in tx.cubes.list(principal))
