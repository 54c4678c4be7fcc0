"""Counts of a cube in SQL, and the size of the files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import Column, ColumnElement, Connection, Table, func, select, text

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.model.memory import Segment
from mnemic.ports.counts import Totals

_DATABASE_SIZE = text("SELECT pg_database_size(current_database())")


class SqlCounts:
    """Implements `ports.counts.Counts`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def totals(self, cube_key: int) -> Totals:
        """Return how much of each kind the cube holds."""
        memories = self._groups(s.memory, s.memory.c.kind, cube_key, rows.stands)
        unassigned = select(func.count()).where(s.page.c.cube_key == cube_key, s.page.c.segment_id.is_(None))
        archived = select(func.count()).where(s.segment.c.cube_key == cube_key, s.segment.c.archived)
        given_up = select(func.count()).where(s.message.c.cube_key == cube_key, s.message.c.refined == 2)
        return Totals(
            messages=self._count(s.message, cube_key),
            sessions=self._count(s.session, cube_key),
            pages=self._count(s.page, cube_key),
            short_term=self._connection.scalar(unassigned) or 0,
            archived=self._connection.scalar(archived) or 0,
            memories=memories,
            superseded=self._count(s.memory_version, cube_key) - self._count(s.memory, cube_key),
            jobs=self._groups(s.job, s.job.c.state, cube_key),
            given_up=self._connection.scalar(given_up) or 0,
        )

    def by_session(self, cube_key: int) -> Mapping[str, int]:
        """Return the number of messages by session id."""
        return self._groups(s.message, s.message.c.session_id, cube_key)

    def segment_of(self, cube_key: int, page_id: str) -> Segment | None:
        """Return the segment that holds a page; None while it is in short-term memory."""
        held = (s.page.c.cube_key == s.segment.c.cube_key) & (s.page.c.segment_id == s.segment.c.id)
        query = select(s.segment).join(s.page, held)
        row = self._connection.execute(query.where(s.page.c.cube_key == cube_key, s.page.c.id == page_id)).first()
        return rows.segment(row) if row else None

    def bytes_on_disk(self) -> int:
        """Return the size of the whole store, all cubes together: of its files, or of its database on a server."""
        if self._connection.dialect.name == "postgresql":
            return int(self._connection.scalar(_DATABASE_SIZE) or 0)
        path = Path(self._connection.engine.url.database or "")
        files = (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm"))
        return sum(file.stat().st_size for file in files if file.is_file())

    def _count(self, table: Table, cube_key: int) -> int:
        query = select(func.count()).select_from(table).where(table.c.cube_key == cube_key)
        return self._connection.scalar(query) or 0

    def _groups(
        self, table: Table, column: Column[str], cube_key: int, *conditions: ColumnElement[bool]
    ) -> Mapping[str, int]:
        query = select(column, func.count()).where(table.c.cube_key == cube_key, *conditions)
        query = query.group_by(column).order_by(column)
        return {row[0]: row[1] for row in self._connection.execute(query)}
