"""From the names that callers use to scopes: which cubes a call is about, and whether it may.

A user's personal cube is made by the first write to it. A cube that is not visible to the principal does not exist
for it: the answer is the same `NotFoundError`. What is granted here, the transaction enters: engines with row-level
checks show it that, and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace

from mnemic import acting
from mnemic.core.access import check_reach, shown_name, stored_name
from mnemic.core.intake import check_id, check_names
from mnemic.errors import AccessError, ConflictError, KeyRefusedError, NotFoundError
from mnemic.ids import new_id
from mnemic.model.caller import LOCAL, Caller, Power
from mnemic.model.scope import Cube, CubeKind, Role, Scope
from mnemic.ports.clock import Clock
from mnemic.ports.store import Transaction

PERSONAL = "personal"


class Scoping:
    """Finds cubes; remembers the personal ones it has seen, which saves a query for each write.

    What a caller's key does not reach is refused here (`mnemic.acting`). Where calls come from outside, `guarded`
    refuses those for which no caller was named: a door that forgets to say who calls stays shut.
    """

    def __init__(self, clock: Clock, *, guarded: bool = False) -> None:
        self._clock = clock
        self._guarded = guarded
        self._seen: dict[str, Cube] = {}
        self._lock = threading.Lock()

    def caller(self) -> Caller:
        """Return whose call this is. Raises `KeyRefusedError` where that must be known and is not."""
        found = acting.caller()
        if found is None and self._guarded:
            raise KeyRefusedError("nobody was named for whom this call is made; give a key")
        return found or LOCAL

    @property
    def at_home(self) -> bool:
        """Whether a call comes from the program that has the memory to itself, as which it may name files."""
        return not self._guarded and acting.caller() is None

    def principal(self, user: object, needed: Power = Power.READ) -> str:
        """Return the name under which the store knows a user. Raises `AccessError` when the key reaches less far."""
        named, caller = check_id(user, "user"), self.caller()
        stored, call = stored_name(caller.project, named), acting.call()
        if call is not None:
            call.user = stored
        check_reach(caller, named, needed)
        return stored

    def principals(self, principal: str) -> tuple[str, ...]:
        """Return under which names the store may know roles of a user of the caller: theirs, and all users' of it."""
        project = self.caller().project
        return (principal, stored_name(project, "")) if project else (principal,)

    def need(self, needed: Power, *, whole: bool = False) -> Caller:
        """Return the caller when its key has a power that is about no user. Raises `AccessError` when it has not.

        What is about the `whole` store is nothing for keys that reach only a project, some users or some cubes.
        """
        caller = self.caller()
        if needed not in caller.powers:
            raise AccessError(f"this call needs a key that may {needed}", needed=needed)
        if whole and (caller.project or caller.users is not None or caller.cubes is not None):
            raise AccessError("this call is about the whole store; it needs a key that reaches all of it")
        return caller

    def shown(self, cube: Cube) -> Cube:
        """Return a cube with its owner named as the caller knows it."""
        return replace(cube, owner=shown_name(self.caller().project, cube.owner))

    def note(self, cube: Cube) -> None:
        """Let what is written down of the call name a cube that it has made."""
        _note(cube.id)

    def known(self, user: str) -> Cube | None:
        """Return the user's personal cube when an earlier call has found it."""
        return self._seen.get(stored_name(self.caller().project, user))

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
            self._seen.pop(stored_name(self.caller().project, user), None)

    def drop_cube(self, cube: Cube) -> None:
        """Forget that this cube was seen."""
        with self._lock:
            self._seen.pop(cube.owner, None)

    def for_costs(self, tx: Transaction, user: str) -> Cube:
        """Return the user's personal cube, in whose books a read's costs are; whichever cubes the key reaches."""
        principal = self.principal(user)
        found = self._seen.get(principal) or self._personal(tx, principal)
        tx.enter(found.key)
        return found

    def for_write(self, tx: Transaction, user: str, cube: str | None = None) -> Cube:
        """Return the cube that a write goes to; the personal one is created when it is missing."""
        principal, named = self.principal(user, Power.WRITE), self._bound(cube)
        if named is not None:
            found = self._granted(tx, principal, named, Role.EDITOR)[0]
        else:
            found = self._seen.get(principal) or self._personal(tx, principal)
        _note(found.id)
        tx.enter(found.key)
        return found

    def for_read(
        self,
        tx: Transaction,
        user: object,
        cubes: Sequence[str] | str | None = None,
        *,
        needed: Power = Power.READ,
        bound: bool = False,
    ) -> Scope:
        """Return the scope of a read: the named cubes, or the user's personal one; empty when nothing is stored yet.

        `needed` is what the key must allow: a write, where the read is a part of one. With `bound`, where no cubes are
        named, the knowledge bases come behind the personal cube that are bound to the user, or to all users of the
        caller's project: for what looks for something, not for what is about the user's own memory.
        """
        principal = self.principal(user, needed)
        named = self._bound(None) if cubes is None else cubes
        if named is None:
            own = tx.cubes.find(principal, CubeKind.PERSONAL, PERSONAL)  # another process may have deleted it
            found = [] if own is None else [(own, Role.OWNER)]
            if own is not None:
                _note(own.id)
            if bound:
                bases = tx.cubes.bound(self.principals(principal))
                found += [base for base in bases if base[0].kind is CubeKind.KNOWLEDGE]
                _note_read(cube.id for cube, _ in found)
            tx.enter(*(cube.key for cube, _ in found))
            return Scope(principal, tuple(cube for cube, _ in found), tuple(role for _, role in found))
        names = dict.fromkeys(check_id(name, "cubes") for name in check_names(named, "cubes"))
        granted = [self._granted(tx, principal, name, Role.READER) for name in names]
        tx.enter(*(cube.key for cube, _ in granted))
        return Scope(principal, tuple(cube for cube, _ in granted), tuple(role for _, role in granted))

    def for_change(self, tx: Transaction, user: str, cube: str | None) -> Cube | None:
        """Return the cube in which something stored is to be changed; the personal one is not made for it."""
        named = self._bound(cube)
        if named is not None:
            return self.for_write(tx, user, named)
        return next(iter(self.for_read(tx, user, needed=Power.WRITE).cubes), None)

    def making(self, user: object) -> str:
        """Return the name under which the store knows who makes a cube. Keys that reach only some cubes make none."""
        principal, reached = self.principal(user, Power.WRITE), self.caller().cubes
        if reached is not None:
            raise AccessError(f"this key reaches the cubes {', '.join(reached)} only; it cannot make others")
        return principal

    def owned(self, tx: Transaction, user: object, cube: object, *, role: Role = Role.OWNER) -> Cube:
        """Return a cube that only its owner, or who has the role, may do this to.

        Raises `NotFoundError`, `AccessError`.
        """
        principal = self.principal(user, Power.WRITE)
        found = self._granted(tx, principal, check_id(cube, "cube"), role)[0]
        tx.enter(found.key)
        return found

    def _bound(self, cube: str | None) -> str | None:
        """Return the cube that is meant by one who names none: the only one that the key reaches, if it has but one."""
        reached = self.caller().cubes
        if cube is not None or reached is None:
            return cube
        if len(reached) != 1:
            raise AccessError(f"this key reaches the cubes {', '.join(reached)}; name one of them")
        return reached[0]

    def _personal(self, tx: Transaction, principal: str) -> Cube:
        found = tx.cubes.find(principal, CubeKind.PERSONAL, PERSONAL)
        if found is not None:
            return found
        try:
            return tx.cubes.create(new_id(), PERSONAL, CubeKind.PERSONAL, principal, self._clock.now())
        except ConflictError:  # another process was quicker by a moment
            found = tx.cubes.find(principal, CubeKind.PERSONAL, PERSONAL)
            if found is None:
                raise
            return found

    def _granted(self, tx: Transaction, principal: str, cube: str, needed: Role) -> tuple[Cube, Role]:
        caller = self.caller()
        _note(cube)
        found = tx.cubes.get(self.principals(principal), cube) if caller.cubes is None or cube in caller.cubes else None
        user = shown_name(caller.project, principal)
        if found is None:
            if (call := acting.call()) is not None:
                call.hidden = True
            raise NotFoundError(
                f"no cube {cube!r} is visible to {user!r}; give a cube by its id, `cubes.list` shows them", cube=cube
            )
        if not found[1].covers(needed):
            raise AccessError(
                f"{user!r} is {found[1]} of cube {found[0].name!r}; this call needs {needed}", cube=cube, needed=needed
            )
        return found


def _note(cube: str) -> None:
    """Let what is written down of the call name the cube that it is about."""
    call = acting.call()
    if call is not None:
        call.cube = cube
    _note_read((cube,))


def _note_read(cubes: Iterable[str]) -> None:
    """Let a reply that is kept for calls that come again go when something in these cubes is forgotten."""
    attempt = acting.attempt()
    if attempt is not None:
        attempt.cubes.update(cubes)
