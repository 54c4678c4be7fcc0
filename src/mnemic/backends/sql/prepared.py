"""Statements of the hot path: built by Core, compiled once for each engine, then run by the engine's own driver.

Running a statement through Core costs several times what SQLite itself needs for it, and an add runs ten. What Core
does for its callers is kept: rows have named fields, booleans are booleans, and errors are those that Core raises.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Insert, TextClause, UpdateBase
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.selectable import SelectBase

Values = Mapping[str, Any]
"""Parameters by name."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Stands for a value while a statement is compiled: that of a parameter, or one in its list."""

    name: str
    at: int | None = None

    def of(self, values: Values) -> Any:
        return values[self.name] if self.at is None else values[self.name][self.at]


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A statement in an engine's words. `bind` makes what its driver takes of values, `read` a row of what it gives."""

    sql: str
    bind: Callable[[Values], Any]
    read: Callable[[Sequence[Any]], Any]
    names: Sequence[str]


class Prepared:
    """One statement. `lists` names those of its parameters that are lists, which an expanding `bindparam` declares.

    Values must name every parameter. An insert without columns takes them from the values of its first use.
    """

    def __init__(self, statement: SelectBase | UpdateBase | TextClause, *, lists: Sequence[str] = ()) -> None:
        self._statement: Final = statement
        self._lists: Final = tuple(lists)
        self._compiled: dict[tuple[object, ...], _Compiled] = {}

    def rows(self, connection: Connection, values: Values) -> list[Any]:
        """Return all rows that it gives."""
        compiled = self._for(connection.dialect, values)
        cursor = _execute(connection, compiled.sql, compiled.bind(values))
        return [compiled.read(row) for row in cursor.fetchall()]

    def columns(
        self, connection: Connection, values: Values, *, rows: int
    ) -> Iterator[tuple[int, Mapping[str, Sequence[Any]]]]:
        """Yield how many rows there are, and them by column as the driver has them, no more than `rows` at a time.

        Booleans are 0 and 1. What it gives no row for yields nothing.
        """
        compiled = self._for(connection.dialect, values)
        cursor = _execute(connection, compiled.sql, compiled.bind(values))
        while some := _fetched(connection, compiled.sql, cursor, rows):
            yield len(some), dict(zip(compiled.names, zip(*some, strict=True), strict=True))

    def first(self, connection: Connection, values: Values) -> Any:
        """Return its first row, None when it gives none."""
        found = self.rows(connection, values)
        return found[0] if found else None

    def scalar(self, connection: Connection, values: Values) -> Any:
        """Return the first field of its first row, None when it gives none."""
        found = self.rows(connection, values)
        return found[0][0] if found else None

    def run(self, connection: Connection, values: Values) -> int:
        """Run it for its effect; return how many rows it changed."""
        compiled = self._for(connection.dialect, values)
        return int(_execute(connection, compiled.sql, compiled.bind(values)).rowcount)

    def run_each(self, connection: Connection, many: Sequence[Values]) -> None:
        """Run it for each of these values, which all have the same keys."""
        if many:
            compiled = self._for(connection.dialect, many[0])
            _execute(connection, compiled.sql, [compiled.bind(values) for values in many], many=True)

    def _for(self, dialect: Dialect, values: Values) -> _Compiled:
        variant = (dialect.name, *[len(values[name]) for name in self._lists])
        compiled = self._compiled.get(variant)
        if compiled is None:
            compiled = self._compiled[variant] = self._compile(dialect, values)
        return compiled

    def _compile(self, dialect: Dialect, values: Values) -> _Compiled:
        columns = list(values) if isinstance(self._statement, Insert) else None
        places = {
            name: [_Place(name, at) for at in range(len(values[name]))] if name in self._lists else _Place(name)
            for name in values
        }
        compiled: Any = self._statement.compile(dialect=dialect, column_keys=columns)
        state = compiled.construct_expanded_state(places)
        order = None if state.positiontup is None else [state.parameters[name] for name in state.positiontup]
        bind = _by_name(state.parameters) if order is None else _by_position(order)
        given = _columns(self._statement)
        return _Compiled(state.statement, bind, _reader(given, dialect), [column.key for column in given])


def _by_position(order: Sequence[Any]) -> Callable[[Values], tuple[Any, ...]]:
    if len(order) > 1 and all(isinstance(item, _Place) and item.at is None for item in order):
        return itemgetter(*[item.name for item in order])  # nearly all statements, at a tenth of the time
    return lambda values: tuple([item.of(values) if isinstance(item, _Place) else item for item in order])


def _by_name(parameters: Values) -> Callable[[Values], dict[str, Any]]:
    return lambda values: {
        name: item.of(values) if isinstance(item, _Place) else item for name, item in parameters.items()
    }


def _columns(statement: SelectBase | UpdateBase | TextClause) -> list[Any]:
    """Return the columns that a statement gives; plain text does not tell."""
    return [] if isinstance(statement, TextClause) else list(statement.exported_columns)


def _reader(columns: Sequence[Any], dialect: Dialect) -> Callable[[Sequence[Any]], Any]:
    """Return what makes a row with named fields of a driver's tuple."""
    if not columns:
        return tuple
    fields: Any = namedtuple("Row", [column.key for column in columns])  # type: ignore[misc]  # noqa: PYI024 - names are data
    make: Callable[[Sequence[Any]], Any] = fields._make
    types = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
    changed = [(at, convert) for at, convert in enumerate(types) if convert is not None]
    if not changed:
        return make

    def read(row: Sequence[Any]) -> Any:
        values = list(row)
        for at, convert in changed:
            values[at] = convert(values[at])
        return make(values)

    return read


def _fetched(connection: Connection, sql: str, cursor: Any, rows: int) -> Any:
    driver: Any = connection.dialect.loaded_dbapi
    try:
        return cursor.fetchmany(rows)
    except driver.Error as error:
        raise DBAPIError.instance(sql, None, error, driver.Error, dialect=connection.dialect) from error


def _execute(connection: Connection, sql: str, parameters: Any, *, many: bool = False) -> Any:
    driver: Any = connection.dialect.loaded_dbapi
    cursor = connection.connection.cursor()
    try:
        (cursor.executemany if many else cursor.execute)(sql, parameters)
    except driver.Error as error:
        raise DBAPIError.instance(sql, None, error, driver.Error, dialect=connection.dialect) from error
    return cursor
