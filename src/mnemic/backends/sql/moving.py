"""Rows of a whole store, raw, out and in again, over the schema: a new table there is moved without a change here.

Cubes come as one row of `cube` and what refers to it, so that a cube is erased, put and compared whole. Full text is
moved as terms (`moved_terms`). Notes of the store about itself are handed over one by one, never as a table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Column,
    Connection,
    Float,
    Select,
    Table,
    case,
    delete,
    func,
    insert,
    literal,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.exc import DBAPIError

from mnemic.backends.sql import fulltext, moved_terms
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.database import EVERYWHERE, Database
from mnemic.backends.sql.postgres_near import NOTE
from mnemic.backends.sql.sqlite import SqliteDatabase
from mnemic.ports.moving import RawStore, Row, Shape, Span, Value
from mnemic.text import fold

_OF_THE_STORE: Final = s.store_info.c.name != NOTE
_OVER: Final = 0
"""What a lease is set to: a moment long past, so that who looks for lost work finds it."""


def _shape(table: Table) -> Shape:
    columns = [column.name for column in table.columns]
    key = tuple([columns.index(column.name) for column in table.primary_key])
    cube = None if _cube_column(table) is None else columns.index(str(_cube_column(table)))
    return Shape(table.name, tuple(columns), key, cube, _plain_of(table))


def _plain_of(table: Table) -> Callable[[Row], Row] | None:
    """Return what makes of a row what every engine can hold of it, None when that is all."""
    changed = [(place, _plainly(column)) for place, column in enumerate(table.columns)]
    known = [(place, change) for place, change in changed if change is not None]
    return partial(_plain, known) if known else None


def _plainly(column: Column[Any]) -> Callable[[Any], Value] | None:
    if isinstance(column.type, s.Words):
        return partial(column.type.held, engine="postgresql")
    if isinstance(column.type, Float):
        return lambda value: value + 0.0  # SQLite holds no -0.0
    return None


def _plain(changed: Sequence[tuple[int, Callable[[Any], Value]]], row: Row) -> Row:
    values = list(row)
    for place, change in changed:
        if values[place] is not None:
            values[place] = change(values[place])
    return tuple(values)


def _folded_of(table: Table) -> Sequence[tuple[int, int, Callable[[str, str], str]]]:
    """Return the places of columns that PostgreSQL may cut, and of those that they are folded of."""
    columns = list(table.columns)
    return [
        (place, columns.index(table.columns[column.info[s.FOLDED]]), column.type.held)
        for place, column in enumerate(columns)
        if isinstance(column.type, s.Sought)
    ]


def _cube_column(table: Table) -> str | None:
    if table is s.cube:
        return "key"
    return "cube_key" if "cube_key" in table.columns else None


def _tables() -> list[Table]:
    """Return all tables but the notes, what is referred to before what refers to it."""
    return [table for table in s.metadata.sorted_tables if table is not s.store_info]


TABLES: Final[Mapping[str, Table]] = {table.name: table for table in _tables()}

_FOLDED: Final = {name: _folded_of(table) for name, table in TABLES.items()}

SHAPES: Final[Sequence[Shape]] = (
    *[shape for shape in map(_shape, TABLES.values()) if shape.cube is None],
    *[shape for shape in map(_shape, TABLES.values()) if shape.cube is not None],
    moved_terms.SHAPE,
)
"""What is moved, in order."""


class SqlRawReading:
    """Implements `ports.moving.RawReading`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def notes(self) -> Mapping[str, str]:
        """Return what the store notes about itself, by name; what it notes of its engine is no other store's."""
        found = self._connection.execute(select(s.store_info.c.name, s.store_info.c.value).where(_OF_THE_STORE))
        return {row.name: row.value for row in found}

    def count(self) -> int:
        """Return how many rows there are to move; terms stand beside entries, one row for each."""
        counted = [select(func.count()).select_from(table) for table in (*TABLES.values(), s.entry)]
        return sum(self._connection.scalar(query) or 0 for query in counted)

    def cubes(self, after: int, limit: int) -> Sequence[tuple[int, str]]:
        """Return cubes (key, id) in the order of their keys, those behind the key `after`."""
        query = select(s.cube.c.key, s.cube.c.id).where(s.cube.c.key > after).order_by(s.cube.c.key).limit(limit)
        return [(row.key, row.id) for row in self._connection.execute(query)]

    def rows(self, shape: Shape, cubes: Span | None, after: Row | None, limit: int) -> Sequence[Row]:
        """Return rows of a table, of some cubes when it is of cubes, behind the one with the key `after`."""
        if shape == moved_terms.SHAPE:
            return moved_terms.read(self._connection, cubes, after, limit)
        table = TABLES[shape.name]
        query = _from(table, shape, cubes, after).order_by(*table.primary_key).limit(limit)
        return [tuple(row) for row in self._connection.execute(query).all()]

    def copy_into(self, target: RawStore) -> bool:
        """Make an empty store the same as this moment, page by page of the file, when both are SQLite's."""
        if not isinstance(target, SqlRawStore) or self._dialect != "sqlite":
            return False
        source: Any = self._connection.connection.driver_connection
        with target.outside_transaction() as connection:
            if connection.dialect.name != "sqlite":
                return False
            try:
                source.backup(connection.connection.driver_connection)
            except sqlite3.Error as error:
                raise DBAPIError.instance("backup", None, error, sqlite3.Error, dialect=connection.dialect) from error
        return True

    @property
    def _dialect(self) -> str:
        return self._connection.dialect.name


