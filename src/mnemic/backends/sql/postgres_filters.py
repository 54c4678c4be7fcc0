"""Conditions that PostgreSQL cannot be asked as SQLite is: they are found out here, and become lists of values or ids.

Text is folded by Python's tables (`text.fold`), which no engine has. Metadata is JSON text that may hold what
PostgreSQL's JSON does not (NUL, lone surrogates, any number), so it is read here too. PostgreSQL leaves out by the
letters of key and value what cannot match: as Python wrote them, they stand in the text just like that.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Table,
    Text,
    any_,
    false,
    func,
    literal,
    not_,
    or_,
    select,
)

from mnemic.backends.sql import rows
from mnemic.model.query import Compare
from mnemic.text import fold

_FEW: Final = 20  # values that are looked for by their letters


class PostgresConditions:
    """Implements `filters.Conditions` in one transaction; what it finds is true of that transaction's moment."""

    def __init__(self, connection: Connection, cube_key: int) -> None:
        self._connection = connection
        self._cube_key = cube_key
        self._known: dict[tuple[str, str, str, str], ColumnElement[bool]] = {}

    def contains(self, stored: ColumnElement[Any], value: str) -> ColumnElement[bool]:
        """Return the condition that a text holds another one: it is one of those values in the cube that do."""
        sought = fold(value)
        if not isinstance(stored, Column):
            return literal(sought in fold(str(stored.effective_value)))  # a constant
        query = select(stored).where(stored.table.c.cube_key == self._cube_key, stored.is_not(None)).distinct()
        return _among(stored, [each for each in self._connection.scalars(query) if sought in fold(each)])

    def metadata(self, table: Table, key: str, where: Compare) -> ColumnElement[bool]:
        """Return the condition on a value of the caller's metadata: it is one of the rows where it holds."""
        if where.operator == "exists" and not where.value:
            return not_(self.metadata(table, key, Compare(where.field, key, "exists", value=True)))
        asked = (table.name, key, where.operator, repr(where.value))
        if asked not in self._known:
            self._known[asked] = func.coalesce(_among(table.c.id, self._holding(table, key, where)), false())
        return self._known[asked]

    def _holding(self, table: Table, key: str, where: Compare) -> list[str]:
        """Return the ids of the rows whose metadata meets a condition."""
        written = f"{rows.to_json(key)}:"
        query = select(table.c.id, table.c.metadata).where(
            table.c.cube_key == self._cube_key, _stands_in_it(table, written, where)
        )
        found = []
        for row_id, metadata in self._connection.execute(query):
            held = json.loads(metadata)
            if key in held and meets(held[key], where):
                found.append(row_id)
        return found


def _stands_in_it(table: Table, written: str, where: Compare) -> ColumnElement[bool]:
    values: Sequence[Any] = where.value if where.operator == "in" else [where.value]
    texts = where.operator in ("eq", "in") and all(isinstance(each, str) for each in values)
    sought = [written]
    if texts and len(values) <= _FEW:
        sought = [f"{written}{rows.to_json(each)}" for each in values]
    return or_(false(), *(func.strpos(table.c.metadata, each) > 0 for each in sought))


def _among(stored: ColumnElement[Any], values: Sequence[str]) -> ColumnElement[bool]:
    return stored == any_(literal(list(values), ARRAY(Text))) if values else false()


def meets(held: Any, where: Compare) -> bool:
    """Tell whether a value of metadata that is there meets a condition."""
    match where.operator:
        case "eq":
            return _equals(held, where.value)
        case "in":
            return any(_equals(held, each) for each in where.value)
        case "exists":
            return True
        case "contains":
            if isinstance(held, list):
                return any(_equals(each, where.value) for each in held)
            return isinstance(held, str) and fold(str(where.value)) in fold(held)
        case _:
            return _ordered(held, where)


def _equals(held: Any, value: Any) -> bool:
    """Tell whether two values are the same JSON value; 5 is also 5.0, and neither is "5" or true."""
    if isinstance(held, bool) or isinstance(value, bool) or held is None or value is None:
        return held is value
    if isinstance(value, str):
        return isinstance(held, str) and held == value
    return isinstance(held, int | float) and held == value


def _ordered(held: Any, where: Compare) -> bool:
    numbers = isinstance(where.value, int | float)
    if isinstance(held, bool) or not isinstance(held, (int | float) if numbers else str):
        return False
    match where.operator:
        case "gt":
            return bool(held > where.value)
        case "gte":
            return bool(held >= where.value)
        case "lt":
            return bool(held < where.value)
        case _:
            return bool(held <= where.value)
