"""Knowledge bases: cubes that hold documents. Making, describing and binding them; erasing one is forgetting."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from mnemic.core.access import check_plain, project_in, shown_name, stored_name
from mnemic.core.intake import check_flag, check_id
from mnemic.errors import AccessError, ConflictError, InputError, NotFoundError
from mnemic.ids import new_id
from mnemic.model.caller import Power
from mnemic.model.document import KnowledgeBase
from mnemic.model.receipt import Forgotten
from mnemic.model.scope import Cube, CubeKind, Member, Role
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store, Transaction
from mnemic.services.forget import Forget
from mnemic.services.scoping import Scoping
from mnemic.services.sharing import MOST_MEMBERS

PROJECT: Final = "project:"
"""What the name of a member begins with that stands for all users of a project."""

_DESCRIPTION: Final = 4_000  # characters


class Bases:
    """The use cases of `knowledge.create`, `list`, `update`, `delete`, `bind` and `unbind`."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping, forget: Forget) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping
        self._forget = forget

    def create(self, name: object, *, user: object, description: object = "", learns: object = False) -> KnowledgeBase:
        """Create a knowledge base; see `Knowledge.create`."""
        owner, called = self._scoping.making(user), check_id(name, "name")
        told, learning = _description(description), check_flag(learns, "learns")
        with self._store.write() as tx:
            made = tx.cubes.create(new_id(), called, CubeKind.KNOWLEDGE, owner, self._clock.now())
            self._scoping.note(made)
            tx.enter(made.key)
            tx.cubes.touch(made.key)
            tx.cubes.update(made.key, description=told, learns=learning)
            tx.cubes.set_bound(made.key, owner, bound=True)
            return self._base(tx, made, Role.OWNER, {made.key})

    def list(self, *, user: object) -> Sequence[KnowledgeBase]:
        """Return the knowledge bases that the user may read; see `Knowledge.list`."""
        principal, reached = self._scoping.principal(user), self._scoping.caller().cubes
        with self._store.read() as tx:
            named = self._scoping.principals(principal)
            found = [
                (cube, role)
                for cube, role in tx.cubes.list(named)
                if cube.kind is CubeKind.KNOWLEDGE and (reached is None or cube.id in reached)
            ]
            tx.enter(*(cube.key for cube, _ in found))
            bound = {cube.key for cube, _ in tx.cubes.bound(named)}
            return [self._base(tx, cube, role, bound) for cube, role in found]

    def update(
        self,
        cube: object,
        *,
        user: object,
        name: object = None,
        description: object = None,
        learns: object = None,
    ) -> KnowledgeBase:
        """Change what is told of a knowledge base; see `Knowledge.update`."""
        called = None if name is None else check_id(name, "name")
        told = None if description is None else _description(description)
        learning = None if learns is None else check_flag(learns, "learns")
        with self._store.write() as tx:
            target = base_of(self._scoping, tx, user, cube, role=Role.OWNER)
            tx.cubes.touch(target.key)
            tx.cubes.update(target.key, name=called, description=told, learns=learning)
            named = self._scoping.principals(self._scoping.principal(user, Power.WRITE))
            bound = {each.key for each, _ in tx.cubes.bound(named)}
            return self._base(tx, replace(target, name=called or target.name), Role.OWNER, bound)

    def delete(self, cube: object, *, user: object) -> Forgotten:
        """Erase a knowledge base with all of its documents and files; see `Knowledge.delete`."""
        with self._store.read() as tx:
            base_of(self._scoping, tx, user, cube, role=Role.OWNER)
        return self._forget.delete_cube(cube, user=user)

    def bind(self, cube: object, member: object = None, *, user: object, role: object = Role.READER) -> Member:
        """Let a member search a knowledge base without naming it; see `Knowledge.bind`."""
        given = _role(role)
        with self._store.write() as tx:
            target, named, is_owner = self._targets(tx, cube, member, user)
            known = {each.principal: each.role for each in tx.cubes.members(target.key)}
            has = known.get(named)
            if has is None or not has.covers(given):
                if not is_owner:
                    told = self._shown(named)
                    raise AccessError(f"only the owner of {target.name!r} makes {told!r} its {given}", needed=given)
                if has is None and len(known) >= MOST_MEMBERS:
                    raise ConflictError(f"cube {target.name!r} has {MOST_MEMBERS:,} members, which is all that it may")
                tx.cubes.set_member(target.key, named, given)
                has = given
            tx.cubes.set_bound(target.key, named, bound=True)
        return Member(self._shown(named), has)

    def unbind(self, cube: object, member: object = None, *, user: object) -> Member:
        """Leave a knowledge base out of a member's searches; see `Knowledge.unbind`."""
        with self._store.write() as tx:
            target, named, _ = self._targets(tx, cube, member, user)
            known = {each.principal: each.role for each in tx.cubes.members(target.key)}
            if named not in known:
                raise NotFoundError(f"{self._shown(named)!r} is no member of {target.name!r}", member=str(member))
            tx.cubes.set_bound(target.key, named, bound=False)
        return Member(self._shown(named), known[named])

    def _targets(self, tx: Transaction, cube: object, member: object, user: object) -> tuple[Cube, str, bool]:
        """Return the knowledge base, the stored name of the member, and whether the user owns the base."""
        principal = self._scoping.principal(user, Power.WRITE)
        named = principal if member is None else self._named(member)
        target = base_of(self._scoping, tx, user, cube, role=Role.READER if named == principal else Role.OWNER)
        tx.cubes.touch(target.key)
        found = tx.cubes.get(self._scoping.principals(principal), target.id)
        return target, named, found is not None and found[1] is Role.OWNER

    def _named(self, member: object) -> str:
        """Return the name under which the store knows a member: somebody of the caller's project, or all of one."""
        caller, name = self._scoping.caller(), check_id(member, "member")
        if name.startswith(PROJECT):
            project = name.removeprefix(PROJECT)
            if not project or (caller.project and project != caller.project):
                raise AccessError(f"this key does not reach the project {project!r}")
            check_plain(project, "member")
            return stored_name(project, "")
        if caller.key is not None:
            check_plain(name, "member")
        return stored_name(caller.project, name)

    def _shown(self, stored: str) -> str:
        """Return a member's name as the caller gives it."""
        if project := project_in(stored):
            return f"{PROJECT}{project}"
        return shown_name(self._scoping.caller().project, stored)

    def _base(self, tx: Transaction, cube: Cube, role: Role, bound: Collection[int]) -> KnowledgeBase:
        states, chunks, size = tx.documents.counts(cube.key)
        description, learns = tx.cubes.described(cube.key)
        return KnowledgeBase(
            cube=self._scoping.shown(cube),
            description=description,
            role=role,
            bound=cube.key in bound,
            learns=learns,
            documents=sum(states.values()),
            chunks=chunks,
            size=size,
            states=states,
        )


def base_of(scoping: Scoping, tx: Transaction, user: object, cube: object, *, role: Role) -> Cube:
    """Return a knowledge base that the user has a role in.

    Raises `NotFoundError`, `AccessError`, and `InputError` for a cube that holds no documents.
    """
    named = check_id(cube, "cube")
    if role is Role.READER:
        found = scoping.for_read(tx, user, named).cubes[0]
    else:
        found = scoping.owned(tx, user, named, role=role)
    if found.kind is not CubeKind.KNOWLEDGE:
        raise InputError("cube", f"{found.name!r} is no knowledge base; `knowledge.create` makes one")
    return found


def _description(given: object) -> str:
    if not isinstance(given, str):
        raise InputError("description", f"needs a string, got {type(given).__name__}")
    if len(given) > _DESCRIPTION:
        raise InputError("description", f"has {len(given):,} characters; at most {_DESCRIPTION:,} are allowed")
    return given


def _role(given: object) -> Role:
    if given not in (Role.READER.value, Role.EDITOR.value):
        raise InputError("role", f"{given!r} is no role to be bound with; known: reader, editor")
    return Role(str(given))
