"""SQLite behind `database.Database`: one file in a folder.

A write transaction takes the one writer's place at once (`BEGIN IMMEDIATE`), so that two writers queue up instead of
failing half-way; inside a process they queue on a lock, which is fair. There are no row-level checks: what a
transaction may reach is for other engines to heed.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, TimeoutError  # noqa: A004 - the pool's own
from sqlalchemy.pool import QueuePool

from mnemic.backends.sql import schema
from mnemic.backends.sql.bell import LocalBell
from mnemic.backends.sql.database import NOWHERE, Reach, run_migrations, version_of
from mnemic.backends.sql.prepared import Prepared
from mnemic.errors import StoreError
from mnemic.text import fold

SQLITE_SETTINGS: Final = {
    "busy_timeout": "60000",  # ms to wait for a writer of another process; first, so that the next ones wait too
    "journal_mode": "WAL",  # readers and the writer do not wait for each other
    "synchronous": "FULL",  # a commit is on disk before `add` returns
    "foreign_keys": "ON",
    "secure_delete": "ON",  # forgotten content is overwritten, not only unlinked
    "cache_size": "-4000",  # KiB of page cache for each connection, of which there are up to 64; 16,000 is no faster
    "temp_store": "MEMORY",
    "journal_size_limit": "67108864",  # bytes that the write-ahead log keeps after a checkpoint
}
"""Set on every SQLite connection, in this order (https://sqlite.org/pragma.html)."""

DATABASE_FILE: Final = "mnemic.db"

_CONNECTIONS: Final = 64  # transactions at one time in a process
_KEPT: Final = 8  # connections that stay open when nobody uses them
_PATIENCE: Final = 60  # seconds that a new connection waits for a file that another process is setting up
_POOL_WAIT: Final = 30  # seconds that a call waits for one of them
_SCRUB_WAIT: Final = 500  # ms that emptying the log waits for readers

_BEGIN_READ: Final = Prepared(text("BEGIN"))
_BEGIN_WRITE: Final = Prepared(text("BEGIN IMMEDIATE"))


class SqliteDatabase:
    """Implements `database.Database`."""

    has_vectors = False

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the folder {folder} cannot be used: {error.strerror}; choose another path") from error
        self.path = folder / DATABASE_FILE
        self.bell = LocalBell()
        self._writer = threading.Lock()
        self._closed = False
        self._readers: list[Connection] = []  # of no transaction at the moment; appending and popping are atomic
        self.engine = _sqlite_engine(self.path)
        try:
            self._migrate()
        except BaseException:
            self.engine.dispose()
            raise

    def close(self) -> None:
        """Close all connections; the last one folds the write-ahead log into the file."""
        self._closed = True
        while self._readers:
            self._readers.pop().close()
        self.engine.dispose()

    @contextmanager
    def read(self, reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open a read transaction: one consistent snapshot, never waiting for a writer.

        Its connection is kept for the next one: the engine's own way there and back costs a tenth of a search.
        """
        with _translated():
            connection = self._reader()
            try:
                _BEGIN_READ.run(connection, {})
                yield connection
                _end_read(connection)
            except BaseException:
                connection.close()
                raise
            if self._closed or len(self._readers) >= _KEPT:
                connection.close()
            else:
                self._readers.append(connection)

    def _reader(self) -> Connection:
        try:
            return self._readers.pop()
        except IndexError:
            return self.engine.connect().execution_options(mnemic_plain=True)

    @contextmanager
    def write(self, reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open a write transaction: it commits when the block ends, and leaves no trace when the block raises."""
        with (
            _translated(),
            self._writer,
            self.engine.connect().execution_options(mnemic_write=True) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def outside_transaction(self) -> Iterator[Connection]:
        """Open a connection without a transaction, for what the engine refuses inside one (checkpoints, VACUUM)."""
        with _translated(), self.engine.connect().execution_options(mnemic_plain=True) as connection:
            yield connection

    def time(self) -> datetime | None:
        """Return None: who shares a file shares a machine's clock."""
        return None

    @contextmanager
    def setting_up(self) -> Iterator[Connection]:
        """Open a write transaction: there is one writer anyway."""
        with self.write() as connection:
            yield connection

    def enter(self, connection: Connection, reach: Reach) -> None:
        """Do nothing: there are no row-level checks."""

    def scrub(self) -> bool:
        """Fold the write-ahead log into the file and empty it; False when a reader kept some of it."""
        with self.outside_transaction() as connection:
            return _truncate_log(connection)

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the file over: SQLite's quick check, and its references."""
        with self.read() as connection:
            quick = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA quick_check(5)")]
            foreign = len(connection.exec_driver_sql("PRAGMA foreign_key_check").all())
        return [("database file", quick == ["ok"], "; ".join(quick)), ("references", foreign == 0, f"{foreign} broken")]

    def _migrate(self) -> None:
        if self._version() == schema.HEAD:
            return
        with self._rebuilding() as connection:
            run_migrations(connection)

    @contextmanager
    def _rebuilding(self) -> Iterator[Connection]:
        """Open a write transaction in which tables may take the place of others; references are checked at its end.

        SQLite would empty what refers to a table that is dropped, and can be told not to only before it begins.
        """
        with _translated(), self._writer, self.engine.connect().execution_options(mnemic_write=True) as connection:
            cursor: Any = connection.connection.cursor()
            _set(cursor, "PRAGMA foreign_keys = OFF")
            try:
                with connection.begin():
                    _check_references(connection)
                    yield connection
                    _check_references(connection)
            finally:
                _set(cursor, f"PRAGMA foreign_keys = {SQLITE_SETTINGS['foreign_keys']}")

    def _version(self) -> str | None:
        with self.read() as connection:
            return version_of(connection)


def _check_references(connection: Connection) -> None:
    broken = {str(row[0]) for row in connection.exec_driver_sql("PRAGMA foreign_key_check")}
    if broken:
        raise StoreError(
            f"this store refers to what it does not hold (in {', '.join(sorted(broken))}); it was not touched. "
            "Restore it from an export or a backup.",
            tables=sorted(broken),
        )


def _sqlite_engine(path: Path) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=QueuePool,
        hide_parameters=True,  # what people said stays out of tracebacks
        pool_size=_KEPT,
        max_overflow=_CONNECTIONS - _KEPT,
        pool_timeout=_POOL_WAIT,
        connect_args={"check_same_thread": False, "isolation_level": None, "cached_statements": 256},
    )
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for name, value in SQLITE_SETTINGS.items():
        _set(cursor, f"PRAGMA {name} = {value}")
    cursor.close()
    connection.create_function("fold", 1, _fold, deterministic=True)


def _end_read(connection: Connection) -> None:
    if connection.in_transaction():  # a statement of Core has opened one in its books
        connection.rollback()
    else:
        connection.connection.rollback()


def _set(cursor: sqlite3.Cursor, statement: str) -> None:
    """Run a setting; SQLite does not wait by itself when another process moves a new file to WAL at this moment."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            cursor.execute(statement)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _fold(value: object) -> object:
    """Fold text, or its bytes, for comparing inside SQL; the engine's own `lower` knows ASCII only."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "surrogatepass")
    return fold(value) if isinstance(value, str) else value


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("mnemic_plain"):
        return
    (_BEGIN_WRITE if options.get("mnemic_write") else _BEGIN_READ).run(connection, {})


def _truncate_log(connection: Connection) -> bool:
    """Fold the log; this waits for readers with the writer's place taken, so it does not wait long.

    An open export would hold up everyone.
    """
    usual = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {_SCRUB_WAIT}")
    try:
        row = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {usual}")
    return int(row[0]) == 0


@contextmanager
def _translated() -> Iterator[None]:
    """Turn errors of the engine into ours, with what to do next; the cause is kept."""
    try:
        yield
    except DBAPIError as error:
        raise _store_error(str(error.orig)) from error
    except TimeoutError as error:  # of the pool of connections
        raise StoreError(
            f"{_CONNECTIONS} calls and open exports use the store already, and none ended in {_POOL_WAIT} s; "
            "nothing of this call was done, try it again",
            connections=_CONNECTIONS,
        ) from error


def _store_error(reason: str) -> StoreError:
    advice = "the store could not do it; nothing of this call was stored"
    if "locked" in reason or "busy" in reason:
        advice = "another process kept the store busy for a minute; nothing of this call was stored, try it again"
    elif "full" in reason:
        advice = "the disk is full; nothing of this call was stored, make room and try it again"
    elif "malformed" in reason or "not a database" in reason:
        advice = "the database file is damaged; restore it from an export or a backup (`mnemic doctor` shows more)"
    elif "readonly" in reason or "unable to open" in reason:
        advice = "the store's folder cannot be written; check its path and permissions"
    return StoreError(f"{advice} ({reason})", reason=reason)
