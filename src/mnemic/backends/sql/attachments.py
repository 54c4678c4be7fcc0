"""What came with messages, in SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.attachment import Attachment, AttachmentKind, AttachmentState
from mnemic.model.moment import from_micros, offset_minutes

_C = s.attachment.c
_OF_MESSAGES = Prepared(
    select(s.attachment)
    .where(_C.cube_key == bindparam("cube"), _C.message_id.in_(bindparam("ids", expanding=True)))
    .order_by(_C.message_id, _C.part),
    lists=["ids"],
)
_BY_ID = Prepared(
    select(s.attachment).where(_C.cube_key == bindparam("cube"), _C.id.in_(bindparam("ids", expanding=True))),
    lists=["ids"],
)


class SqlAttachments:
    """Implements `ports.documents.Attachments`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, attachments: Sequence[Attachment]) -> None:
        """Store attachments, new or changed."""
        for each in attachments:
            values, mine = _values(each), (_C.cube_key == each.cube_key, _C.id == each.id)
            if not self._connection.execute(update(s.attachment).where(*mine).values(values)).rowcount:
                self._connection.execute(insert(s.attachment), {"cube_key": each.cube_key, "id": each.id, **values})

    def of_messages(self, cube_key: int, message_ids: Collection[str]) -> Mapping[str, Sequence[Attachment]]:
        """Return attachments by message, in the order of the parts; messages without any are absent."""
        found: dict[str, list[Attachment]] = {}
        for some in rows.parts(message_ids):
            for row in _OF_MESSAGES.rows(self._connection, {"cube": cube_key, "ids": some}):
                found.setdefault(row.message_id, []).append(_attachment(row))
        return found

    def get(self, cube_key: int, ids: Collection[str]) -> Mapping[str, Attachment]:
        """Return attachments by id."""
        found: dict[str, Attachment] = {}
        for some in rows.parts(ids):
            read = _BY_ID.rows(self._connection, {"cube": cube_key, "ids": some})
            found |= {row.id: _attachment(row) for row in read}
        return found

    def waiting(
        self, cube_key: int, limit: int, state: AttachmentState = AttachmentState.QUEUED
    ) -> Sequence[Attachment]:
        """Return attachments in a state, the oldest first."""
        query = select(s.attachment).where(_C.cube_key == cube_key, _C.state == state.value)
        return [_attachment(row) for row in self._connection.execute(query.order_by(_C.id).limit(limit))]


def _values(attachment: Attachment) -> dict[str, Any]:
    taken, place = attachment.taken_at, attachment.place
    return {
        "message_id": attachment.message_id,
        "part": attachment.part,
        "kind": attachment.kind.value,
        "state": attachment.state.value,
        "digest": attachment.digest,
        "size": attachment.size,
        "media": attachment.media,
        "name": attachment.name,
        "caption": attachment.caption,
        "text": attachment.text,
        "description": attachment.description,
        "seen": rows.to_json(dict(attachment.seen)),
        "thumbnail": attachment.thumbnail,
        "taken_at": rows.micros(taken),
        "taken_offset": None if taken is None else offset_minutes(taken),
        "latitude": None if place is None else place[0],
        "longitude": None if place is None else place[1],
        "error": attachment.error,
    }


def _attachment(row: Any) -> Attachment:
    return Attachment(
        id=row.id,
        message_id=row.message_id,
        cube_key=row.cube_key,
        part=row.part,
        kind=AttachmentKind(row.kind),
        state=AttachmentState(row.state),
        digest=row.digest,
        size=row.size,
        media=row.media,
        name=row.name,
        caption=row.caption,
        text=row.text,
        description=row.description,
        seen=rows.from_json(row.seen) or {},
        thumbnail=row.thumbnail,
        taken_at=None if row.taken_at is None else from_micros(row.taken_at, row.taken_offset or 0),
        place=None if row.latitude is None or row.longitude is None else (row.latitude, row.longitude),
        error=row.error,
    )
