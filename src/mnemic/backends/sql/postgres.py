"""PostgreSQL behind `database.Database`: a bounded pool of connections, snapshots, row-level checks.

Reads are snapshots (REPEATABLE READ, READ ONLY), writes READ COMMITTED: writers to one cube queue up on its row
(`Cubes.touch`), those to others do not wait. Connections are in the driver's autocommit mode and transactions are begun
by words of our own, so that one message to the server opens a transaction and says which cubes it may reach. A
connection that turns out dead when a transaction begins is replaced, as nothing was done on it yet.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.exc import DBAPIError, TimeoutError  # noqa: A004 - the pool's own
from sqlalchemy.pool import QueuePool

from mnemic.backends.sql import schema
from mnemic.backends.sql.database import EVERYWHERE, NOWHERE, Reach, run_migrations, version_of
from mnemic.backends.sql.identity import STATE, STATE_QUERY
from mnemic.backends.sql.postgres_bell import PostgresBell
from mnemic.backends.sql.postgres_checks import look_over
from mnemic.backends.sql.postgres_errors import is_starting, reason_of, store_error
from mnemic.backends.sql.postgres_near import SEARCHING
from mnemic.backends.sql.postgres_text import ERASED
from mnemic.errors import InputError, StoreError

_log = logging.getLogger(__name__)

OLDEST: Final = 150_000
"""The oldest server that will do: PostgreSQL 15, as the server counts."""

SCHEMES: Final = ("postgresql", "postgres")
"""What an address may begin with."""

_FIELD: Final = "database_url"
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_LOCK: Final = 0x6D6E656D6963  # of the advisory lock that a process holds while it sets a store up
_POOL_WAIT: Final = 30  # seconds that a call waits for a connection
_STARTING: Final = 10  # seconds that a call waits for a server that is starting up
_DEFAULTS: Final[Mapping[str, str]] = {
    "application_name": "mnemic",
    "client_encoding": "utf8",
    "connect_timeout": "10",  # seconds
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",  # ms until a server that does not answer any more counts as away
}
"""Of connections, unless the address says otherwise."""

SCHEMA: Final = "mnemic"
"""Where the tables are: apart from other programs', and from pgvector's type `vector`, called as one of ours is."""

_SESSION: Final = (
    f"SET search_path = {SCHEMA}, public; "
    "SET lock_timeout = '60s'; "  # as SQLite's `busy_timeout`
    "SET jit = off; "  # it costs more than our statements
    "SET client_min_messages = warning; "
    f"{SEARCHING}; "
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)
"""Said to each connection. What is acknowledged is on disk; stronger promises than `on` are left as they are."""

_ERASURES: Final = (
    "message", "page", "session", "segment", "memory", "memory_version", "source", "relation", "entity", "mention",
    "change", "job", "entry", "vector", "entry_text", "reply",
)  # fmt: skip
"""Tables that hold what people said, or what was made of it."""

_OLDER_SNAPSHOTS: Final = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_xmin IS NOT NULL AND age(backend_xmin) >= age(%s::text::xid8::xid)"
)


class PostgresDatabase:
    """Implements `database.Database`."""

    has_vectors = True

    def __init__(self, url: str, connections: int) -> None:
        self._driver = _driver()
        self._arguments = {**_DEFAULTS, **_read_url(self._driver, url)}
        self.place = _place(self._arguments)
        self._most = max(2, connections - 1)  # one is for the bell
        self._erased: str | None = None
        self._is_made = False
        self._is_closed = False
        self.engine = self._make_engine()
        self.bell = PostgresBell(self.connect, self._driver.Error)
        try:
            self._check_server()
            self._migrate()
            self._is_made = True
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"PostgresDatabase({self.place!r})"

    def close(self) -> None:
        """Close all connections that no transaction uses; those in use close when it ends."""
        self._is_closed = True
        self.bell.close()
        self.engine.dispose()

    def connect(self) -> Any:
        """Return a new connection of the driver, in autocommit mode; wait for a server that is just starting."""
        deadline = time.monotonic() + _STARTING
        while True:
            try:
                connection = self._driver.connect(autocommit=True, **self._arguments)
            except self._driver.OperationalError as error:
                if not is_starting(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                connection.execute(_SESSION, prepare=False)
                return connection

    @contextmanager
    def read(self, reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open a read transaction: one consistent snapshot, never waiting for a writer."""
        with self._translated(), self._begun(_READ, reach) as connection:
            yield connection

    @contextmanager
    def write(self, reach: Reach = NOWHERE) -> Iterator[Connection]:
        """Open a write transaction: it commits when the block ends, and leaves no trace when the block raises."""
        with self._translated(), self._begun(_WRITE, reach) as connection:
            yield connection
            self._commit(connection)
            self._erased = connection.info.pop(ERASED, None) or self._erased

    @contextmanager
    def setting_up(self) -> Iterator[Connection]:
        """Open a write transaction that reaches everything, while no other process is in one like it."""
        with self.write(EVERYWHERE) as connection:
            connection.exec_driver_sql("SET LOCAL lock_timeout = 0")  # another's migrations may take their time
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
            if connection.exec_driver_sql(f"SELECT to_regnamespace('{SCHEMA}')").scalar() is None:
                connection.exec_driver_sql(f"CREATE SCHEMA {SCHEMA}")
            yield connection

    @contextmanager
    def outside_transaction(self) -> Iterator[Connection]:
        """Open a connection without a transaction, for what the engine refuses inside one (VACUUM)."""
        with self._translated(), self.engine.connect() as connection:
            yield connection

    def time(self) -> datetime | None:
        """Return the server's time."""
        with self.outside_transaction() as connection:
            told: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        return told.astimezone(UTC)

    def enter(self, connection: Connection, reach: Reach) -> None:
        """Let an open transaction reach these cubes, and no others."""
        try:
            _raw(connection).execute(_reaching(reach), prepare=False)
        except self._driver.Error as error:
            raise store_error(error, self.place) from error

    def scrub(self) -> bool:
        """Take dead rows out of tables and indexes, if this process has erased some; False when a snapshot shows them.

        The write-ahead log and backups of the server are its administrator's.
        """
        if self._erased is None:
            return True
        with self.outside_transaction() as connection:
            raw = _raw(connection)
            held = raw.execute(_OLDER_SNAPSHOTS, [self._erased]).fetchone()[0]
            raw.execute(f"VACUUM (SKIP_LOCKED) {', '.join(_ERASURES)}", prepare=False)
        if held == 0:
            self._erased = None
        return bool(held == 0)

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the server over: its version, what it promises, and whether rows are checked by cube."""
        with self.read(EVERYWHERE) as connection:
            return look_over(connection, self.place)

    @contextmanager
    def _begun(self, words: str, reach: Reach) -> Iterator[Connection]:
        connection, pool = self._begin(f"{words}; {_reaching(reach)}"), self.engine.pool
        try:
            yield connection
        except BaseException:
            if not connection.invalidated:
                connection.info.pop(ERASED, None)
                if _raw(connection).closed:
                    connection.invalidate()
            raise
        finally:
            if self._is_closed or pool is not self.engine.pool:  # nobody would take it from there any more
                connection.invalidate()
            connection.close()  # what is not committed by now is rolled back

    def _begin(self, words: str) -> Connection:
        """Return a connection with a transaction on it, a new one when that at hand was dead: nothing was done yet."""
        connection = self.engine.connect()
        try:
            self._open(connection, words)
        except self._driver.OperationalError as error:
            _log.info("store_reconnecting", extra={"place": self.place, "reason": reason_of(error)})
            connection.invalidate()
            connection.close()
            self.engine.dispose()  # the others that wait for a call are as dead as this one
            connection = self.engine.connect()
            self._open(connection, words)
        return connection

    def _open(self, connection: Connection, words: str) -> None:
        """Begin a transaction; what the store is, is read in the same message, as each transaction looks at it."""
        if not self._is_made:
            _raw(connection).execute(words, prepare=False)
            return
        found = _raw(connection).execute(f"{words}; {STATE_QUERY}", prepare=False)
        while found.nextset():
            pass
        connection.info[STATE] = dict(found.fetchall())

    def _commit(self, connection: Connection) -> None:
        try:
            if connection.in_transaction():  # a statement of Core has opened one in its books
                connection.commit()
            else:
                _raw(connection).commit()
        except (self._driver.OperationalError, DBAPIError) as error:
            if connection.invalidated or _raw(connection).closed:
                raise StoreError(
                    f"the PostgreSQL server at {self.place} went away while this call was being committed: look "
                    "whether it is stored before you give it again",
                    reason=reason_of(getattr(error, "orig", error)),
                ) from error
            raise

    def _make_engine(self) -> Engine:
        return create_engine(
            "postgresql+psycopg://",
            creator=self.connect,
            poolclass=QueuePool,
            pool_size=self._most,
            max_overflow=0,
            pool_timeout=_POOL_WAIT,
            pool_use_lifo=True,
            use_native_hstore=False,
            hide_parameters=True,
        )

    def _check_server(self) -> None:
        with self.outside_transaction() as connection:
            info = _raw(connection).info
            if info.server_version < OLDEST:
                raise StoreError(
                    f"the server at {self.place} is PostgreSQL {info.server_version // 10_000}; Mnemic needs "
                    f"{OLDEST // 10_000} or newer",
                    found=info.server_version,
                )
            encoding = info.parameter_status("server_encoding")
            if encoding != "UTF8":
                raise StoreError(
                    f"the database at {self.place} holds text as {encoding}, which lacks most of what people write; "
                    "make it with `createdb --encoding=UTF8 --template=template0`",
                    encoding=encoding,
                )

    def _migrate(self) -> None:
        with self.read() as connection:
            if version_of(connection) == schema.HEAD:
                return
        with self.setting_up() as connection:
            run_migrations(connection)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn errors of the driver into ours, with what to do next; the cause is kept."""
        try:
            yield
        except DBAPIError as error:
            raise store_error(error.orig, self.place) from error
        except self._driver.Error as error:
            raise store_error(error, self.place) from error
        except TimeoutError as error:  # of the pool of connections
            raise StoreError(
                f"{self._most} calls and open exports use the store already, and none ended in {_POOL_WAIT} s; "
                "nothing of this call was done, try it again, or raise `database_connections`",
                connections=self._most,
            ) from error