def _from(table: Table, shape: Shape, cubes: Span | None, after: Row | None) -> Select[Any]:
    query = select(*[_over(column) for column in table.columns])
    if cubes is not None and shape.cube is not None:
        query = query.where(table.columns[shape.columns[shape.cube]].between(*cubes))
    if after is not None:
        places = [literal(value, column.type) for value, column in zip(after, table.primary_key, strict=True)]
        query = query.where(tuple_(*table.primary_key) > tuple_(*places))
    return query


def _over(column: Any) -> Any:
    """Return what is read of a column: as it is, but leases as over."""
    if column.name != "lease_until":
        return column
    return case((column.is_not(None), _OVER)).label(column.name)


def _held(shape: Shape, rows: Sequence[Row]) -> Sequence[Row]:
    """Return of rows what PostgreSQL can hold."""
    return rows if shape.plain is None else [shape.plain(row) for row in rows]


def _whole(shape: Shape, rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows with what PostgreSQL has cut as SQLite has it: it is folded of another column, which is not cut."""
    for place, of, held in _FOLDED.get(shape.name, ()):
        rows = [
            (*row[:place], whole, *row[place + 1 :])
            if row[place] != (whole := fold(str(row[of]))) and row[place] == held(whole, "postgresql")
            else row
            for row in rows
        ]
    return rows


class SqlRawWriting(SqlRawReading):
    """Implements `ports.moving.RawWriting`."""

    def put(self, shape: Shape, rows: Sequence[Row]) -> None:
        """Store new rows."""
        if not rows:
            return
        if shape == moved_terms.SHAPE:
            moved_terms.write(self._connection, rows)
            return
        marks = ", ".join(["?" if self._dialect == "sqlite" else "%s"] * len(shape.columns))
        quote = self._connection.dialect.identifier_preparer.quote
        columns = ", ".join(map(quote, shape.columns))
        some = _whole(shape, rows) if self._dialect == "sqlite" else _held(shape, rows)
        statement = f"INSERT INTO {quote(shape.name)} ({columns}) VALUES ({marks})"  # noqa: S608 - the schema's names
        self._connection.exec_driver_sql(statement, list(some))

    def empty(self, shape: Shape) -> None:
        """Erase all rows of a table that is not of cubes."""
        self._connection.execute(delete(TABLES[shape.name]))

    def erase(self, cubes: Collection[int]) -> None:
        """Erase cubes with all that is in them, what refers to a row before the row."""
        keys = sorted(cubes)
        moved_terms.erase(self._connection, keys)
        for shape in reversed(SHAPES):
            if shape.cube is not None and shape != moved_terms.SHAPE:
                table = TABLES[shape.name]
                self._connection.execute(delete(table).where(table.columns[shape.columns[shape.cube]].in_(keys)))

    def note(self, name: str, value: str | None, *, was: str | None) -> bool:
        """Change a note, or take it away with None; False when it is not what it was."""
        named = s.store_info.c.name == name
        if was is None:
            if self._connection.scalar(select(s.store_info.c.value).where(named)) is not None:
                return False
            if value is not None:
                self._connection.execute(insert(s.store_info).values(name=name, value=value))
            return True
        mine = (named, s.store_info.c.value == was)
        if value is None:
            return self._connection.execute(delete(s.store_info).where(*mine)).rowcount == 1
        return self._connection.execute(update(s.store_info).where(*mine).values(value=value)).rowcount == 1

    def finish(self, *, erased: bool) -> None:
        """Make a store whole that rows were put into."""
        for table in TABLES.values():
            if "lease_until" in table.columns:
                held = table.c.lease_until.is_not(None)
                self._connection.execute(update(table).where(held).values(lease_until=_OVER))
            for column in table.columns:
                if column.identity is not None and self._dialect == "postgresql":
                    self._go_on(table.name, column.name)
        if erased:
            fulltext.scrub(self._connection)

    def _go_on(self, table: str, column: str) -> None:
        """Let a table's own keys go on behind the highest that came."""
        self._connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence(:name, :column), max(x.{column}))"  # noqa: S608 - schema's names
                f" FROM {table} AS x HAVING max(x.{column}) IS NOT NULL"
            ),
            {"name": table, "column": column},
        )


