"""From the names that callers use to scopes: which cubes a call is about, and whether it may.

A user's personal cube is made by the first write to it. A cube that is not visible to the principal does not exist
for it: the answer is the same `NotFoundError`. What is granted here, the transaction enters: engines with row-level
checks show it that, and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from mnemic.core.intake import check_id, check_names
from mnemic.errors import AccessError, ConflictError, NotFoundError
from mnemic.ids import new_id
from mnemic.model.scope import Cube, CubeKind, Role, Scope
from mnemic.ports.clock import Clock
from mnemic.ports.store import Transaction

PERSONAL = "personal"


class Scoping:
    """Finds cubes; remembers the personal ones it has seen, which saves a query for each write."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[str, Cube] = {}
        self._lock = threading.Lock()

    def known(self, user: str) -> Cube | None:
        """Return the user's personal cube when an earlier call has found it."""
        return self._seen.get(user)

    def remember(self, cube: Cube) -> None:
        """Keep a personal cube that is committed."""
        if cube.kind is CubeKind.PERSONAL and cube.name == PERSONAL:
            with self._lock:
                if len(self._seen) >= 10_000:
                    self._seen.clear()
                self._seen[cube.owner] = cube

    def drop(self, user: str) -> None:
        """Forget what was seen of a user."""
        with self._lock:
            self._seen.pop(user, None)

    def for_write(self, tx: Transaction, user: str, cube: str | None) -> Cube:
        """Return the cube that a write goes to; the personal one is created when it is missing."""
        if cube is not None:
            found = self._granted(tx, user, cube, Role.EDITOR)[0]
        else:
            found = self.known(user) or self._personal(tx, user)
        tx.enter(found.key)
        return found

    def _personal(self, tx: Transaction, user: str) -> Cube:
        found = tx.cubes.find(user, CubeKind.PERSONAL, PERSONAL)
        if found is not None:
            return found
        try:
            return tx.cubes.create(new_id(), PERSONAL, CubeKind.PERSONAL, user, self._clock.now())
        except ConflictError:  # another process was quicker by a moment
            found = tx.cubes.find(user, CubeKind.PERSONAL, PERSONAL)
            if found is None:
                raise
            return found

    def for_read(self, tx: Transaction, user: object, cubes: Sequence[str] | str | None = None) -> Scope:
        """Return the scope of a read: the named cubes, or the user's personal one; empty when nothing is stored yet."""
        principal = check_id(user, "user")
        if cubes is None:
            found = tx.cubes.find(principal, CubeKind.PERSONAL, PERSONAL)  # another process may have deleted it
            if found is None:
                return Scope(principal, (), ())
            tx.enter(found.key)
            return Scope(principal, (found,), (Role.OWNER,))
        names = dict.fromkeys(check_id(name, "cubes") for name in check_names(cubes, "cubes"))
        granted = [self._granted(tx, principal, name, Role.READER) for name in names]
        tx.enter(*(cube.key for cube, _ in granted))
        return Scope(principal, tuple(cube for cube, _ in granted), tuple(role for _, role in granted))

    def _granted(self, tx: Transaction, user: str, cube: str, needed: Role) -> tuple[Cube, Role]:
        found = tx.cubes.get(user, cube)
        if found is None:
            raise NotFoundError(
                f"no cube {cube!r} is visible to {user!r}; give a cube by its id, `cubes.list` shows them", cube=cube
            )
        if not found[1].covers(needed):
            raise AccessError(
                f"{user!r} is {found[1]} of cube {found[0].name!r}; this call needs {needed}", cube=cube, needed=needed
            )
        return found
