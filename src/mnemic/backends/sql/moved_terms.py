"""Full text on the move: the terms of entries as each engine has them, so that no text is read again.

A row is an entry's cube, its key, and its terms with spaces between; their order says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, delete, literal_column, select, table, tuple_
from sqlalchemy import column as named

from mnemic.backends.sql import fulltext
from mnemic.backends.sql import schema as s
from mnemic.ports.moving import Row, Shape, Span

SHAPE: Final = Shape("entry_text", ("cube_key", "key", "terms"), (0, 1), 0, words=(2,))

_TEXT: Final = table("entry_text", named("rowid"), named("terms"))
_EVERYWHERE: Final = (0, 2**62)


def read(connection: Connection, cubes: Span | None, after: Row | None, limit: int) -> Sequence[Row]:
    """Return the terms of entries of these cubes, behind the entry (cube, key) `after`."""
    query: Any = (
        select(s.entry.c.cube_key, s.entry.c.key, _TEXT.c.terms)
        .join(_TEXT, _TEXT.c.rowid == s.entry.c.key)
        .where(s.entry.c.cube_key.between(*(cubes or _EVERYWHERE)))
        .order_by(s.entry.c.cube_key, s.entry.c.key)
        .limit(limit)
    )
    if after is not None:
        places: list[Any] = [literal_column(str(int(str(value)))) for value in after]
        query = query.where(tuple_(s.entry.c.cube_key, s.entry.c.key) > tuple_(*places))
    return [tuple(row) for row in connection.execute(query).all()]


def write(connection: Connection, rows: Sequence[Row]) -> None:
    """Index entries by these terms."""
    fulltext.insert(connection, [{"key": key, "terms": terms} for _, key, terms in rows])


def erase(connection: Connection, cubes: Sequence[int]) -> None:
    """Take all entries of these cubes out of the index."""
    held = select(s.entry.c.key).where(s.entry.c.cube_key.in_(cubes))
    connection.execute(delete(_TEXT).where(_TEXT.c.rowid.in_(held)))