class SqlRawStore:
    """Implements `ports.moving.RawStore`."""

    def __init__(self, place: Path | str, connections: int) -> None:
        """Open a folder (SQLite) or an address (PostgreSQL, with so many connections at most)."""
        self._database: Database
        if isinstance(place, Path):
            self._database, self._place = SqliteDatabase(place), str(place)
        else:
            from mnemic.backends.sql.postgres import PostgresDatabase  # noqa: PLC0415 - it brings SQLAlchemy's dialect

            self._database = database = PostgresDatabase(place, connections)
            self._place = f"postgresql://{database.place}"
        self._open = ExitStack()

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return self._place

    @property
    def shapes(self) -> Sequence[Shape]:
        """The tables, in order."""
        return SHAPES

    @contextmanager
    def read(self) -> Iterator[SqlRawReading]:
        """Open a snapshot."""
        with self._database.read(EVERYWHERE) as connection:
            yield SqlRawReading(connection)

    @contextmanager
    def write(self, *, alone: bool = False) -> Iterator[SqlRawWriting]:
        """Open a write transaction; `alone`, all others wait, as each of them begins with reading the notes."""
        with self._database.write(EVERYWHERE) as connection:
            if alone and connection.dialect.name == "postgresql":
                connection.exec_driver_sql("LOCK TABLE store_info IN ACCESS EXCLUSIVE MODE")
            yield SqlRawWriting(connection)

    @contextmanager
    def outside_transaction(self) -> Iterator[Connection]:
        """Open a connection without a transaction."""
        with self._database.outside_transaction() as connection:
            yield connection

    @cached_property
    def _watch(self) -> Connection:
        return self._open.enter_context(self._database.outside_transaction())

    def stamp(self) -> str:
        """Return what is the same again only while nobody has written.

        SQLite counts for each connection what others have committed; PostgreSQL tells which transactions have ended.
        """
        if self._watch.dialect.name == "sqlite":
            return str(self._watch.connection.cursor().execute("PRAGMA data_version").fetchone()[0])
        return str(self._watch.exec_driver_sql("SELECT pg_current_snapshot()::text").scalar())

    def close(self) -> None:
        """Close the store."""
        self._open.close()
        self._database.close()