def _driver() -> Any:
    try:
        import psycopg  # noqa: PLC0415 - an extra, needed only with an address
    except ImportError as error:
        raise StoreError("PostgreSQL needs a driver: install mnemic[postgres]", package="psycopg") from error
    return psycopg


def _read_url(driver: Any, url: str) -> Mapping[str, str]:
    """Return what an address says, as the driver takes it. What is wrong with it is told without quoting it."""
    scheme, marked, _ = url.partition("://")
    if not marked or scheme not in SCHEMES:
        known = " or ".join(f"{each}://" for each in SCHEMES)
        raise InputError(_FIELD, f"needs an address that begins with {known}, or nothing for SQLite in a folder")
    try:
        found: Mapping[str, str] = driver.conninfo.conninfo_to_dict(url)
    except driver.Error:
        raise InputError(
            _FIELD,
            "is no address such as postgresql://user:password@host:5432/database; % and @ in a password "
            "are written %25 and %40",
        ) from None  # what the driver says of it may quote the password
    return {name: str(value) for name, value in found.items()}


def _place(arguments: Mapping[str, str]) -> str:
    host, port = arguments.get("host", "localhost"), arguments.get("port", "5432")
    return f"{host}:{port}/{arguments.get('dbname', arguments.get('user', ''))}"


def _reaching(reach: Reach) -> str:
    cubes = "*" if reach is None else ",".join(map(str, sorted(reach)))
    return f"SET LOCAL mnemic.cubes = '{cubes}'"


def _raw(connection: Connection) -> Any:
    """Return the driver's own connection."""
    return connection.connection.dbapi_connection
