"""Cubes and grants in SQL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, bindparam, case, delete, insert, literal_column, select, update
from sqlalchemy.exc import IntegrityError

from mnemic.backends.sql import fulltext, rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.errors import ConflictError, NotFoundError
from mnemic.model.moment import from_micros, to_micros
from mnemic.model.scope import Cube, CubeKind, Member, Role

_GRANTED = select(s.cube, s.cube_grant.c.role.label("role")).join(s.cube_grant)
_BOUND = Prepared(
    _GRANTED.where(
        s.cube_grant.c.principal.in_(bindparam("principals", expanding=True)),
        s.cube_grant.c.bound == literal_column("1"),  # written out, as in the condition of its index
    ).order_by(s.cube.c.key),
    lists=["principals"],
)
_FIND = Prepared(
    select(s.cube).where(
        s.cube.c.owner == bindparam("cube_owner"),
        s.cube.c.kind == bindparam("cube_kind"),
        s.cube.c.name == bindparam("cube_name"),
    )
)
_GRANT = s.cube_grant.c
_STATE = s.cube_state.c
_SAID = bindparam("said", type_=BigInteger)
_TOUCH = Prepared(
    update(s.cube_state)
    .where(_STATE.cube_key == bindparam("cube"))
    .values(
        revision=_STATE.revision + 1,
        latest_said=case(
            (_SAID.is_(None), _STATE.latest_said),
            (_STATE.latest_said.is_(None), _SAID),
            (_STATE.latest_said < _SAID, _SAID),
            else_=_STATE.latest_said,
        ),
    )
    .returning(_STATE.revision)
)
_EMPTIED = (
    s.memory_version, s.memory, s.entry, s.attachment, s.message, s.page, s.segment, s.session, s.chunk,
    s.document_version, s.document, s.blob, s.job,
)  # fmt: skip
"""What is erased before its cube, in an order in which nothing is left pointing to what went."""


class SqlCubes:
    """Implements `ports.cubes.Cubes`."""

    def __init__(self, connection: Connection, enter: Callable[[int], None]) -> None:
        """`enter` lets the transaction reach a cube: one that it creates is its own."""
        self._connection = connection
        self._enter = enter
        self.deleted: list[int] = []

    def create(self, cube_id: str, name: str, kind: CubeKind, owner: str, created_at: datetime) -> Cube:
        """Store a new cube; its owner gets the role owner. A knowledge base is bound to its owner."""
        values = {
            "id": cube_id,
            "name": name,
            "kind": kind.value,
            "owner": owner,
            "created_at": to_micros(created_at),
        }
        try:
            with self._connection.begin_nested():  # so that the transaction can go on when the name is taken
                key = self._connection.execute(insert(s.cube).returning(s.cube.c.key), values).scalar_one()
        except IntegrityError as error:
            raise ConflictError(f"{owner!r} has a cube {name!r} already; choose another name", name=name) from error
        self._enter(key)
        self._connection.execute(delete(s.erased_cube).where(s.erased_cube.c.id == cube_id))  # it is here again
        bound = int(kind is CubeKind.KNOWLEDGE)
        grant = {"cube_key": key, "principal": owner, "role": Role.OWNER.value, "bound": bound}
        self._connection.execute(insert(s.cube_grant), grant)
        self._connection.execute(insert(s.cube_state), {"cube_key": key})
        self._connection.execute(insert(s.cube_share), {"cube_key": key})
        return Cube(cube_id, key, name, kind, owner, created_at)

    def find(self, owner: str, kind: CubeKind, name: str) -> Cube | None:
        """Return the owner's cube of that name."""
        row = _FIND.first(self._connection, {"cube_owner": owner, "cube_kind": kind.value, "cube_name": name})
        return rows.cube(row) if row else None

    def get(self, principal: str | Collection[str], cube_id: str) -> tuple[Cube, Role] | None:
        """Return a cube that the principal, or one of several, has a role in: the highest."""
        query = _GRANTED.where(_GRANT.principal.in_(_several(principal)), s.cube.c.id == cube_id)
        return next(iter(_highest(self._connection.execute(query))), None)

    def list(self, principal: str | Collection[str]) -> Sequence[tuple[Cube, Role]]:
        """Return the cubes that the principal, or one of several, has a role in (the highest), oldest first."""
        query = _GRANTED.where(_GRANT.principal.in_(_several(principal))).order_by(s.cube.c.key)
        return _highest(self._connection.execute(query))

    def bound(self, principals: Collection[str]) -> Sequence[tuple[Cube, Role]]:
        """Return the cubes that are bound to any of these principals, with the highest role of those, oldest first."""
        return _highest(_BOUND.rows(self._connection, {"principals": _several(principals)}))

    def set_bound(self, cube_key: int, principal: str, *, bound: bool) -> bool:
        """Bind a cube to a principal, or unbind it; False when the principal has no role in it."""
        mine = (_GRANT.cube_key == cube_key, _GRANT.principal == principal)
        return self._connection.execute(update(s.cube_grant).where(*mine).values(bound=int(bound))).rowcount > 0

    def update(
        self, cube_key: int, *, name: str | None = None, description: str | None = None, learns: bool | None = None
    ) -> None:
        """Change what is told of a cube; what is None stays. A taken name is a `ConflictError`."""
        given = {"name": name, "description": description, "learns": None if learns is None else int(learns)}
        values = {column: value for column, value in given.items() if value is not None}
        if not values:
            return
        try:
            with self._connection.begin_nested():  # so that the transaction can go on when the name is taken
                self._connection.execute(update(s.cube).where(s.cube.c.key == cube_key).values(values))
        except IntegrityError as error:
            told = f"its owner has a cube {name!r} already; choose another name"
            raise ConflictError(told, name=name) from error

    def described(self, cube_key: int) -> tuple[str, bool]:
        """Return a cube's description, and whether what is said about it is remembered in it."""
        query = select(s.cube.c.description, s.cube.c.learns).where(s.cube.c.key == cube_key)
        row = self._connection.execute(query).first()
        return ("", False) if row is None else (row.description, bool(row.learns))

    def members(self, cube_key: int) -> Sequence[Member]:
        """Return who has a role in a cube, in the order of their names."""
        query = select(_GRANT.principal, _GRANT.role).where(_GRANT.cube_key == cube_key).order_by(_GRANT.principal)
        return [Member(row.principal, Role(row.role)) for row in self._connection.execute(query)]

    def set_member(self, cube_key: int, principal: str, role: Role | None) -> None:
        """Give a principal this role in a cube; None takes it away."""
        mine = (_GRANT.cube_key == cube_key, _GRANT.principal == principal)
        if role is None:
            self._connection.execute(delete(s.cube_grant).where(*mine))
        elif not self._connection.execute(update(s.cube_grant).where(*mine).values(role=role.value)).rowcount:
            values = {"cube_key": cube_key, "principal": principal, "role": role.value}
            self._connection.execute(insert(s.cube_grant), values)

    def touch(self, cube_key: int, *, said_at: datetime | None = None) -> int:
        """Lock the cube for this transaction, count its revision up and return it."""
        said = rows.micros(said_at)
        revision: int | None = _TOUCH.scalar(self._connection, {"cube": cube_key, "said": said})
        if revision is None:
            raise NotFoundError("this cube was deleted by another call")
        return revision

    def every_key(self) -> Sequence[int]:
        """Return the keys of all cubes, for upkeep of the whole store; no content is reached by it."""
        return list(self._connection.scalars(select(s.cube.c.key).order_by(s.cube.c.key)))

    def of_key(self, cube_key: int) -> Cube | None:
        """Return the cube that background work is about; None when it was erased."""
        row = self._connection.execute(select(s.cube).where(s.cube.c.key == cube_key)).first()
        return rows.cube(row) if row else None

    def latest_said(self, cube_key: int) -> datetime | None:
        """Return the newest time that a message of the cube was said."""
        value = self._connection.scalar(select(_STATE.latest_said).where(_STATE.cube_key == cube_key))
        return None if value is None else from_micros(value)

    def delete(self, cube_key: int, at: datetime) -> Mapping[str, int]:
        """Erase a cube with all that is in it; return the number of rows of each kind."""
        self.touch(cube_key)  # who writes to it now ends first
        keys = self._connection.scalars(select(s.entry.c.key).where(s.entry.c.cube_key == cube_key)).all()
        fulltext.delete(self._connection, cube_key, keys)
        self._connection.execute(delete(s.chunk_place).where(s.chunk_place.c.cube_key == cube_key))
        removed = {
            table.name: self._connection.execute(delete(table).where(table.c.cube_key == cube_key)).rowcount
            for table in _EMPTIED
        }
        if removed["blob"]:
            cube_id = self._connection.scalar(select(s.cube.c.id).where(s.cube.c.key == cube_key))
            self._connection.execute(insert(s.erased_cube), {"id": cube_id, "erased_at": to_micros(at)})
        self._connection.execute(delete(s.cube).where(s.cube.c.key == cube_key))
        self.deleted.append(cube_key)
        fulltext.scrub(self._connection)
        return removed


def _several(principals: str | Collection[str]) -> list[str]:
    return [principals] if isinstance(principals, str) else sorted(set(principals))


def _highest(found: Iterable[Any]) -> list[tuple[Cube, Role]]:
    """Return each cube once, with the highest role of its rows."""
    cubes: dict[int, tuple[Cube, Role]] = {}
    for row in found:
        role = Role(row.role)
        if row.key not in cubes or role.covers(cubes[row.key][1]):
            cubes[row.key] = (rows.cube(row), role)
    return list(cubes.values())
