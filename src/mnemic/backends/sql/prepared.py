"""Statements of the hot path: built by Core, compiled once for each engine, then run by the engine's own driver.

Running a statement through Core costs several times what SQLite itself needs for it, and an add runs ten. What Core
does for its callers is kept: rows have named fields, booleans are booleans, derived words become what the engine can
hold, and errors are those that Core raises. PostgreSQL takes a list as one value, so that a statement is one statement
however long its lists are, and gives its rows as bytes, not as text.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Insert, TextClause, TypeDecorator, UpdateBase
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.selectable import SelectBase

Values = Mapping[str, Any]
"""Parameters by name."""


_LISTED: Final = re.compile(r"IN \(__\[POSTCOMPILE_(\w+?)\]\)")


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

    Values must name every parameter. An insert without columns takes them from the values of its first use; with `new`,
    it does nothing where a row like it is there.
    """

    def __init__(
        self, statement: SelectBase | UpdateBase | TextClause, *, lists: Sequence[str] = (), new: bool = False
    ) -> None:
        self._statement: Final = statement
        self._lists: Final = tuple(lists)
        self._after: Final = " ON CONFLICT DO NOTHING" if new else ""
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
        for some in _batches(connection, compiled.sql, compiled.bind(values), rows):
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
        arrays = _takes_arrays(dialect)
        variant = (dialect.name,) if arrays else (dialect.name, *[len(values[name]) for name in self._lists])
        compiled = self._compiled.get(variant)
        if compiled is None:
            compiled = self._compiled[variant] = self._compile(dialect, values)
        return compiled

    def _compile(self, dialect: Dialect, values: Values) -> _Compiled:
        columns = list(values) if isinstance(self._statement, Insert) else None
        compiled: Any = self._statement.compile(dialect=dialect, column_keys=columns)
        given = _columns(self._statement)
        read, names = _reader(given, dialect), [column.key for column in given]
        changes = _changes(compiled, dialect)
        if _takes_arrays(dialect):
            words = _with_arrays(compiled, dialect) + self._after
            return _Compiled(words, _by_name(compiled, changes), read, names)
        places = {
            name: [_Place(name, at) for at in range(len(values[name]))] if name in self._lists else _Place(name)
            for name in values
        }
        state = compiled.construct_expanded_state(places)
        bind = _by_position([state.parameters[name] for name in state.positiontup], changes)
        return _Compiled(state.statement + self._after, bind, read, names)


def _takes_arrays(dialect: Dialect) -> bool:
    """Tell whether an engine takes lists as values, and values by name."""
    return dialect.name == "postgresql"


def _with_arrays(compiled: Any, dialect: Dialect) -> str:
    """Return a statement in which lists are one value each, as `= ANY(array)`."""

    def as_array(match: re.Match[str]) -> str:
        name = match.group(1)
        kind = dialect.type_compiler_instance.process(compiled.binds[name].type)
        return f"= ANY(%({name})s{'' if kind == 'NULL' else f'::{kind}[]'})"

    return _LISTED.sub(as_array, compiled.string)


def _changes(compiled: Any, dialect: Dialect) -> dict[str, Callable[[Any], Any]]:
    """Return, by name, what is to be done to values before an engine can hold them."""
    found: dict[str, Callable[[Any], Any]] = {}
    for parameter, name in compiled.bind_names.items():  # nameless ones too, such as the 0 of coalesce(x, 0)
        if isinstance(parameter.type, TypeDecorator):
            processor = parameter.type.bind_processor(dialect)
            if processor is not None:
                found[name] = processor
    return found


