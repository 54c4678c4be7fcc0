"""Entities and their mentions in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, exists, func, insert, select

from mnemic.backends.sql import schema as s
from mnemic.model.entity import Entity
from mnemic.model.moment import from_micros, to_micros
from mnemic.text import fold

_CHUNK: Final = 500  # ids in one statement
_MENTIONED: Final = (s.mention.c.cube_key == s.entity.c.cube_key) & (s.mention.c.entity_id == s.entity.c.id)


class SqlEntities:
    """Implements `ports.entities.Entities`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def note(
        self, cube_key: int, name: str, kind: str, mentions: Mapping[str, str], *, entity_id: str, at: datetime
    ) -> str:
        """Store an entity with the messages that mention it; return its id, a known one's when it is known."""
        key = fold(name)
        same = (s.entity.c.cube_key == cube_key, s.entity.c.name_key == key, s.entity.c.type == kind)
        known = self._connection.scalar(select(s.entity.c.id).where(*same))
        if known is None:
            values = {"id": entity_id, "cube_key": cube_key, "name": name, "name_key": key, "type": kind}
            self._connection.execute(insert(s.entity), {**values, "created_at": to_micros(at)})
        found = str(known or entity_id)
        mine = (s.mention.c.cube_key == cube_key, s.mention.c.entity_id == found)
        held = set(self._connection.scalars(select(s.mention.c.message_id).where(*mine)))
        fresh = [
            {"cube_key": cube_key, "entity_id": found, "message_id": message_id, "quote": quote}
            for message_id, quote in mentions.items()
            if message_id not in held
        ]
        if fresh:
            self._connection.execute(insert(s.mention), fresh)
        return found

    def list(self, cube_key: int, *, limit: int | None = 1_000) -> Sequence[Entity]:
        """Return entities, the most mentioned first."""
        count = func.count(s.mention.c.message_id)
        query = (
            select(s.entity)
            .outerjoin(s.mention, _MENTIONED)
            .where(s.entity.c.cube_key == cube_key)
            .group_by(s.entity.c.cube_key, s.entity.c.id)
            .order_by(count.desc(), s.entity.c.id)
            .limit(limit)
        )
        return self._with_mentions(cube_key, self._connection.execute(query).all())

    def of_messages(self, cube_key: int, message_ids: Sequence[str]) -> Sequence[Entity]:
        """Return the entities that these messages mention."""
        found: dict[str, Row[Any]] = {}
        for start in range(0, len(message_ids), _CHUNK):
            query = (
                select(s.entity)
                .join(s.mention, _MENTIONED)
                .where(
                    s.entity.c.cube_key == cube_key,
                    s.mention.c.message_id.in_(list(message_ids[start : start + _CHUNK])),
                )
            )
            found |= {row.id: row for row in self._connection.execute(query)}
        return self._with_mentions(cube_key, sorted(found.values(), key=lambda row: row.id))

    def prune(self, cube_key: int) -> int:
        """Erase entities that no message mentions; return how many there were."""
        alone = ~exists().where(_MENTIONED)
        return self._connection.execute(delete(s.entity).where(s.entity.c.cube_key == cube_key, alone)).rowcount

    def _with_mentions(self, cube_key: int, rows: Iterable[Row[Any]]) -> Sequence[Entity]:
        found = tuple(rows)
        held: dict[str, list[tuple[str, str]]] = {}
        for start in range(0, len(found), _CHUNK):
            ids = [row.id for row in found[start : start + _CHUNK]]
            mine = (s.mention.c.cube_key == cube_key, s.mention.c.entity_id.in_(ids))
            for row in self._connection.execute(select(s.mention).where(*mine).order_by(s.mention.c.message_id)):
                held.setdefault(row.entity_id, []).append((row.message_id, row.quote))
        return [
            Entity(row.id, row.cube_key, row.name, row.type, from_micros(row.created_at), tuple(held.get(row.id, ())))
            for row in found
        ]
