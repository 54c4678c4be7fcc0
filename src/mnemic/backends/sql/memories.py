"""Long-term memories in SQL: statements, their versions, their sources and relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, delete, insert, select, update

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.model.memory import Change, Memory, MemoryKind, Source, Version
from mnemic.model.moment import from_micros, to_micros
from mnemic.text import fold

_CHUNK: Final = 500  # ids in one statement
_VERSIONS = select(s.memory_version).order_by(s.memory_version.c.valid_from, s.memory_version.c.number)
_OF_VERSION = (s.source.c.cube_key == s.memory_version.c.cube_key) & (s.source.c.version_id == s.memory_version.c.id)
_SOURCES = (
    select(
        s.source,
        s.message.c.said_at,
        s.message.c.said_offset,
        s.message.c.speaker,
        s.message.c.external_id,
        s.session.c.name.label("session_name"),
    )
    .join(s.message, (s.message.c.cube_key == s.source.c.cube_key) & (s.message.c.id == s.source.c.message_id))
    .join(s.session, (s.session.c.cube_key == s.message.c.cube_key) & (s.session.c.id == s.message.c.session_id))
    .order_by(s.message.c.said_at, s.message.c.id, s.source.c.part)
)


class SqlMemories:
    """Implements `ports.store.Memories`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, cube_key: int, ids: Sequence[str]) -> Mapping[str, Memory]:
        """Return whole memories by id; ids of other cubes are absent."""
        found: dict[str, Memory] = {}
        for start in range(0, len(ids), _CHUNK):
            chosen = s.memory.c.id.in_(list(ids[start : start + _CHUNK]))
            query = select(s.memory).where(s.memory.c.cube_key == cube_key, chosen)
            found.update((memory.id, memory) for memory in self._whole(cube_key, query))
        return found

    def find(self, cube_key: int, subject_key: str, attribute: str) -> Sequence[Memory]:
        """Return the memories about one attribute of one subject."""
        query = select(s.memory).where(
            s.memory.c.cube_key == cube_key,
            s.memory.c.subject_key == subject_key,
            s.memory.c.attribute == attribute,
        )
        return self._whole(cube_key, query.order_by(s.memory.c.id))

    def list(
        self,
        cube_key: int,
        *,
        kinds: Sequence[str] = (),
        after: str | None = None,
        limit: int = 100,
        standing: bool = False,
        newest: bool = False,
    ) -> Sequence[Memory]:
        """Return memories in order of id, after the given id; with `standing`, those that were not taken back.

        `newest` turns the order.
        """
        order = s.memory.c.id.desc() if newest else s.memory.c.id
        query = select(s.memory).where(s.memory.c.cube_key == cube_key).order_by(order).limit(limit)
        if kinds:
            query = query.where(s.memory.c.kind.in_(list(kinds)))
        if after is not None:
            query = query.where(s.memory.c.id < after if newest else s.memory.c.id > after)
        if standing:
            query = query.where(rows.stands)
        return self._whole(cube_key, query)

    def put(self, memory: Memory) -> None:
        """Store a memory, new or changed, with all versions and sources."""
        values = {
            "cube_key": memory.cube_key,
            "kind": memory.kind.value,
            "subject": memory.subject,
            "subject_key": fold(memory.subject),
            "attribute": memory.attribute,
            "value_key": memory.value_key,
            "locked": memory.locked,
            "created_at": to_micros(memory.created_at),
        }
        mine = (s.memory.c.cube_key == memory.cube_key, s.memory.c.id == memory.id)
        changed = self._connection.execute(update(s.memory).where(*mine).values(values))
        if changed.rowcount == 0:
            self._connection.execute(insert(s.memory), {"id": memory.id, **values})
        else:
            old = (s.memory_version.c.cube_key == memory.cube_key, s.memory_version.c.memory_id == memory.id)
            self._connection.execute(delete(s.memory_version).where(*old))
        if not memory.versions:
            return
        self._connection.execute(insert(s.memory_version), [_version_values(memory, v) for v in memory.versions])
        sources = [values for version in memory.versions for values in _source_values(memory.cube_key, version)]
        if sources:
            self._connection.execute(insert(s.source), sources)

    def delete(self, cube_key: int, ids: Sequence[str]) -> int:
        """Erase memories with their versions and sources; return how many there were."""
        mine = s.memory.c.cube_key == cube_key
        gone = self._connection.execute(delete(s.memory).where(mine, s.memory.c.id.in_(list(ids))))
        touching = s.relation.c.from_id.in_(list(ids)) | s.relation.c.to_id.in_(list(ids))
        self._connection.execute(delete(s.relation).where(s.relation.c.cube_key == cube_key, touching))
        return gone.rowcount

    def relate(self, cube_key: int, kind: str, from_id: str, to_id: str, at: datetime) -> None:
        """Store a typed relation between two things; storing it again changes nothing."""
        ends = (s.relation.c.kind == kind, s.relation.c.from_id == from_id, s.relation.c.to_id == to_id)
        same = (s.relation.c.cube_key == cube_key, *ends)
        if self._connection.scalar(select(s.relation.c.kind).where(*same)) is None:
            values = {"cube_key": cube_key, "kind": kind, "from_id": from_id, "to_id": to_id}
            self._connection.execute(insert(s.relation), {**values, "created_at": to_micros(at)})

    def disown(self, cube_key: int, marks: Collection[str]) -> None:
        """Keep marks of statements that their owner has forgotten."""
        known = self.disowned(cube_key, marks)
        fresh = [{"cube_key": cube_key, "mark": mark} for mark in sorted(set(marks) - known)]
        if fresh:
            self._connection.execute(insert(s.forgotten), fresh)

    def disowned(self, cube_key: int, marks: Collection[str]) -> set[str]:
        """Return those of the marks that are of forgotten statements."""
        found: set[str] = set()
        asked = sorted(set(marks))
        for start in range(0, len(asked), 500):
            chosen = s.forgotten.c.mark.in_(asked[start : start + 500])
            found.update(
                self._connection.scalars(select(s.forgotten.c.mark).where(s.forgotten.c.cube_key == cube_key, chosen))
            )
        return found

    def own_again(self, cube_key: int, marks: Collection[str]) -> None:
        """Drop marks: the statements may be read from their messages again."""
        dropped = sorted(set(marks))
        for start in range(0, len(dropped), _CHUNK):
            chosen = s.forgotten.c.mark.in_(dropped[start : start + _CHUNK])
            self._connection.execute(delete(s.forgotten).where(s.forgotten.c.cube_key == cube_key, chosen))

    def relations(self, cube_key: int, ids: Sequence[str]) -> Sequence[tuple[str, str, str]]:
        """Return (kind, from, to) of all relations that touch these ids."""
        touching = s.relation.c.from_id.in_(list(ids)) | s.relation.c.to_id.in_(list(ids))
        query = select(s.relation).where(s.relation.c.cube_key == cube_key, touching)
        return [(row.kind, row.from_id, row.to_id) for row in self._connection.execute(query)]

    def of_messages(self, cube_key: int, message_ids: Sequence[str]) -> Sequence[str]:
        """Return the ids of the memories that stand on any of these messages."""
        query = (
            select(s.memory_version.c.memory_id)
            .join(s.source, _OF_VERSION)
            .where(s.memory_version.c.cube_key == cube_key, s.source.c.message_id.in_(list(message_ids)))
            .distinct()
        )
        return list(self._connection.scalars(query))

    def _whole(self, cube_key: int, query: Select[Any]) -> Sequence[Memory]:
        found = self._connection.execute(query).all()
        if not found:
            return []
        versions: dict[str, Sequence[Version]] = {}
        for start in range(0, len(found), _CHUNK):
            versions.update(self._versions(cube_key, [row.id for row in found[start : start + _CHUNK]]))
        return [_memory(row, versions.get(row.id, ())) for row in found]

    def _sources(self, cube_key: int, version_ids: Sequence[str]) -> Iterator[Row[Any]]:
        for start in range(0, len(version_ids), _CHUNK):
            chosen = s.source.c.version_id.in_(version_ids[start : start + _CHUNK])
            yield from self._connection.execute(_SOURCES.where(s.source.c.cube_key == cube_key, chosen))

    def _versions(self, cube_key: int, memory_ids: Sequence[str]) -> Mapping[str, Sequence[Version]]:
        mine = (s.memory_version.c.cube_key == cube_key, s.memory_version.c.memory_id.in_(memory_ids))
        stored = self._connection.execute(_VERSIONS.where(*mine)).all()
        sources: dict[str, list[Source]] = {}
        for row in self._sources(cube_key, [row.id for row in stored]):
            said_at = from_micros(row.said_at, row.said_offset)
            source = Source(
                row.message_id, row.quote, said_at, row.speaker, row.session_name, row.external_id,
                rows.moment(row.holds_from),
                rows.moment(row.holds_to),
            )  # fmt: skip
            sources.setdefault(row.version_id, []).append(source)
        grouped: dict[str, list[Version]] = {}
        for row in stored:
            grouped.setdefault(row.memory_id, []).append(_version(row, sources.get(row.id, ())))
        return grouped


