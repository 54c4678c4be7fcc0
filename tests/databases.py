"""Where stores of tests live: a folder, or a database of their own on a PostgreSQL server that they share.

The server is that of the environment (`python -m mnemic.testing.servers` sets one up for a whole run); without one,
this process starts its own when the first test asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

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
    SqlStore(url, model="test", width=lambda: WIDTH, cache_bytes=1).close()


@contextmanager
def place_of(engine: str) -> Iterator[Path | str]:
    """Give a new place for a store: a folder, or the address of a database."""
    if engine == "sqlite":
        with TemporaryDirectory() as name:
            yield Path(name)
    else:
        with databases().fresh(databases().template("mnemic_contract", _make_tables)) as url:
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


@contextmanager
def opened(place: Path | str, cache_bytes: int = 1_000_000) -> Iterator[SqlStore]:
    """Open a store there."""
    with closing(SqlStore(place, model="test", width=lambda: WIDTH, cache_bytes=cache_bytes, connections=6)) as store:
        yield store
