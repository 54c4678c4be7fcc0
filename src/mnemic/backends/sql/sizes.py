"""How much a whole store holds: rows of what search reads, and bytes. Nothing of what people said is reached by it.

SQLite counts rows by the smallest index; PostgreSQL would read a whole table, so its own estimate is told, and only a
table that it has none of yet is counted.
"""

from __future__ import annotations

from typing import Final, TypedDict

from sqlalchemy import Connection, func, select, text

from mnemic.backends.sql import schema as s
from mnemic.backends.sql.counts import SqlCounts

_COUNTED: Final = {"cubes": s.cube, "entries": s.entry, "vectors": s.vector}
_ESTIMATE: Final = text("SELECT reltuples FROM pg_class WHERE oid = to_regclass(:name)")


class Held(TypedDict):
    """What a database holds."""

    cubes: int
    entries: int
    vectors: int
    database_bytes: int


def held_in(connection: Connection) -> Held:
    """Return how much a database holds."""
    found = {name: _rows(connection, name) for name in _COUNTED}
    return Held(
        cubes=found["cubes"],
        entries=found["entries"],
        vectors=found["vectors"],
        database_bytes=SqlCounts(connection).bytes_on_disk(),
    )


def _rows(connection: Connection, name: str) -> int:
    table = _COUNTED[name]
    if connection.dialect.name == "postgresql":
        estimate = float(connection.scalar(_ESTIMATE, {"name": table.name}) or 0)
        if estimate > 0:  # -1: never looked at; 0 is quickly counted
            return round(estimate)
    return int(connection.scalar(select(func.count()).select_from(table)) or 0)