def _source_values(cube_key: int, version: Version) -> Iterator[dict[str, object]]:
    """Yield the rows of a version's sources; its quotes from one message are numbered, each different one once."""
    counted: Counter[str] = Counter()
    for source in {(source.message_id, source.quote): source for source in version.sources}.values():
        yield {
            "cube_key": cube_key,
            "version_id": version.id,
            "message_id": source.message_id,
            "part": counted[source.message_id],
            "quote": source.quote,
            "holds_from": rows.micros(source.holds_from),
            "holds_to": rows.micros(source.holds_to),
        }
        counted[source.message_id] += 1


def _memory(row: Row[Any], versions: Iterable[Version]) -> Memory:
    return Memory(
        row.id,
        row.cube_key,
        MemoryKind(row.kind),
        row.subject,
        row.attribute,
        row.value_key,
        row.locked,
        from_micros(row.created_at),
        tuple(versions),
    )


def _version(row: Row[Any], sources: Iterable[Source]) -> Version:
    return Version(
        id=row.id,
        number=row.number,
        text=row.text,
        value=row.value,
        polarity=row.polarity,
        valid_from=from_micros(row.valid_from),
        valid_to=rows.moment(row.valid_to),
        time=rows.span_from_json(row.time),
        recorded_at=from_micros(row.recorded_at),
        confidence=row.confidence,
        change=Change(row.change),
        sources=tuple(sources),
        drawn_by=row.drawn_by,
        reason=row.reason,
    )


def _version_values(memory: Memory, version: Version) -> dict[str, object]:
    return {
        "id": version.id,
        "cube_key": memory.cube_key,
        "memory_id": memory.id,
        "number": version.number,
        "text": version.text,
        "value": version.value,
        "polarity": version.polarity,
        "valid_from": to_micros(version.valid_from),
        "valid_to": rows.micros(version.valid_to),
        "time": rows.span_to_json(version.time),
        "recorded_at": to_micros(version.recorded_at),
        "confidence": version.confidence,
        "change": version.change.value,
        "drawn_by": version.drawn_by,
        "reason": version.reason,
    }
