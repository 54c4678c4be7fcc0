"""Sharing a cube: who else may use it, and as what. Members are named as all users are: by the caller's project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.core.access import check_plain, shown_name, stored_name
from mnemic.core.intake import check_id
from mnemic.errors import ConflictError, InputError, NotFoundError
from mnemic.model.scope import Cube, Member, Role
from mnemic.ports.store import Store, Transaction
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable

MOST_MEMBERS: Final = 10_000
"""Members of one cube."""


class Sharing:
    """The use cases of `cubes.members`, `cubes.share` and `cubes.unshare`."""

    def __init__(self, store: Store, scoping: Scoping) -> None:
        self._store = store
        self._scoping = scoping

    def members(self, cube: object, *, user: object) -> Sequence[Member]:
        """Return who may use a cube; its readers may ask."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, check_id(cube, "cube"))
            found = () if target is None else tx.cubes.members(target.key)
        return tuple(self._shown(member) for member in found)

    def share(self, cube: object, member: object, role: object = Role.READER, *, user: object) -> Member:
        """Let a member into a cube, or change its role; see `Cubes.share`."""
        named, given = self._named(member), _role(role)
        with self._store.write() as tx:
            target = self._scoping.owned(tx, user, cube)
            tx.cubes.touch(target.key)
            known = _member(tx, target, named)
            if named == target.owner and given is not Role.OWNER:
                raise self._stays(target)
            if known is None and len(tx.cubes.members(target.key)) >= MOST_MEMBERS:
                raise ConflictError(f"cube {target.name!r} has {MOST_MEMBERS:,} members, which is all that it may")
            tx.cubes.set_member(target.key, named, given)
        return self._shown(Member(named, given))

    def unshare(self, cube: object, member: object, *, user: object) -> Member:
        """Take a member out of a cube; return it as it was."""
        named = self._named(member)
        leaves = named == self._named(user, "user")
        with self._store.write() as tx:
            target = self._scoping.owned(tx, user, cube, role=Role.READER if leaves else Role.OWNER)
            tx.cubes.touch(target.key)
            known = _member(tx, target, named)
            if known is None:
                raise NotFoundError(f"{member!r} is no member of cube {target.name!r}", member=str(member))
            if named == target.owner:
                raise self._stays(target)
            tx.cubes.set_member(target.key, named, None)
        return self._shown(known)

    def _named(self, member: object, field: str = "member") -> str:
        """Return the name under which the store knows somebody of the caller's project."""
        caller, name = self._scoping.caller(), check_id(member, field)
        if caller.key is not None:
            check_plain(name, field)
        return stored_name(caller.project, name)

    def _shown(self, member: Member) -> Member:
        return Member(shown_name(self._scoping.caller().project, member.principal), member.role)

    def _stays(self, cube: Cube) -> ConflictError:
        owner = shown_name(self._scoping.caller().project, cube.owner)
        return ConflictError(f"{owner!r} has made cube {cube.name!r} and stays its owner; `cubes.delete` erases it")


def _member(tx: Transaction, cube: Cube, principal: str) -> Member | None:
    return next((each for each in tx.cubes.members(cube.key) if each.principal == principal), None)


def _role(given: object) -> Role:
    known = [role.value for role in Role]
    if given not in known:
        raise InputError("role", f"{given!r} is no role; known: {', '.join(known)}")
    return Role(str(given))
