"""Rows to values and back: JSON that survives any text, times as microseconds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, or_, select

from mnemic.backends.sql import schema as s
from mnemic.model.index import Entry
from mnemic.model.job import Job, JobState, Priority
from mnemic.model.memory import Segment
from mnemic.model.message import MessageRole, Page, Session, StoredMessage
from mnemic.model.moment import Grain, TimeSpan, from_micros, to_micros
from mnemic.model.parts import searchable_text
from mnemic.model.scope import Cube, CubeKind

_MANY: Final = 500
"""Ids in one statement."""

_SURROGATE = re.compile("[\ud800-\udfff]")

stands = (
    select(s.memory_version.c.id)
    .where(
        s.memory_version.c.cube_key == s.memory.c.cube_key,
        s.memory_version.c.memory_id == s.memory.c.id,
        or_(s.memory_version.c.valid_to.is_(None), s.memory_version.c.valid_to != s.memory_version.c.valid_from),
    )
    .exists()
)
"""Lets through the memories of which a version held: not those that were taken back; see `Memory.stands`."""


def to_json(value: Any) -> str:
    """Write JSON that every engine can hold: NUL is escaped by JSON itself, lone surrogates are escaped here."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return data if data.isascii() else _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", data)


def from_json(data: str | None) -> Any:
    """Read what `to_json` wrote."""
    return None if data is None else json.loads(data)


def plain(words: str) -> str:
    """Return words that every engine can hold: lone surrogates and NUL become U+FFFD."""
    return _SURROGATE.sub("\ufffd", words).replace("\0", "\ufffd")


def micros(moment: datetime | None) -> int | None:
    """Return a moment as the store keeps it."""
    return None if moment is None else to_micros(moment)


def moment(value: int | None) -> datetime | None:
    """Return a stored time."""
    return None if value is None else from_micros(value)


def parts(ids: Iterable[str]) -> Iterator[list[str]]:
    """Yield ids, as many at a time as stand in one statement."""
    every = list(ids)
    for start in range(0, len(every), _MANY):
        yield every[start : start + _MANY]


def cube(row: Row[Any]) -> Cube:
    """Read a cube."""
    return Cube(row.id, row.key, row.name, CubeKind(row.kind), row.owner, from_micros(row.created_at))


def entry(row: Row[Any]) -> Entry:
    """Read an entry; its text is its owner's, and its vector has a table of its own."""
    return Entry(
        kind=row.kind, owner=row.owner, text="", speaker=row.speaker, said_at=row.said_at, vector=None,
        version_id=row.version_id, session_id=row.session_id, position=row.position, start=row.start, end=row.end,
        valid_to=row.valid_to, live=row.live, traits=row.traits,
    )  # fmt: skip


def session(row: Row[Any]) -> Session:
    """Read a session."""
    return Session(row.id, row.cube_key, row.name, row.messages, from_micros(row.started_at), from_micros(row.ended_at))


def page(row: Row[Any]) -> Page:
    """Read a page."""
    return Page(
        row.id,
        row.cube_key,
        row.session_id,
        row.position,
        row.opened_by,
        row.replied,
        from_micros(row.started_at),
        from_micros(row.ended_at),
        row.segment_id,
        row.analysed,
        row.messages,
        MessageRole(row.last_role),
        row.chain_id,
    )


def message(row: Row[Any]) -> StoredMessage:
    """Read a message joined with its session's name as `session_name`."""
    content = json.loads(row.content)
    return StoredMessage(
        id=row.id,
        cube_key=row.cube_key,
        session_id=row.session_id,
        session=row.session_name,
        page_id=row.page_id,
        position=row.position,
        role=MessageRole(row.role),
        speaker=row.speaker,
        content=content,
        text=searchable_text(content),
        said_at=from_micros(row.said_at, row.said_offset),
        stored_at=from_micros(row.stored_at),
        external_id=row.external_id,
        agent=row.agent,
        metadata=json.loads(row.metadata) if row.metadata else {},
    )


def segment(row: Row[Any]) -> Segment:
    """Read a segment."""
    return Segment(
        row.id,
        row.cube_key,
        row.summary,
        tuple(json.loads(row.keywords)),
        row.pages,
        row.visits,
        from_micros(row.started_at),
        from_micros(row.ended_at),
        from_micros(row.touched_at),
        row.archived,
        row.title,
        row.described,
    )


def job(row: Row[Any]) -> Job:
    """Read a job."""
    return Job(
        id=row.id,
        cube_key=row.cube_key,
        kind=row.kind,
        state=JobState(row.state),
        attempts=row.attempts,
        created_at=from_micros(row.created_at),
        not_before=from_micros(row.not_before),
        lease_until=moment(row.lease_until),
        started_at=moment(row.started_at),
        finished_at=moment(row.finished_at),
        done=row.done,
        error=row.error,
        lane=row.lane,
        priority=Priority(row.priority),
        alone=bool(row.alone),
        merge=row.merge,
        payload=json.loads(row.payload),
        parent=row.parent,
        trace=row.trace,
        worker=row.worker,
        changed_at=from_micros(row.changed_at),
    )


def span_to_json(span: TimeSpan | None) -> str | None:
    """Write a time span."""
    if span is None:
        return None
    start = span.start.isoformat() if span.start else None
    end = span.end.isoformat() if span.end else None
    return to_json([start, end, span.grain.value, span.words])


def span_from_json(data: str | None) -> TimeSpan | None:
    """Read a time span."""
    if data is None:
        return None
    start, end, grain, words = json.loads(data)
    return TimeSpan(
        datetime.fromisoformat(start) if start else None,
        datetime.fromisoformat(end) if end else None,
        Grain(grain),
        words,
    )
