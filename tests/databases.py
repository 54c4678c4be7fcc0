"""Where stores of tests live: a folder, or a database of their own on a PostgreSQL server that they share.

The server is that of the environment (`python -m mnemic.testing.servers` sets one up for a whole run); without one,
this process starts its own when the first test asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from mnemic.backends.sql.postgres import PostgresDatabase
from mnemic.backends.sql.store import SqlStore
from mnemic.testing.postgres_server import URL_VARIABLE, Databases, start_postgres
from mnemic.testing.store_contract import WIDTH, OpenStore

ENGINES = ("sqlite", "postgres")

_CLOSING = ExitStack()


@cache
def databases() -> Databases:
    """Return the server's databases; a server of this process ends with it."""
    url = os.environ.get(URL_VARIABLE)
    if url is None:
        server = start_postgres()
        _CLOSING.callback(server.close)
        url = server.url
    return Databases(url)


def end_servers() -> None:
    """End the servers that this process has started."""
    _CLOSING.close()


def _make_tables(url: str) -> None:
    PostgresDatabase(url, 2).close()


def fresh_database() -> AbstractContextManager[str]:
    """Give the address of a new database with the tables made."""
    return databases().fresh(databases().template("mnemic_tables", _make_tables))


@contextmanager
def place_of(engine: str) -> Iterator[Path | str]:
    """Give a new place for a store: a folder, or the address of a database."""
    if engine == "sqlite":
        with TemporaryDirectory() as name:
            yield Path(name)
    else:
        with fresh_database() as url:
            yield url


def opener(place: Path | str, cache_bytes: int = 1_000_000) -> OpenStore:
    """Return what opens a store there, as each of several processes would."""
    return lambda: SqlStore(place, model="test", width=lambda: WIDTH, cache_bytes=cache_bytes, connections=6)


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest) -> Iterator[Path | str]:
    """A place for a store, of each engine."""
    with place_of(request.param) as found:
        yield found


@pytest.fixture
def postgres() -> Iterator[str]:
    """The address of a new database with the tables made."""
    with place_of("postgres") as url:
        assert isinstance(url, str)
        yield url


class _Here:
    """What the running tests use: SQLite in folders, or for each folder a database that stands for it."""

    def __init__(self) -> None:
        self.postgres = False
        self.addresses: dict[Path, tuple[str, ExitStack]] = {}

    def drop(self, folder: Path) -> None:
        self.addresses.pop(folder)[1].close()


_HERE = _Here()


def address_of(folder: Path) -> str:
    """Return the address of the database that stands for a folder now; "" when it is SQLite."""
    if not _HERE.postgres:
        return ""
    if folder not in _HERE.addresses:
        making = ExitStack()
        _HERE.addresses[folder] = making.enter_context(fresh_database()), making
    return _HERE.addresses[folder][0]


def known_address(folder: Path) -> str:
    """Return the address of the database that stands for a folder, "" when none does."""
    return _HERE.addresses[folder][0] if folder in _HERE.addresses else ""


@contextmanager
def using(engine: str) -> Iterator[None]:
    """Let memories that tests open in folders live in databases of this engine."""
    _HERE.postgres = engine == "postgres"
    try:
        yield
    finally:
        _HERE.postgres = False
        for folder in list(_HERE.addresses):
            _HERE.drop(folder)


@pytest.fixture(autouse=True)
def databases_of_a_test() -> Iterator[None]:
    """Drop the databases that a test has made; those of fixtures of its module stay."""
    before = set(_HERE.addresses)
    yield
    for folder in set(_HERE.addresses) - before:
        _HERE.drop(folder)


@pytest.fixture(params=ENGINES, scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each engine in turn: memories that a module's tests open by `open_memory` live there."""
    with using(request.param):
        yield request.param


@contextmanager
def opened(place: Path | str, cache_bytes: int = 1_000_000) -> Iterator[SqlStore]:
    """Open a store there."""
    with closing(SqlStore(place, model="test", width=lambda: WIDTH, cache_bytes=cache_bytes, connections=6)) as store:
        yield store


def rows_of(url: str) -> bytes:
    """Return all that a database holds, as text."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET mnemic.cubes = '*'")
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'mnemic' ORDER BY tablename")
        names = [str(row[0]) for row in found]
        queries = [f"SELECT t::text FROM mnemic.{name} AS t ORDER BY 1" for name in names]
        return "\n".join(str(row[0]) for query in queries for row in connection.execute(query.encode())).encode()
