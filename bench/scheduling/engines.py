"""The engines: servers on loopback that wait for their disks, fresh stores on them, plain questions to their rows."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from bench.tables import ROOT
from mnemic import Memory
from mnemic.testing.postgres_server import Databases, PostgresServer, start_postgres
from mnemic.testing.redis_server import RedisServer

ENGINES: Final = ("sqlite", "postgres", "redis")
TITLES: Final = {
    "sqlite": "SQLite",
    "postgres": "PostgreSQL, its own queue",
    "redis": "PostgreSQL, Redis Streams",
}
DURABLE: Final = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
"""What a server must not leave out when it is measured."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A fresh store: the settings that lead to it."""

    name: str
    settings: Mapping[str, str]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process that is to use it."""
        ours = {f"MNEMIC_{name.upper()}": value for name, value in self.settings.items()}
        clean = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")}
        source = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        return {**clean, **ours, "PYTHONPATH": source}

    def memory(self, **settings: Any) -> Memory:
        """Open it without a worker."""
        return Memory(settings={**self.settings, "worker": False, **settings})

    def ask(self, words: str) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a query of ours, of all cubes."""
        if self.name == "sqlite":
            path = Path(self.settings["home"]) / "mnemic.db"
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as connection:
                return connection.execute(words).fetchall()
        with self.postgres() as connection:
            return list(connection.execute(words.encode()).fetchall())

    def tell(self, words: str) -> None:
        """Change rows, in a transaction."""
        if self.name == "sqlite":
            path = Path(self.settings["home"]) / "mnemic.db"
            with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(words)
                connection.execute("COMMIT")
            return
        with self.postgres() as connection:
            connection.execute(words.encode())

    @contextmanager
    def postgres(self) -> Iterator[Any]:
        """Give a connection to the database that reaches all cubes; what it did is committed at the end."""
        import psycopg  # noqa: PLC0415 - an extra

        with psycopg.connect(self.settings["database_url"]) as connection:
            connection.execute("SELECT set_config('search_path', 'mnemic, public', false)")
            connection.execute("SELECT set_config('mnemic.cubes', '*', false)")
            yield connection

    def as_json(self) -> str:
        """Return the settings as a process takes them."""
        return json.dumps(dict(self.settings))


class Servers:
    """Starts PostgreSQL and Redis when they are first needed, and stops them at the end."""

    def __init__(self) -> None:
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @cached_property
    def postgres(self) -> PostgresServer:
        """A server that waits for its disk, and has it in a folder for temporary files, not in memory."""
        server = start_postgres(Path(tempfile.gettempdir()), DURABLE)
        self._open.callback(server.close)
        return server

    @cached_property
    def redis(self) -> RedisServer:
        """A server that keeps all in memory."""
        return self._open.enter_context(RedisServer())

    @contextmanager
    def fresh(self, name: str) -> Iterator[Engine]:
        """Give a new, empty store, gone at the end."""
        with tempfile.TemporaryDirectory() as home, ExitStack() as held:
            settings = {"home": home, "embedder": "hashing", "llm": "none"}
            if name != "sqlite":
                settings["database_url"] = held.enter_context(Databases(self.postgres.url).fresh())
            if name == "redis":
                self.redis.flush()
                settings["redis_url"] = self.redis.url
            yield Engine(name, settings)