def _by_position(
    order: Sequence[Any], changes: Mapping[str, Callable[[Any], Any]]
) -> Callable[[Values], tuple[Any, ...]]:
    changed = [(at, changes[item.name]) for at, item in enumerate(order) if _is_changed(item, changes)]
    if len(order) > 1 and all(isinstance(item, _Place) and item.at is None for item in order):
        pick: Callable[[Values], tuple[Any, ...]] = itemgetter(*[item.name for item in order])  # nearly all statements
    else:
        pick = lambda values: tuple([item.of(values) if isinstance(item, _Place) else item for item in order])  # noqa: E731
    if not changed:
        return pick

    def bind(values: Values) -> tuple[Any, ...]:
        found = list(pick(values))
        for at, change in changed:
            found[at] = change(found[at])
        return tuple(found)

    return bind


def _is_changed(item: Any, changes: Mapping[str, Callable[[Any], Any]]) -> bool:
    return isinstance(item, _Place) and item.name in changes


def _by_name(compiled: Any, changes: Mapping[str, Callable[[Any], Any]]) -> Callable[[Values], dict[str, Any]]:
    """Return what makes the parameters: the values given, and those that stand in the statement."""
    fixed = {name: parameter.value for parameter, name in compiled.bind_names.items() if not parameter.required}
    names = list(dict.fromkeys(compiled.bind_names.values()))

    def bind(values: Values) -> dict[str, Any]:
        found = {name: values[name] if name in values else fixed[name] for name in names}
        for name, change in changes.items():
            value = found[name]
            found[name] = [change(each) for each in value] if isinstance(value, list) else change(value)
        return found

    return bind


def _columns(statement: SelectBase | UpdateBase | TextClause) -> list[Any]:
    """Return the columns that a statement gives; plain text does not tell."""
    return [] if isinstance(statement, TextClause) else list(statement.exported_columns)


def _reader(columns: Sequence[Any], dialect: Dialect) -> Callable[[Sequence[Any]], Any]:
    """Return what makes a row with named fields of a driver's tuple."""
    if not columns:
        return tuple
    fields: Any = namedtuple("Row", [column.key for column in columns])  # type: ignore[misc]  # noqa: PYI024 - names are data
    make: Callable[[Sequence[Any]], Any] = fields._make
    if _takes_arrays(dialect):
        return make  # its driver gives what Python has
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


def _batches(connection: Connection, sql: str, parameters: Any, rows: int) -> Iterator[Sequence[Any]]:
    """Yield rows as they come from the engine, so many at a time."""
    if _takes_arrays(connection.dialect):
        yield from _streamed(connection, sql, parameters, rows)
        return
    cursor = _execute(connection, sql, parameters)
    driver: Any = connection.dialect.loaded_dbapi
    while True:
        try:
            some = cursor.fetchmany(rows)
        except driver.Error as error:
            raise DBAPIError.instance(sql, None, error, driver.Error, dialect=connection.dialect) from error
        if not some:
            return
        yield some


def _streamed(connection: Connection, sql: str, parameters: Any, rows: int) -> Iterator[Sequence[Any]]:
    """Yield rows while the server still sends others: of a large result, no more than these are held here."""
    driver: Any = connection.dialect.loaded_dbapi
    size = {"size": rows} if driver.capabilities.has_stream_chunked() else {}
    with _cursor(connection) as cursor, closing(cursor.stream(sql, parameters, binary=True, **size)) as found:
        try:
            while some := list(islice(found, rows)):
                yield some
        except driver.Error as error:
            raise DBAPIError.instance(sql, None, error, driver.Error, dialect=connection.dialect) from error


def _cursor(connection: Connection) -> Any:
    raw: Any = connection.connection
    return raw.cursor(binary=True) if _takes_arrays(connection.dialect) else raw.cursor()


def _execute(connection: Connection, sql: str, parameters: Any, *, many: bool = False) -> Any:
    driver: Any = connection.dialect.loaded_dbapi
    cursor = _cursor(connection)
    try:
        (cursor.executemany if many else cursor.execute)(sql, parameters)
    except driver.Error as error:
        raise DBAPIError.instance(sql, None, error, driver.Error, dialect=connection.dialect) from error
    return cursor
