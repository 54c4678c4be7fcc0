"""Full text on the move: the terms of entries as each engine has them, so that no text is read again.

A row is an entry's cube, its key, and its terms with spaces between. PostgreSQL keeps no order of them, a name for
those that are very long, and the first 255 times that one stands in a passage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Connection, Text, cast, delete, literal, select, table, tuple_
from sqlalchemy import column as named

from mnemic.backends.sql import fulltext
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.postgres_text import MOST, name_of
from mnemic.ports.moving import Row, Shape, Span

_TEXT: Final[Any] = table("entry_text", named("cube_key"), named("key"), named("rowid"), named("terms"))
_EVERYWHERE: Final = (0, 2**62)
_LEXEME: Final = re.compile("'([^']*)':([0-9A,]+)")


def _plain(row: Row) -> Row:
    """Return what every engine can hold of an entry's terms."""
    cube, key, terms = row
    counts = Counter(map(name_of, str(terms).split()))
    return cube, key, " ".join(f"{term}:{min(counts[term], MOST)}" for term in sorted(counts))


SHAPE: Final = Shape("entry_text", ("cube_key", "key", "terms"), (0, 1), 0, _plain)


def read(connection: Connection, cubes: Span | None, after: Row | None, limit: int) -> Sequence[Row]:
    """Return the terms of entries of these cubes, behind the entry (cube, key) `after`."""
    postgres = connection.dialect.name == "postgresql"
    cube, key = (_TEXT.c.cube_key, _TEXT.c.key) if postgres else (s.entry.c.cube_key, s.entry.c.key)
    terms = cast(_TEXT.c.terms, Text) if postgres else _TEXT.c.terms
    query: Any = select(cube, key, terms).where(cube.between(*(cubes or _EVERYWHERE))).order_by(cube, key).limit(limit)
    if not postgres:
        query = query.join_from(s.entry, _TEXT, _TEXT.c.rowid == s.entry.c.key)
    if after is not None:
        query = query.where(tuple_(cube, key) > tuple_(*[literal(value, s.entry.c.key.type) for value in after]))
    rows = connection.execute(query).all()
    return [(row[0], row[1], _spoken(row[2])) for row in rows] if postgres else [tuple(row) for row in rows]


def _spoken(vector: str) -> str:
    """Return the terms of a `tsvector` as it is written: 'a':1 'b':1A,2A."""
    found = _LEXEME.findall(vector)
    return " ".join(" ".join([term] * (places.count(",") + 1)) for term, places in found)


def write(connection: Connection, rows: Sequence[Row]) -> None:
    """Index entries by these terms."""
    documents = [{"cube_key": cube, "key": key, "terms": str(terms).split()} for cube, key, terms in rows]
    fulltext.insert(connection, documents)


def erase(connection: Connection, cubes: Sequence[int]) -> None:
    """Take all entries of these cubes out of the index."""
    if connection.dialect.name == "postgresql":
        connection.execute(delete(_TEXT).where(_TEXT.c.cube_key.in_(cubes)))
        return
    held = select(s.entry.c.key).where(s.entry.c.cube_key.in_(cubes))
    connection.execute(delete(_TEXT).where(_TEXT.c.rowid.in_(held)))
