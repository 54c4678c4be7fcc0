"""Filters to SQL: which messages, memories, segments and chunks a caller's conditions let through, before ranking.

A condition on a field that a thing does not have is false for it (so `not` and `ne` are true). Values of metadata are
compared as JSON values: the number 5, the text "5" and true are three things. What SQLite is asked about them in SQL,
`postgres_filters.py` finds out for PostgreSQL.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Float,
    LargeBinary,
    Select,
    Table,
    TableValuedAlias,
    Text,
    and_,
    bindparam,
    cast,
    false,
    func,
    literal,
    not_,
    or_,
    select,
)
from sqlalchemy.sql.elements import False_

from mnemic.backends.sql import schema as s
from mnemic.backends.sql.postgres_filters import PostgresConditions
from mnemic.model.document import ChunkKind
from mnemic.model.query import AllOf, AnyOf, Compare, Filter, Not

Columns = Mapping[str, ColumnElement[Any]]


class Conditions(Protocol):
    """The conditions that each engine is asked in its own way."""

    def contains(self, stored: ColumnElement[Any], value: str) -> ColumnElement[bool]:
        """Return the condition that a text holds another one, whatever the case of its letters."""
        ...

    def metadata(self, table: Table, key: str, where: Compare) -> ColumnElement[bool]:
        """Return the condition on a value of the caller's metadata, which this table holds."""
        ...


_SAID: Final[Columns] = {
    "id": s.message.c.id,
    "external_id": s.message.c.external_id,
    "role": s.message.c.role,
    "speaker": s.message.c.speaker,
    "session": s.session.c.name,
    "agent": s.message.c.agent,
    "said_at": s.message.c.said_at,
    "stored_at": s.message.c.stored_at,
}
_MESSAGE: Final[Columns] = {**_SAID, "kind": literal("message")}
_MEMORY: Final[Columns] = {
    **_SAID,
    "id": s.memory.c.id,
    "kind": s.memory.c.kind,
    "subject": s.memory.c.subject,
    "attribute": s.memory.c.attribute,
}

_SEGMENT: Final[Columns] = {**_SAID, "id": s.segment.c.id, "kind": literal("segment")}
_PASSAGE: Final[Columns] = {
    "id": s.chunk.c.id,
    "kind": literal("chunk"),
    "document": s.document.c.name,
    "said_at": s.entry.c.said_at,
    "stored_at": s.document_version.c.stored_at,
}
_SUMMARY: Final[Columns] = {**_PASSAGE, "kind": literal("section")}
_NUMBERS: Final = ("integer", "real")
_ABOVE: Final = (ChunkKind.SECTION.value, ChunkKind.DOCUMENT.value)

_MINE: Final = bindparam("cube", type_=BigInteger)
_OF_SESSION: Final = (s.session.c.cube_key == s.message.c.cube_key) & (s.session.c.id == s.message.c.session_id)
_OF_MEMORY: Final = (s.memory_version.c.cube_key == s.memory.c.cube_key) & (
    s.memory_version.c.memory_id == s.memory.c.id
)
_OF_VERSION: Final = (s.source.c.cube_key == s.memory_version.c.cube_key) & (
    s.source.c.version_id == s.memory_version.c.id
)
_OF_SOURCE: Final = (s.message.c.cube_key == s.source.c.cube_key) & (s.message.c.id == s.source.c.message_id)
_OF_SEGMENT: Final = (s.page.c.cube_key == s.segment.c.cube_key) & (s.page.c.segment_id == s.segment.c.id)
_OF_PAGE: Final = (s.message.c.cube_key == s.page.c.cube_key) & (s.message.c.page_id == s.page.c.id)
_OF_CHUNK: Final = (s.document.c.cube_key == s.chunk.c.cube_key) & (s.document.c.id == s.chunk.c.document_id)
_PLACED: Final = (s.chunk_place.c.cube_key == s.chunk.c.cube_key) & (s.chunk_place.c.chunk_id == s.chunk.c.id)
_OF_PLACE: Final = (s.document_version.c.cube_key == s.chunk_place.c.cube_key) & (
    s.document_version.c.id == s.chunk_place.c.version_id
)
_ENTERED: Final = (s.entry.c.cube_key == s.chunk.c.cube_key) & (s.entry.c.owner == s.chunk.c.id)
_MESSAGES: Final = select(s.message.c.id).join(s.session, _OF_SESSION).where(s.message.c.cube_key == _MINE)
_MEMORIES: Final = (
    select(s.memory.c.id)
    .join(s.memory_version, _OF_MEMORY)
    .outerjoin(s.source, _OF_VERSION)
    .outerjoin(s.message, _OF_SOURCE)
    .outerjoin(s.session, _OF_SESSION)
    .where(s.memory.c.cube_key == _MINE)
    .distinct()
)
_SEGMENTS: Final = (
    select(s.segment.c.id)
    .join(s.page, _OF_SEGMENT)
    .join(s.message, _OF_PAGE)
    .join(s.session, _OF_SESSION)
    .where(s.segment.c.cube_key == _MINE)
    .distinct()
)
_CHUNKS: Final = (
    select(s.chunk.c.id)
    .join(s.document, _OF_CHUNK)
    .join(s.chunk_place, _PLACED)
    .join(s.document_version, _OF_PLACE)
    .join(s.entry, _ENTERED)
    .where(s.chunk.c.cube_key == _MINE)
    .distinct()
)
_KINDS: Final[Sequence[tuple[Select[Any], Columns, Table]]] = (
    (_MESSAGES, _MESSAGE, s.message),
    (_MEMORIES, _MEMORY, s.message),
    (_SEGMENTS, _SEGMENT, s.message),
    (_CHUNKS.where(s.chunk.c.kind.not_in(_ABOVE)), _PASSAGE, s.document),
    (_CHUNKS.where(s.chunk.c.kind.in_(_ABOVE)), _SUMMARY, s.document),
)
"""What may be found: where its ids are, what fields it has, and which table holds its metadata."""


