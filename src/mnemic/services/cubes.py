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
from mnemic.services.scoping import Scoping

_MADE: Final = tuple(kind for kind in CubeKind if kind is not CubeKind.PERSONAL)


class CubeDesk:
    """The use cases of creating and listing cubes."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping

    def create(self, name: object, *, user: object, kind: object = CubeKind.PROJECT) -> Cube:
        """Create a cube that the user owns; see `Cubes.create`. Raises `ConflictError` when the name is taken."""
        owner, called = self._scoping.making(user), check_id(name, "name")
        if kind not in [each.value for each in _MADE]:
            known = ", ".join(_MADE)
            raise InputError("kind", f"{kind!r} cannot be created; known: {known} (a personal cube comes by itself)")
        with self._store.write() as tx:
            made = tx.cubes.create(new_id(), called, CubeKind(str(kind)), owner, self._clock.now())
            self._scoping.note(made)
        return self._scoping.shown(made)

    def list(self, *, user: object) -> Sequence[Cube]:
        """Return the cubes that the user may read, oldest first."""
        principal, reached = self._scoping.principal(user), self._scoping.caller().cubes
        with self._store.read() as tx:
            found = [cube for cube, _ in tx.cubes.list(self._scoping.principals(principal))]
        return tuple(self._scoping.shown(cube) for cube in found if reached is None or cube.id in reached)
