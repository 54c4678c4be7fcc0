"""Where a campaign takes place: a store on its own servers, with what can be done to them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.faults.relay import Relay
from mnemic.testing.postgres_server import Databases, PostgresServer, start_postgres
from mnemic.testing.redis_server import RedisServer

ENGINES: Final = ("sqlite", "postgres", "redis")
ROOM: Final = 768
"""Megabytes of the disk that PostgreSQL has when it is to become full."""

_BALLAST: Final = "ballast"


@dataclass(slots=True)
class Place:
    """A store, and its servers where it has any. `disk` is one that may be filled."""

    engine: str
    settings: Mapping[str, Any]
    postgres: PostgresServer | None = None
    redis: RedisServer | None = None
    relay: Relay | None = None
    disk: Path | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def database(self) -> Path:
        """The file of SQLite."""
        return Path(self.settings["home"]) / "mnemic.db"

    def ask(self, words: str) -> Sequence[tuple[Any, ...]]:
        """Return the rows of a query of ours, of all cubes."""
        if self.postgres is None:
            with closing(sqlite3.connect(self.database, timeout=60)) as connection:
                return connection.execute(words).fetchall()
        import psycopg  # noqa: PLC0415 - an extra

        with psycopg.connect(self.settings["database_url"]) as connection:
            connection.execute("SELECT set_config('search_path', 'mnemic, public', false)")
            connection.execute("SELECT set_config('mnemic.cubes', '*', false)")
            return list(connection.execute(words.encode()).fetchall())

    def fill_disk(self) -> None:
        """Leave no room on PostgreSQL's disk."""
        if self.disk is not None:
            free = shutil.disk_usage(self.disk).free
            with suppress(OSError), (self.disk / _BALLAST).open("wb") as ballast:
                os.posix_fallocate(ballast.fileno(), 0, max(free - 65_536, 4_096))

    def empty_disk(self) -> None:
        """Give the room back."""
        if self.disk is not None:
            (self.disk / _BALLAST).unlink(missing_ok=True)

    def revive(self) -> None:
        """Bring back whatever is down."""
        self.empty_disk()
        if self.relay is not None:
            self.relay.mend()
        if self.redis is not None:
            self.redis.resume()
            if not self.redis.answers():
                self.redis.restart()
        if self.postgres is not None and not self.postgres.running:
            self.postgres.start()


@contextmanager
def place_of(engine: str) -> Iterator[Place]:
    """Give a new, empty store of an engine, with servers of its own that are gone at the end."""
    with ExitStack() as held:
        home = held.enter_context(tempfile.TemporaryDirectory(prefix="mnemic-faults-"))
        settings: dict[str, Any] = {"home": home, "embedder": "hashing", "llm": "none"}
        place = Place(engine, settings)
        if engine != "sqlite":
            place.disk = held.enter_context(_small_disk(place.notes.append))
            place.postgres = start_postgres(place.disk, {"max_wal_size": "64MB", "min_wal_size": "32MB"})
            held.callback(place.postgres.close)
            settings["database_url"] = held.enter_context(_database(place.postgres))
        if engine == "redis":
            place.redis = held.enter_context(RedisServer())
            place.relay = held.enter_context(Relay(place.redis.port))
            settings["redis_url"] = place.redis.url.replace(f":{place.redis.port}", f":{place.relay.port}")
        held.callback(place.revive)
        yield place


@contextmanager
def _database(server: PostgresServer) -> Iterator[str]:
    """Give the address of a new database. It goes with its server, and is not dropped before."""
    database = Databases(server.url).fresh()
    yield database.__enter__()


@contextmanager
def _small_disk(note: Callable[[str], None]) -> Iterator[Path | None]:
    """Mount a file system of its own in memory, that can be filled; None where that is not allowed."""
    with tempfile.TemporaryDirectory(prefix="mnemic-disk-") as name:
        mount, unmount = (shutil.which(program) or program for program in ("mount", "umount"))
        try:
            given = ["-t", "tmpfs", "-o", f"size={ROOM}m,mode=755", "tmpfs", name]
            subprocess.run([mount, *given], check=True, capture_output=True, timeout=20)
        except (OSError, subprocess.SubprocessError) as error:
            note(f"PostgreSQL's disk is not filled, as none can be mounted here: {error}")
            yield None
            return
        try:
            yield Path(name)
        finally:
            subprocess.run([unmount, "-l", name], check=False, capture_output=True, timeout=20)
