"""Forgetting in SQL: messages go with their relations and sources, and pages and sessions are counted anew.

Overwriting the bytes is the engine's part (`secure_delete`, and scrubbing the full text and the write-ahead log).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sqlalchemy import Connection, Table, and_, delete, exists, func, select, update

from mnemic.backends.sql import fulltext
from mnemic.backends.sql import schema as s
from mnemic.model.job import SILENCED, JobState
from mnemic.ports.erasing import Erased

_CHUNK: Final = 500  # ids in one statement


class SqlErasing:
    """Implements `ports.erasing.Erasing`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def session(self, cube_key: int, name: str) -> Sequence[str] | None:
        """Return the ids of a session's messages, in order; None when there is no session of that name."""
        named = (s.session.c.cube_key == cube_key, s.session.c.name == name)
        session_id = self._connection.scalar(select(s.session.c.id).where(*named))
        if session_id is None:
            return None
        query = select(s.message.c.id).where(s.message.c.cube_key == cube_key, s.message.c.session_id == session_id)
        return list(self._connection.scalars(query.order_by(s.message.c.position)))

    def messages(self, cube_key: int, ids: Sequence[str]) -> Erased:
        """Erase messages with their relations and sources; pages and sessions shrink, and go when they are empty."""
        pages: set[str] = set()
        sessions: set[str] = set()
        count = attachments = 0
        for some in _chunks(ids):
            mine = (s.message.c.cube_key == cube_key, s.message.c.id.in_(some))
            held = (s.attachment.c.cube_key == cube_key, s.attachment.c.message_id.in_(some))
            attachments += self._connection.execute(delete(s.attachment).where(*held)).rowcount
            places = select(s.message.c.page_id, s.message.c.session_id).where(*mine)
            for page_id, session_id in self._connection.execute(places):
                sessions.add(session_id)
                if page_id is not None:
                    pages.add(page_id)
            self._unrelate(cube_key, some)
            count += self._connection.execute(delete(s.message).where(*mine)).rowcount
        segments = self._segments_of(cube_key, pages)
        gone_pages = sum(self._shrink_page(cube_key, page_id) for page_id in sorted(pages))
        gone_sessions = sum(self._shrink_session(cube_key, session_id) for session_id in sorted(sessions))
        gone_sessions += self._drop_empty_sessions(cube_key)
        self._set_latest(cube_key)
        self._silence_jobs(cube_key)
        removed = {"message": count, "page": gone_pages, "session": gone_sessions, "attachment": attachments}
        return Erased(removed, segments)

    def segments(self, cube_key: int, ids: Sequence[str]) -> int:
        """Erase segments with their relations; pages that are in one leave it. Return how many there were."""
        count = 0
        for some in _chunks(ids):
            self._unrelate(cube_key, some)
            inside = (s.page.c.cube_key == cube_key, s.page.c.segment_id.in_(some))
            self._connection.execute(update(s.page).where(*inside).values(segment_id=None))
            mine = (s.segment.c.cube_key == cube_key, s.segment.c.id.in_(some))
            count += self._connection.execute(delete(s.segment).where(*mine)).rowcount
        return count

    def set_unread(self, cube_key: int, ids: Sequence[str]) -> None:
        """Mark messages to be read by extraction again."""
        for some in _chunks(ids):
            mine = (s.message.c.cube_key == cube_key, s.message.c.id.in_(some))
            self._connection.execute(update(s.message).where(*mine).values(extracted=0, refined=0))

    def set_unanalysed(self, cube_key: int, segment_id: str) -> None:
        """Mark a segment's pages to be promoted again."""
        mine = (s.page.c.cube_key == cube_key, s.page.c.segment_id == segment_id)
        self._connection.execute(update(s.page).where(*mine).values(analysed=False))

    def set_underived(self, cube_key: int) -> None:
        """Mark all messages to be read, and all pages to be moved and promoted, again."""
        unread = {"extracted": 0, "refined": 0}
        self._connection.execute(update(s.message).where(s.message.c.cube_key == cube_key).values(unread))
        anew = {"segment_id": None, "chain_id": None, "analysed": False}
        self._connection.execute(update(s.page).where(s.page.c.cube_key == cube_key).values(anew))

    def everything(self, cube_key: int) -> Mapping[str, int]:
        """Erase all that a cube holds, but neither the cube, its grants nor its jobs; return the rows by kind."""
        keys = self._connection.scalars(select(s.entry.c.key).where(s.entry.c.cube_key == cube_key)).all()
        fulltext.delete(self._connection, cube_key, keys)
        self._empty(s.chunk_place, cube_key)
        removed = {table.name: self._empty(table, cube_key) for table in _CONTENT}
        for table in (s.relation, s.forgotten, s.change):
            self._empty(table, cube_key)
        values = {"erasures": s.cube_state.c.erasures + 1, "latest_said": None}
        self._connection.execute(update(s.cube_state).where(s.cube_state.c.cube_key == cube_key).values(values))
        self._silence_jobs(cube_key)
        return removed

    def scrub(self) -> None:
        """Take what was erased in this transaction out of the full-text index's own files, not only of its results."""
        fulltext.scrub(self._connection)

    def _empty(self, table: Table, cube_key: int) -> int:
        return self._connection.execute(delete(table).where(table.c.cube_key == cube_key)).rowcount

    def _unrelate(self, cube_key: int, ids: Sequence[str]) -> None:
        touching = s.relation.c.from_id.in_(ids) | s.relation.c.to_id.in_(ids)
        self._connection.execute(delete(s.relation).where(s.relation.c.cube_key == cube_key, touching))

    def _segments_of(self, cube_key: int, pages: set[str]) -> tuple[str, ...]:
        found: set[str] = set()
        beside = s.page.alias("beside")
        for some in _chunks(sorted(pages)):
            near = and_(
                beside.c.cube_key == s.page.c.cube_key,
                beside.c.session_id == s.page.c.session_id,
                func.abs(beside.c.position - s.page.c.position) <= 1,
            )
            held = select(beside.c.segment_id).distinct().join_from(s.page, beside, near)
            chosen = (s.page.c.cube_key == cube_key, s.page.c.id.in_(some), beside.c.segment_id.is_not(None))
            found.update(self._connection.scalars(held.where(*chosen)))
        return tuple(sorted(found))

    def _shrink_page(self, cube_key: int, page_id: str) -> int:
        """Describe a page by the messages that it has left; return 1 when it had none and went."""
        query = select(s.message.c.speaker, s.message.c.role, s.message.c.said_at)
        on_it = query.where(s.message.c.cube_key == cube_key, s.message.c.page_id == page_id)
        left = self._connection.execute(on_it.order_by(s.message.c.position)).all()
        mine = (s.page.c.cube_key == cube_key, s.page.c.id == page_id)
        if not left:
            return self._connection.execute(delete(s.page).where(*mine)).rowcount
        speakers = [row.speaker for row in left]
        times = [row.said_at for row in left]
        values = {
            "opened_by": speakers[0],
            "replied": any(speaker != speakers[0] for speaker in speakers),
            "messages": len(left),
            "last_role": left[-1].role,
            "started_at": min(times),
            "ended_at": max(times),
        }
        self._connection.execute(update(s.page).where(*mine).values(values))
        return 0

    def _shrink_session(self, cube_key: int, session_id: str) -> int:
        """Give a session the span of the messages that it has left; return 1 when it had none and went.

        Its count stays: it is the position of the next message, and positions are used once.
        """
        span = select(func.min(s.message.c.said_at), func.max(s.message.c.said_at))
        said = (s.message.c.cube_key == cube_key, s.message.c.session_id == session_id)
        start, end = self._connection.execute(span.where(*said)).one()
        mine = (s.session.c.cube_key == cube_key, s.session.c.id == session_id)
        if start is None:
            return self._connection.execute(delete(s.session).where(*mine)).rowcount
        self._connection.execute(update(s.session).where(*mine).values(started_at=start, ended_at=end))
        return 0

    def _drop_empty_sessions(self, cube_key: int) -> int:
        empty = ~exists().where(s.message.c.cube_key == s.session.c.cube_key, s.message.c.session_id == s.session.c.id)
        return self._connection.execute(delete(s.session).where(s.session.c.cube_key == cube_key, empty)).rowcount

    def _silence_jobs(self, cube_key: int) -> None:
        """Take away the errors of jobs: a traceback may quote what was erased, also that of one that runs now."""
        told = s.job.c.error.is_not(None) | (s.job.c.state == JobState.RUNNING.value)
        self._connection.execute(update(s.job).where(s.job.c.cube_key == cube_key, told).values(error=SILENCED))

    def _set_latest(self, cube_key: int) -> None:
        latest = select(func.max(s.message.c.said_at)).where(s.message.c.cube_key == cube_key).scalar_subquery()
        mine = s.cube_state.c.cube_key == cube_key
        self._connection.execute(update(s.cube_state).where(mine).values(latest_said=latest))


_CONTENT: Final = (
    s.memory_version, s.memory, s.entry, s.attachment, s.message, s.page, s.segment, s.session, s.entity,
    s.chunk, s.document_version, s.document,
)  # fmt: skip
"""What a cube holds, in an order in which nothing is left pointing to what went."""


def _chunks(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _CHUNK):
        yield list(ids[start : start + _CHUNK])