def matching(connection: Connection, cube_key: int, where: Filter) -> set[str]:
    """Return the ids of messages, of memories (by any of their sources), of segments (by any of their messages), and
    of chunks (by their document, and any version in which they stand) of a cube that pass.
    """
    conditions: Conditions = _SqliteConditions()
    if connection.dialect.name == "postgresql":
        conditions = PostgresConditions(connection, cube_key)
    found: set[str] = set()
    for query, columns, holder in _KINDS:
        condition = _condition(where, columns, holder, conditions)
        if not isinstance(condition, False_):  # nothing of this kind has such a field
            found.update(map(str, connection.scalars(query.where(condition), {"cube": cube_key})))
    return found


def _condition(where: Filter, columns: Columns, holder: Table, conditions: Conditions) -> ColumnElement[bool]:
    match where:
        case AllOf(parts):
            return and_(*(_condition(part, columns, holder, conditions) for part in parts))
        case AnyOf(parts):
            return or_(*(_condition(part, columns, holder, conditions) for part in parts))
        case Not(part):
            return not_(_condition(part, columns, holder, conditions))
        case Compare():
            if where.operator in ("ne", "nin"):
                positive = Compare(where.field, where.key, "eq" if where.operator == "ne" else "in", where.value)
                return not_(_compare(positive, columns, holder, conditions))
            return _compare(where, columns, holder, conditions)


def _compare(where: Compare, columns: Columns, holder: Table, conditions: Conditions) -> ColumnElement[bool]:
    if where.key is not None:
        return conditions.metadata(holder, where.key, where)
    stored = columns.get(where.field)
    if stored is None:
        return where_missing(where)
    if where.operator == "contains":
        return func.coalesce(conditions.contains(stored, where.value), false())
    return func.coalesce(_operate(stored, where), false())


def where_missing(where: Compare) -> ColumnElement[bool]:
    """Return what a condition means for a thing that lacks the field."""
    return literal(value=True) if where.operator == "exists" and where.value is False else false()


def _operate(stored: ColumnElement[Any], where: Compare) -> ColumnElement[bool]:
    value: ColumnElement[Any] = literal(where.value)
    match where.operator:
        case "eq":
            return stored == value if where.value is not None else stored.is_(None)
        case "in":
            return stored.in_(list(where.value))
        case "gt":
            return stored > value
        case "gte":
            return stored >= value
        case "lt":
            return stored < value
        case "lte":
            return stored <= value
        case _:
            return stored.is_not(None) if where.value else stored.is_(None)


class _SqliteConditions:
    """Asks SQLite by its JSON functions, and a function of ours that folds text."""

    def contains(self, stored: ColumnElement[Any], value: str) -> ColumnElement[bool]:
        """Return the condition that a text holds another one, whatever the case of its letters."""
        held = cast(stored, LargeBinary)  # as bytes: halves of characters, which JSON can hold, are no text for Python
        return func.instr(func.fold(held), func.fold(literal(value))) > 0

    def metadata(self, table: Table, key: str, where: Compare) -> ColumnElement[bool]:
        """Compare a value through `json_each`, which takes any key as it is."""
        each = func.json_each(func.coalesce(table.c.metadata, "{}")).table_valued("key", "value", "type", "atom")
        found = select(literal(1)).where(each.c.key == key)
        value = where.value
        match where.operator:
            case "eq":
                return found.where(_holds(each, [value])).exists()
            case "in":
                return found.where(_holds(each, value)).exists()
            case "exists":
                return found.exists() if value else not_(found.exists())
            case "contains":
                inner = func.json_each(each.c.value).table_valued("value", "type", name="item")
                listed = select(literal(1)).where(_holds(inner, [value])).exists()
                return or_(
                    found.where(each.c.type == "array").where(listed).exists(),
                    found.where(each.c.type == "text").where(self.contains(each.c.value, str(value))).exists(),
                )
            case _:
                number = isinstance(value, int | float)
                typed = each.c.type.in_(_NUMBERS) if number else each.c.type == "text"
                left = cast(each.c.value, Float if number else Text)
                return found.where(typed).where(_operate(left, where)).exists()


def _holds(each: TableValuedAlias, values: Sequence[Any]) -> ColumnElement[bool]:
    """Tell whether a JSON value equals one of these; 5 is also 5.0, and neither is "5" or true."""
    words = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    others = [json.dumps(value) for value in values if value is None or isinstance(value, bool)]
    return or_(
        (each.c.type == "text") & each.c.value.in_(words),
        each.c.type.in_(_NUMBERS) & each.c.value.in_(numbers),
        each.c.type.in_(others),  # JSON's names for them are SQLite's names of the types
    )
