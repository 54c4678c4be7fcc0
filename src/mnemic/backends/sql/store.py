"""The default store: one SQLite file in a folder, behind `ports.store`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from sqlalchemy import Connection, func, select

from mnemic.backends.sql import fulltext
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.archive import SqlArchive
from mnemic.backends.sql.bell import LocalBell
from mnemic.backends.sql.changes import SqlChanges
from mnemic.backends.sql.counts import SqlCounts
from mnemic.backends.sql.cubes import SqlCubes
from mnemic.backends.sql.database import Database
from mnemic.backends.sql.entities import SqlEntities
from mnemic.backends.sql.erasing import SqlErasing, truncate_log
from mnemic.backends.sql.identity import check_model, check_unchanged, finish_change, known_width
from mnemic.backends.sql.index import SqlIndex
from mnemic.backends.sql.jobs import SqlJobs
from mnemic.backends.sql.memories import SqlMemories
from mnemic.backends.sql.messages import SqlMessages
from mnemic.backends.sql.pages import SqlPages, SqlSegments
from mnemic.backends.sql.terms import SqlTerms, is_read, read_anew
from mnemic.backends.sql.turns import SqlTurns
from mnemic.backends.sql.usage import SqlUsage
from mnemic.backends.sql.views import ViewCache
from mnemic.errors import StoreError


class SqlTransaction:
    """Implements `ports.store.Transaction`; each part is made when it is first asked for."""

    def __init__(self, connection: Connection, cache: ViewCache, *, writing: bool = False) -> None:
        self.connection = connection
        self._cache = cache
        self._writing = writing

    @cached_property
    def cubes(self) -> SqlCubes:
        """Cubes and grants."""
        return SqlCubes(self.connection)

    @cached_property
    def messages(self) -> SqlMessages:
        """Sessions and messages."""
        return SqlMessages(self.connection)

    @cached_property
    def pages(self) -> SqlPages:
        """Pages."""
        return SqlPages(self.connection)

    @cached_property
    def segments(self) -> SqlSegments:
        """The middle tier."""
        return SqlSegments(self.connection)

    @cached_property
    def memories(self) -> SqlMemories:
        """Long-term memory."""
        return SqlMemories(self.connection)

    @cached_property
    def index(self) -> SqlIndex:
        """The search index."""
        return SqlIndex(self.connection, self._cache, writing=self._writing)

    @cached_property
    def jobs(self) -> SqlJobs:
        """Background work."""
        return SqlJobs(self.connection)

    @cached_property
    def turns(self) -> SqlTurns:
        """The order of all cubes' background work."""
        return SqlTurns(self.connection)

    @cached_property
    def archive(self) -> SqlArchive:
        """Moving a cube."""
        return SqlArchive(self.connection)

    @cached_property
    def counts(self) -> SqlCounts:
        """Counts and places, for looking inside."""
        return SqlCounts(self.connection)

    @cached_property
    def entities(self) -> SqlEntities:
        """Named things."""
        return SqlEntities(self.connection)

    @cached_property
    def changes(self) -> SqlChanges:
        """Changes of several memories that were made as one."""
        return SqlChanges(self.connection)

    @cached_property
    def usage(self) -> SqlUsage:
        """What language models cost."""
        return SqlUsage(self.connection)

    @cached_property
    def erasing(self) -> SqlErasing:
        """Forgetting."""
        return SqlErasing(self.connection)

    @cached_property
    def terms(self) -> SqlTerms:
        """The full-text index after an upgrade."""
        return SqlTerms(self.connection)

    def finish_model_change(self) -> None:
        """Note that every vector of this store is of the model that it was opened with."""
        finish_change(self.connection, self._cache.model, self._cache.width)

    def enter(self, *cube_keys: int) -> None:
        """Let this transaction reach these cubes: SQLite has no row-level checks."""

    def enter_all(self) -> None:
        """Let this transaction reach all cubes."""


class SqlStore:
    """Implements `ports.store.Store` over one folder. Threads and processes may share the folder."""

    def __init__(
        self, folder: Path, *, model: str, width: Callable[[], int], cache_bytes: int, replacing: bool = False
    ) -> None:
        """Open the folder. `width` is asked for only when the store does not know the model's width.

        Raises `StoreVersionError` and `StoreModelError`; `replacing` lets another model in, for `reindex`.
        """
        self._database = Database(folder)
        self._closed = False
        self._replacing = replacing
        try:
            with self._database.read() as connection:
                known = known_width(connection, model)
                read = is_read(connection)
            if known is None or not read:
                with self._database.write() as connection:
                    known = check_model(connection, model, width, replacing=replacing)
                    if not is_read(connection):
                        read_anew(connection)
        except BaseException:
            self._database.close()
            raise
        self._cache = ViewCache(cache_bytes, model, known)
        self.bell = LocalBell()

    @contextmanager
    def read(self) -> Iterator[SqlTransaction]:
        """Open a snapshot for reading."""
        self._check_open()
        with self._database.read() as connection:
            self._check_model(connection)
            yield SqlTransaction(connection, self._cache)

    @contextmanager
    def write(self) -> Iterator[SqlTransaction]:
        """Open a write transaction; it commits at the end of the block and vanishes when the block raises."""
        self._check_open()
        with self._database.write() as connection:
            self._check_model(connection)
            tx = SqlTransaction(connection, self._cache, writing=True)
            yield tx
        for cube_key in tx.cubes.deleted:
            self._cache.drop(cube_key)

    @contextmanager
    def entered(self, *cube_keys: int) -> Iterator[None]:
        """Let all transactions of this thread reach these cubes: SQLite has no row-level checks."""
        yield

    def scrub(self) -> bool:
        """Take what was erased out of the write-ahead log; False when a reader holds on to it for now."""
        self._check_open()
        with self._database.outside_transaction() as connection:
            return truncate_log(connection)

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the database over (SQLite's quick check, foreign keys, the full-text index against its rows)."""
        self._check_open()
        with self._database.read() as connection:
            quick = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA quick_check(5)")]
            foreign = len(connection.exec_driver_sql("PRAGMA foreign_key_check").all())
            entries = connection.scalar(select(func.count()).select_from(s.entry)) or 0
            indexed = fulltext.count(connection)
            stale = len(SqlTerms(connection).stale_cubes())
        return [
            ("database file", quick == ["ok"], "; ".join(quick)),
            ("references", foreign == 0, f"{foreign} broken"),
            ("full-text index", entries == indexed, f"{indexed} of {entries} entries{_stale(stale)}"),
        ]

    def close(self) -> None:
        """Close the store; calls after it raise `StoreError`."""
        self._closed = True
        self._database.close()

    def _check_model(self, connection: Connection) -> None:
        """Refuse to mix models: what one has written would silently not be found by the other."""
        if not self._replacing:
            check_unchanged(connection, self._cache.model)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("this memory is closed; open it again with Memory(path)")


def _stale(cubes: int) -> str:
    return f"; of {cubes} cubes older ones are still to be indexed anew" if cubes else ""
