"""The store behind `ports.store`: one SQLite file in a folder, or a PostgreSQL database at an address."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path

from sqlalchemy import Connection, func, select

from mnemic.backends.sql import fulltext
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.archive import SqlArchive
from mnemic.backends.sql.attachments import SqlAttachments
from mnemic.backends.sql.changes import SqlChanges
from mnemic.backends.sql.chunks import SqlChunks
from mnemic.backends.sql.counts import SqlCounts
from mnemic.backends.sql.cubes import SqlCubes
from mnemic.backends.sql.database import EVERYWHERE, NOWHERE, Database, Reach
from mnemic.backends.sql.documents import SqlDocuments
from mnemic.backends.sql.entities import SqlEntities
from mnemic.backends.sql.erasing import SqlErasing
from mnemic.backends.sql.identity import check_model, check_unchanged, finish_change, known_width
from mnemic.backends.sql.index import SqlIndex
from mnemic.backends.sql.jobs import SqlJobs
from mnemic.backends.sql.kept_blobs import SqlKeptBlobs
from mnemic.backends.sql.keys import SqlKeys, SqlKeyUses
from mnemic.backends.sql.memories import SqlMemories
from mnemic.backends.sql.messages import SqlMessages
from mnemic.backends.sql.pages import SqlPages, SqlSegments
from mnemic.backends.sql.postgres_near import Comparing, PostgresNear, SqlNear, opened_index
from mnemic.backends.sql.records import SqlAudit, SqlReplies
from mnemic.backends.sql.sizes import held_in
from mnemic.backends.sql.sqlite import SqliteDatabase
from mnemic.backends.sql.terms import SqlTerms, is_read, read_anew
from mnemic.backends.sql.turns import SqlTurns
from mnemic.backends.sql.usage import SqlUsage
from mnemic.backends.sql.views import ViewCache
from mnemic.errors import StoreError
from mnemic.ports.counts import Sizes
from mnemic.ports.queue import Bell


class SqlTransaction:
    """Implements `ports.store.Transaction`; each part is made when it is first asked for."""

    def __init__(
        self,
        database: Database,
        connection: Connection,
        cache: ViewCache,
        near: PostgresNear | None,
        reach: Reach,
        *,
        writing: bool = False,
    ) -> None:
        self.connection = connection
        self._database = database
        self._cache = cache
        self._near = near
        self._reach = reach
        self._writing = writing

    @cached_property
    def cubes(self) -> SqlCubes:
        """Cubes and grants."""
        return SqlCubes(self.connection, self.enter)

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
        return SqlIndex(self.connection, self._cache, self._near, writing=self._writing)

    @cached_property
    def near(self) -> SqlNear:
        """Vectors that the engine compares."""
        return SqlNear(self.connection, self._near)

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

    @cached_property
    def keys(self) -> SqlKeys:
        """Keys of those who call through a server."""
        return SqlKeys(self.connection)

    @cached_property
    def key_uses(self) -> SqlKeyUses:
        """How often keys are used."""
        return SqlKeyUses(self.connection)

    @cached_property
    def audit(self) -> SqlAudit:
        """Who did what."""
        return SqlAudit(self.connection)

    @cached_property
    def replies(self) -> SqlReplies:
        """Replies that are given again."""
        return SqlReplies(self.connection)

    @cached_property
    def documents(self) -> SqlDocuments:
        """Documents of knowledge bases."""
        return SqlDocuments(self.connection)

    @cached_property
    def chunks(self) -> SqlChunks:
        """Their passages."""
        return SqlChunks(self.connection)

    @cached_property
    def attachments(self) -> SqlAttachments:
        """What came with messages besides words."""
        return SqlAttachments(self.connection)

    @cached_property
    def blobs(self) -> SqlKeptBlobs:
        """Which files are kept."""
        return SqlKeptBlobs(self.connection)

    def finish_model_change(self) -> None:
        """Note that every vector of this store is of the model that it was opened with."""
        finish_change(self.connection, self._cache.model, self._cache.width)

    def enter(self, *cube_keys: int) -> None:
        """Let this transaction reach these cubes, besides those that it may reach already."""
        if self._reach is not None and not self._reach.issuperset(cube_keys):
            self._reach = self._reach.union(cube_keys)
            self._database.enter(self.connection, self._reach)

    def enter_all(self) -> None:
        """Let this transaction reach all cubes."""
        if self._reach is not None:
            self._reach = EVERYWHERE
            self._database.enter(self.connection, self._reach)


class SqlStore:
    """Implements `ports.store.Store`. Threads and processes may share the place that it opens."""

    def __init__(
        self,
        place: Path | str,
        *,
        model: str,
        width: Callable[[], int],
        cache_bytes: int,
        replacing: bool = False,
        connections: int = 16,
        comparing: Comparing | None = None,
    ) -> None:
        """Open a folder (SQLite) or an address (PostgreSQL, with so many connections at most).

        `width` is asked for only when the store does not know the model's width. Raises `StoreVersionError` and
        `StoreModelError`; `replacing` lets another model in, for `reindex`. `comparing` says where vectors are
        compared: by this process, unless pgvector is there; `InputError` when it is asked for and is not.
        """
        self._closed = False
        self._replacing = replacing
        self._entered = threading.local()
        self._database = _opened(place, connections)
        try:
            with self._database.read() as connection:
                known = known_width(connection, model)
                read = is_read(connection)
            if known is None or not read:
                with self._database.setting_up() as connection:
                    known = check_model(connection, model, width, replacing=replacing)
                    if not is_read(connection):
                        read_anew(connection)
            self._near, self._why_not = opened_index(self._database, model, known, comparing or Comparing())
        except BaseException:
            self._database.close()
            raise
        self._cache = ViewCache(cache_bytes, model, known)

    @property
    def bell(self) -> Bell:
        """Wakes who waits for jobs, as far as this engine reaches: this process, or all that share a server."""
        return self._database.bell

    @contextmanager
    def read(self) -> Iterator[SqlTransaction]:
        """Open a snapshot for reading."""
        self._check_open()
        reach = self._reach
        with self._database.read(reach) as connection:
            self._check_model(connection)
            yield SqlTransaction(self._database, connection, self._cache, self._near, reach)

    @contextmanager
    def write(self) -> Iterator[SqlTransaction]:
        """Open a write transaction; it commits at the end of the block and vanishes when the block raises."""
        self._check_open()
        reach = self._reach
        with self._database.write(reach) as connection:
            self._check_model(connection)
            tx = SqlTransaction(self._database, connection, self._cache, self._near, reach, writing=True)
            yield tx
        for cube_key in tx.cubes.deleted:
            self._cache.drop(cube_key)

    @contextmanager
    def entered(self, *cube_keys: int) -> Iterator[None]:
        """Let all transactions that this thread opens inside the block reach these cubes."""
        before = self._reach
        self._entered.cubes = EVERYWHERE if before is None else before.union(cube_keys)
        try:
            yield
        finally:
            self._entered.cubes = before

    @property
    def _reach(self) -> Reach:
        """What this thread's transactions may reach from their beginning."""
        found: Reach = getattr(self._entered, "cubes", NOWHERE)
        return found

    def time(self) -> datetime | None:
        """Return the time of the database's server; None when there is none."""
        self._check_open()
        return self._database.time()

    def scrub(self) -> bool:
        """Take what was erased out of the engine's logs and dead rows; False when a reader holds on to it for now."""
        self._check_open()
        return self._database.scrub()

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the store over: what the engine says of itself, and the full-text index against its rows."""
        self._check_open()
        found = list(self._database.check())
        with self._database.read(EVERYWHERE) as connection:
            entries = connection.scalar(select(func.count()).select_from(s.entry)) or 0
            indexed = fulltext.count(connection)
            stale = len(SqlTerms(connection).stale_cubes())
        found.append(("full-text index", entries == indexed, f"{indexed} of {entries} entries{_stale(stale)}"))
        if self._why_not:
            found.append(("vector index", True, f"vectors are compared in this process: pgvector: {self._why_not}"))
        return found

    def sizes(self) -> Sizes:
        """Return how much the store holds, and what this process keeps of it in memory."""
        self._check_open()
        with self._database.read(EVERYWHERE) as connection:
            held = held_in(connection)
        return Sizes(**held, cache_bytes=self._cache.nbytes, cached_cubes=len(self._cache))

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


def _opened(place: Path | str, connections: int) -> Database:
    if isinstance(place, Path):
        return SqliteDatabase(place)
    from mnemic.backends.sql.postgres import PostgresDatabase  # noqa: PLC0415 - it brings SQLAlchemy's dialect with it

    return PostgresDatabase(place, connections)


def _stale(cubes: int) -> str:
    return f"; of {cubes} cubes older ones are still to be indexed anew" if cubes else ""
