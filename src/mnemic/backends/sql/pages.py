"""Pages and segments in SQL: the short and the middle tier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import numpy as np
from sqlalchemy import Connection, bindparam, case, func, insert, select, update

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
    .where(s.page.c.cube_key == bindparam("cube"), s.page.c.id == bindparam("page_id"))
    .values(segment_id=bindparam("segment"), chain_id=bindparam("chain"))
)
_HOLDING = Prepared(
    select(s.segment, s.message.c.id.label("message_id"))
    .join(s.page, (s.page.c.cube_key == s.segment.c.cube_key) & (s.page.c.segment_id == s.segment.c.id))
    .join(s.message, (s.message.c.cube_key == s.page.c.cube_key) & (s.message.c.page_id == s.page.c.id))
    .where(s.message.c.cube_key == bindparam("cube"), s.message.c.id.in_(bindparam("ids", expanding=True))),
    lists=["ids"],
)
_VISIT = (
    update(s.segment)
    .where(s.segment.c.cube_key == bindparam("cube"), s.segment.c.id == bindparam("visited"))
    .values(
        visits=s.segment.c.visits + bindparam("count"),
        touched_at=case((s.segment.c.touched_at < bindparam("at"), bindparam("at")), else_=s.segment.c.touched_at),
    )
)
_CHUNK: Final = 500  # ids in one statement


class SqlPages:
    """Implements `ports.store.Pages`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def unassigned(self, cube_key: int) -> Sequence[Page]:
        """Return the pages in no segment, by session, then in order: short-term memory."""
        query = _PAGES.where(s.page.c.cube_key == cube_key, s.page.c.segment_id.is_(None))
        ordered = query.order_by(s.page.c.session_id, s.page.c.position)
        return [rows.page(row) for row in self._connection.execute(ordered)]

    def of_segment(self, cube_key: int, segment_id: str, *, newest: int | None = None) -> Sequence[Page]:
        """Return a segment's pages in order of time; with `newest`, at most so many, the last of them."""
        query = _PAGES.where(s.page.c.cube_key == cube_key, s.page.c.segment_id == segment_id)
        ordered = query.order_by(s.page.c.started_at.desc(), s.page.c.id.desc()).limit(newest)
        return [rows.page(row) for row in self._connection.execute(ordered)][::-1]

    def messages(self, cube_key: int, page_ids: Sequence[str]) -> Mapping[str, Sequence[StoredMessage]]:
        """Return the messages of these pages, in order, by page id."""
        query = (
            select(s.message, s.session.c.name.label("session_name"))
            .join(s.session)
            .where(s.message.c.cube_key == cube_key, s.message.c.page_id.in_(bindparam("ids", expanding=True)))
            .order_by(s.message.c.position)
        )
        found: dict[str, list[StoredMessage]] = {page_id: [] for page_id in page_ids}
        for start in range(0, len(page_ids), _CHUNK):
            for row in self._connection.execute(query, {"ids": list(page_ids[start : start + _CHUNK])}):
                found[row.page_id].append(rows.message(row))
        return found

    def get(self, cube_key: int, ids: Sequence[str]) -> Mapping[str, Page]:
        """Return the pages with these ids, by id; ids of other cubes are absent."""
        found: dict[str, Page] = {}
        for start in range(0, len(ids), _CHUNK):
            query = _PAGES.where(s.page.c.cube_key == cube_key, s.page.c.id.in_(list(ids[start : start + _CHUNK])))
            found.update((row.id, rows.page(row)) for row in self._connection.execute(query))
        return found

    def assign(self, cube_key: int, segment_id: str, chains: Mapping[str, str]) -> None:
        """Put pages (ids, each with its chain's) into a segment; they leave short-term memory."""
        into = {"cube": cube_key, "segment": segment_id}
        moved = [{**into, "page_id": page_id, "chain": chain_id} for page_id, chain_id in chains.items()]
        if moved:
            self._connection.execute(_ASSIGN, moved)

    def set_analysed(self, cube_key: int, segment_id: str) -> None:
        """Mark a segment's pages as promoted to long-term memory: each is promoted once."""
        mine = (s.page.c.cube_key == cube_key, s.page.c.segment_id == segment_id, s.page.c.analysed.is_(False))
        self._connection.execute(update(s.page).where(*mine).values(analysed=True))

    def unanalysed(self, cube_key: int) -> Mapping[str, int]:
        """Return, by segment id, how many of its pages were not promoted yet; segments with none are left out."""
        query = (
            select(s.page.c.segment_id, func.count())
            .where(s.page.c.cube_key == cube_key, s.page.c.segment_id.is_not(None), s.page.c.analysed.is_(False))
            .group_by(s.page.c.segment_id)
        )
        return {row[0]: row[1] for row in self._connection.execute(query)}

    def at(self, cube_key: int, session_id: str, positions: Sequence[int]) -> Sequence[Page]:
        """Return the pages at these positions of a session, in order."""
        mine = (s.page.c.cube_key == cube_key, s.page.c.session_id == session_id)
        found: list[Page] = []
        for start in range(0, len(positions), _CHUNK):
            query = _PAGES.where(*mine, s.page.c.position.in_(list(positions[start : start + _CHUNK])))
            found += [rows.page(row) for row in self._connection.execute(query)]
        return sorted(found, key=lambda page: page.position)


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

    def get(self, cube_key: int, ids: Sequence[str]) -> Mapping[str, tuple[Segment, Vector]]:
        """Return segments with their centroids by id, archived or not; ids of other cubes are absent."""
        found: dict[str, tuple[Segment, Vector]] = {}
        for start in range(0, len(ids), _CHUNK):
            chosen = s.segment.c.id.in_(list(ids[start : start + _CHUNK]))
            for row in self._connection.execute(select(s.segment).where(s.segment.c.cube_key == cube_key, chosen)):
                found[row.id] = (rows.segment(row), np.frombuffer(row.centroid, dtype="<f4"))
        return found

    def put(self, segment: Segment, centroid: Vector) -> None:
        """Store a segment, new or changed."""
        values = {
            "cube_key": segment.cube_key,
            "title": segment.title,
            "summary": segment.summary,
            "described": segment.described,
            "keywords": rows.to_json(list(segment.keywords)),
            "centroid": centroid.astype("<f4").tobytes(),
            "pages": segment.pages,
            "visits": segment.visits,
            "started_at": to_micros(segment.started_at),
            "ended_at": to_micros(segment.ended_at),
            "touched_at": to_micros(segment.touched_at),
            "archived": segment.archived,
        }
        mine = (s.segment.c.cube_key == segment.cube_key, s.segment.c.id == segment.id)
        changed = self._connection.execute(update(s.segment).where(*mine).values(values))
        if changed.rowcount == 0:
            self._connection.execute(insert(s.segment), {"id": segment.id, **values})

    def visit(self, cube_key: int, counts: Mapping[str, int], at: datetime) -> None:
        """Add visits to segments, by id."""
        moment = {"cube": cube_key, "at": to_micros(at)}
        visited = [{**moment, "visited": segment_id, "count": count} for segment_id, count in sorted(counts.items())]
        if visited:
            self._connection.execute(_VISIT, visited)

    def of_messages(self, cube_key: int, message_ids: Sequence[str]) -> Mapping[str, Segment]:
        """Return the segments that hold these messages, by message id."""
        held: dict[str, Segment] = {}
        for start in range(0, len(message_ids), _CHUNK):
            chosen = {"cube": cube_key, "ids": list(message_ids[start : start + _CHUNK])}
            held.update((row.message_id, rows.segment(row)) for row in _HOLDING.rows(self._connection, chosen))
        return held

    def archive(self, cube_key: int, ids: Sequence[str]) -> None:
        """Take segments out of the tier; they stay searchable on request."""
        mine = s.segment.c.cube_key == cube_key
        self._connection.execute(update(s.segment).where(mine, s.segment.c.id.in_(list(ids))).values(archived=True))
