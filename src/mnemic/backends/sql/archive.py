"""A cube's records in SQL, as they are stored: read in order, written back as new rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Boolean, ColumnElement, Connection, Row, Table, case, func, insert, select, tuple_, update

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.ids import content_hash
from mnemic.model.archive import LAYOUT, PART, FieldType, Record
from mnemic.model.moment import from_micros, offset_minutes, to_micros

_CHUNK: Final = 500  # ids in one statement
_TABLES: Final[Mapping[str, Table]] = {
    "session": s.session,
    "segment": s.segment,
    "page": s.page,
    "message": s.message,
    "memory": s.memory,
    "entity": s.entity,
    "relation": s.relation,
    "blob": s.blob,
    "document": s.document,
    "document_version": s.document_version,
    "chunk": s.chunk,
    "chunk_place": s.chunk_place,
    "attachment": s.attachment,
}
_ORDER: Final[Mapping[str, tuple[str, ...]]] = {
    "relation": ("kind", "from_id", "to_id"),
    "blob": ("digest",),
    "chunk_place": ("version_id", "chunk_id"),
}
"""What records are in the order of, where that is not their ids."""

_OFFSETS: Final = {"message": ("said_at", "said_offset"), "attachment": ("taken_at", "taken_offset")}
"""The times that have a zone of their own."""
_JSON: Final = (FieldType.CONTENT, FieldType.OBJECT, FieldType.WORDS)
_TYPES: Final = {kind: {field.name: field.type for field in fields} for kind, fields in LAYOUT.items()}


class SqlArchive:
    """Implements `ports.archive.Archive`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def counts(self, cube_key: int) -> Mapping[str, int]:
        """Return how many records of each kind a cube has; of files, how many parts."""
        found: dict[str, int] = {}
        for kind, table in _TABLES.items():
            counted: Any = func.count()
            if kind == "blob":
                counted = func.sum(case((s.blob.c.size == 0, 1), else_=(s.blob.c.size + PART - 1) // PART))
            query = select(counted).select_from(table).where(*_mine(table, cube_key))
            found[kind] = int(self._connection.scalar(query) or 0)
        return found

    def read(self, cube_key: int, kind: str, after: Record | None, limit: int) -> Sequence[Record]:
        """Return records of a kind in the order of their keys, from the one after `after`."""
        table, names = _TABLES[kind], _ORDER.get(kind, ("id",))
        order = [table.c[name] for name in names]
        query = select(table).where(*_mine(table, cube_key)).order_by(*order).limit(limit)
        if after is not None:
            query = query.where(tuple_(*order) > tuple(after[name] for name in names))
        return [_record(kind, row) for row in self._connection.execute(query)]

    def vectors(self, cube_key: int, owners: Sequence[str], model: str) -> Mapping[tuple[str, str | None], list[bytes]]:
        """Return the vectors of a model by owner and version id, in order of the passages; only whole lists."""
        found: dict[tuple[str, str | None], list[bytes]] = {}
        lacking: set[tuple[str, str | None]] = set()
        embedded = (s.vector.c.cube_key == s.entry.c.cube_key) & (s.vector.c.entry_key == s.entry.c.key)
        for some in _chunks(owners):
            query = (
                select(s.entry.c.owner, s.entry.c.version_id, s.vector.c.data)
                .outerjoin(s.vector, embedded & (s.vector.c.model == model))
                .where(s.entry.c.cube_key == cube_key, s.entry.c.owner.in_(some))
                .order_by(s.entry.c.owner, s.entry.c.start)
            )
            for owner, version_id, data in self._connection.execute(query):
                if data is None:
                    lacking.add((owner, version_id))
                else:
                    found.setdefault((owner, version_id), []).append(data)
        return {key: parts for key, parts in found.items() if key not in lacking}

    def taken(self, cube_key: int, kind: str, ids: Sequence[str]) -> set[str]:
        """Return those of the ids that things of this cube have."""
        table = _TABLES[kind]
        found: set[str] = set()
        for some in _chunks(ids):
            held = select(table.c.id).where(table.c.cube_key == cube_key, table.c.id.in_(some))
            found.update(self._connection.scalars(held))
        return found

    def write(self, cube_key: int, kind: str, records: Sequence[Record]) -> Sequence[str]:
        """Store new records; return the ids of those stored."""
        if kind == "message":
            records = self._unknown(cube_key, records)
        if kind in ("page", "message"):
            records = self._placed(cube_key, _TABLES[kind], records)
        if not records:
            return []
        self._connection.execute(insert(_TABLES[kind]), [_row(cube_key, kind, record) for record in records])
        return [str(record.get("id", "")) for record in records]

    def settle(self, cube_key: int) -> None:
        """Make sessions and the cube agree with the messages that they hold now."""
        said = s.message.c.said_at
        query = (
            select(s.message.c.session_id, func.min(said), func.max(said), func.max(s.message.c.position))
            .where(s.message.c.cube_key == cube_key)
            .group_by(s.message.c.session_id)
        )
        for session_id, start, end, last in self._connection.execute(query).all():
            mine = (s.session.c.cube_key == cube_key, s.session.c.id == session_id)
            counted = case((s.session.c.messages > last, s.session.c.messages), else_=last + 1)
            values = {"started_at": start, "ended_at": end, "messages": counted}
            self._connection.execute(update(s.session).where(*mine).values(values))
        latest = select(func.max(said)).where(s.message.c.cube_key == cube_key).scalar_subquery()
        this = s.cube_state.c.cube_key == cube_key
        self._connection.execute(update(s.cube_state).where(this).values(latest_said=latest))

    def _unknown(self, cube_key: int, records: Sequence[Record]) -> Sequence[Record]:
        """Leave out the messages that their sessions hold already."""
        held = self._pairs(cube_key, s.message, s.message.c.dedupe, records)
        fresh: list[Record] = []
        for record in records:
            key = (record["session_id"], record["dedupe"])
            if key not in held:
                held.add(key)
                fresh.append(record)
        return fresh

    def _placed(self, cube_key: int, table: Table, records: Sequence[Record]) -> Sequence[Record]:
        """Give those whose position is taken one after the last of their session."""
        held = self._pairs(cube_key, table, table.c.position, records)
        placed: list[Record] = []
        for record in records:
            session_id, position = record["session_id"], record["position"]
            if (session_id, position) in held:
                position = max(other for owner, other in held if owner == session_id) + 1
            held.add((session_id, position))
            placed.append({**record, "position": position})
        return placed

    def _pairs(self, cube_key: int, table: Table, value: Any, records: Sequence[Record]) -> set[tuple[Any, Any]]:
        """Return what the sessions of these records hold in a column already."""
        held: set[tuple[Any, Any]] = set()
        for some in _chunks(sorted({record["session_id"] for record in records})):
            query = select(table.c.session_id, value).where(table.c.cube_key == cube_key, table.c.session_id.in_(some))
            held.update((row[0], row[1]) for row in self._connection.execute(query))
        return held


def _record(kind: str, row: Row[Any]) -> Record:
    found: dict[str, Any] = {}
    for name, value in row._mapping.items():  # noqa: SLF001 - the public name of a row's columns
        match _TYPES[kind].get(name):
            case FieldType.TIME:
                found[name] = rows.moment(value)
            case FieldType.FLAG:
                found[name] = bool(value)
            case each if each in _JSON:
                found[name] = rows.from_json(value)
            case _:
                found[name] = value
    if kind in _OFFSETS:
        time, offset = (_number(row, name) for name in _OFFSETS[kind])
        found[_OFFSETS[kind][0]] = None if time is None else from_micros(time, offset or 0)
    return found


def _number(row: Row[Any], name: str) -> int | None:
    value: int | None = row._mapping[name]  # noqa: SLF001 - as above
    return value


def _mine(table: Table, cube_key: int) -> list[ColumnElement[bool]]:
    """Return what lets the records of a cube through: of files, those that are not to be erased."""
    mine = [table.c.cube_key == cube_key]
    return [*mine, table.c.doomed == 0] if table is s.blob else mine


def _row(cube_key: int, kind: str, record: Record) -> dict[str, Any]:
    columns: dict[str, Any] = {"cube_key": cube_key}
    for name, value in record.items():
        if name not in _TABLES[kind].c:
            continue
        if isinstance(value, datetime):
            columns[name] = to_micros(value)
        elif _TYPES[kind].get(name) in _JSON:
            columns[name] = None if value is None else rows.to_json(value)
        elif isinstance(value, bool):
            columns[name] = value if isinstance(_TABLES[kind].c[name].type, Boolean) else int(value)
        else:
            columns[name] = value
    if kind in _OFFSETS:
        time, offset = _OFFSETS[kind]
        columns[offset] = None if record[time] is None else offset_minutes(record[time])
    if kind == "document":
        columns["name_hash"] = content_hash(record["name"])
    return columns


def _chunks(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _CHUNK):
        yield list(ids[start : start + _CHUNK])
