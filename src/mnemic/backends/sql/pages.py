"""Pages and segments in SQL: the short and the middle tier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from sqlalchemy import Connection, bindparam, func, insert, select, update

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.index import Vector
from mnemic.model.memory import Segment
from mnemic.model.message import Page, StoredMessage
from mnemic.model.moment import to_micros

_PAGES = select(s.page)
_ASSIGN = (
    update(s.page)
    .where(s.page.c.id == bindparam("page_id"))
    .values(segment_id=bindparam("segment"), chain_id=bindparam("chain"))
)
_HOLDING = Prepared(
    select(s.segment, s.message.c.id.label("message_id"))
    .join(s.page, s.page.c.segment_id == s.segment.c.id)
    .join(s.message, s.message.c.page_id == s.page.c.id)
    .where(s.message.c.cube_key == bindparam("cube"), s.message.c.id.in_(bindparam("ids", expanding=True))),
    lists=["ids"],
)


class SqlPages:
    """Implements `ports.store.Pages`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def unassigned(self, cube_key: int) -> Sequence[Page]:
        """Return the pages in no segment, by session, then in order: short-term memory."""
        query = _PAGES.where(s.page.c.cube_key == cube_key, s.page.c.segment_id.is_(None))
        ordered = query.order_by(s.page.c.session_id, s.page.c.position)
        return [rows.page(row) for row in self._connection.execute(ordered)]

    def of_segment(self, cube_key: int, segment_id: str) -> Sequence[Page]:
        """Return a segment's pages in order of time."""
        query = _PAGES.where(s.page.c.cube_key == cube_key, s.page.c.segment_id == segment_id)
        ordered = query.order_by(s.page.c.started_at, s.page.c.id)
        return [rows.page(row) for row in self._connection.execute(ordered)]

    def messages(self, cube_key: int, page_ids: Sequence[str]) -> Mapping[str, Sequence[StoredMessage]]:
        """Return the messages of these pages, in order, by page id."""
        query = (
            select(s.message, s.session.c.name.label("session_name"))
            .join(s.session)
            .where(s.message.c.cube_key == cube_key, s.message.c.page_id.in_(bindparam("ids", expanding=True)))
            .order_by(s.message.c.position)
        )
        found: dict[str, list[StoredMessage]] = {page_id: [] for page_id in page_ids}
        for start in range(0, len(page_ids), 500):
            for row in self._connection.execute(query, {"ids": list(page_ids[start : start + 500])}):
                found[row.page_id].append(rows.message(row))
        return found

    def assign(self, page_id: str, segment_id: str, chain_id: str) -> None:
        """Put a page into a segment; it leaves short-term memory."""
        self._connection.execute(_ASSIGN, {"page_id": page_id, "segment": segment_id, "chain": chain_id})

    def set_analysed(self, page_ids: Sequence[str]) -> None:
        """Mark pages as promoted to long-term memory: each is promoted once."""
        marked = update(s.page).where(s.page.c.id.in_(list(page_ids))).values(analysed=True)
        self._connection.execute(marked)

    def unanalysed(self, cube_key: int) -> Mapping[str, Sequence[str]]:
        """Return, by segment id, the pages that were not promoted yet."""
        query = (
            select(s.page.c.segment_id, s.page.c.id)
            .where(s.page.c.cube_key == cube_key, s.page.c.segment_id.is_not(None), s.page.c.analysed.is_(False))
            .order_by(s.page.c.started_at, s.page.c.id)
        )
        found: dict[str, list[str]] = {}
        for segment_id, page_id in self._connection.execute(query):
            found.setdefault(segment_id, []).append(page_id)
        return found

    def at(self, cube_key: int, session_id: str, positions: Sequence[int]) -> Sequence[Page]:
        """Return the pages at these positions of a session, in order."""
        query = _PAGES.where(
            s.page.c.cube_key == cube_key, s.page.c.session_id == session_id, s.page.c.position.in_(list(positions))
        )
        return [rows.page(row) for row in self._connection.execute(query.order_by(s.page.c.position))]

    def last_assigned(self, cube_key: int) -> tuple[Page, str] | None:
        """Return the newest page in a segment, and its chain."""
        query = _PAGES.where(s.page.c.cube_key == cube_key, s.page.c.segment_id.is_not(None))
        row = self._connection.execute(query.order_by(s.page.c.ended_at.desc(), s.page.c.id.desc()).limit(1)).first()
        return (rows.page(row), row.chain_id) if row else None


class SqlSegments:
    """Implements `ports.store.Segments`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, cube_key: int, *, archived: bool = False) -> Sequence[tuple[Segment, Vector]]:
        """Return the segments with their centroids, oldest first; archived ones only when asked for."""
        query = select(s.segment).where(s.segment.c.cube_key == cube_key)
        if not archived:
            query = query.where(s.segment.c.archived.is_(False))
        found = self._connection.execute(query.order_by(s.segment.c.started_at, s.segment.c.id))
        return [(rows.segment(row), np.frombuffer(row.centroid, dtype="<f4")) for row in found]

    def put(self, segment: Segment, centroid: Vector) -> None:
        """Store a segment, new or changed."""
        values = {
            "cube_key": segment.cube_key,
            "summary": segment.summary,
            "keywords": rows.to_json(list(segment.keywords)),
            "centroid": centroid.astype("<f4").tobytes(),
            "pages": segment.pages,
            "visits": segment.visits,
            "started_at": to_micros(segment.started_at),
            "ended_at": to_micros(segment.ended_at),
            "touched_at": to_micros(segment.touched_at),
            "archived": segment.archived,
        }
        changed = self._connection.execute(update(s.segment).where(s.segment.c.id == segment.id).values(values))
        if changed.rowcount == 0:
            self._connection.execute(insert(s.segment), {"id": segment.id, **values})

    def visit(self, cube_key: int, message_ids: Sequence[str], at: datetime) -> None:
        """Count one visit for each segment that holds one of the messages."""
        holding = (
            select(s.page.c.segment_id)
            .join(s.message, s.message.c.page_id == s.page.c.id)
            .where(s.message.c.cube_key == cube_key, s.message.c.id.in_(list(message_ids)))
        )
        touched = func.max(s.segment.c.touched_at, to_micros(at))
        self._connection.execute(
            update(s.segment)
            .where(s.segment.c.id.in_(holding))
            .values(visits=s.segment.c.visits + 1, touched_at=touched)
        )

    def of_messages(self, cube_key: int, message_ids: Sequence[str]) -> Mapping[str, Segment]:
        """Return the segments that hold these messages, by message id."""
        held = _HOLDING.rows(self._connection, {"cube": cube_key, "ids": list(message_ids)})
        return {row.message_id: rows.segment(row) for row in held}

    def archive(self, cube_key: int, ids: Sequence[str]) -> None:
        """Take segments out of the tier; they stay searchable on request."""
        mine = s.segment.c.cube_key == cube_key
        self._connection.execute(update(s.segment).where(mine, s.segment.c.id.in_(list(ids))).values(archived=True))
