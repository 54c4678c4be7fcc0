"""The audit and replies that are given again, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.errors import ConflictError
from mnemic.model.audit import AuditQuery, AuditRow
from mnemic.model.moment import from_micros, to_micros
from mnemic.ports.records import StoredReply

_ROW = s.audit.c
_REPLY = s.reply.c
_NEW_ROW = Prepared(insert(s.audit))
_NEW_REPLY = Prepared(insert(s.reply), new=True)
_ERASED = 0
"""The status of a reply that was erased: none that a server gives."""

_GONE = {"status": _ERASED, "body": None}


class SqlAudit:
    """Implements `ports.records.Audit`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, row: AuditRow) -> None:
        """Store a row."""
        values = {
            "id": row.id,
            "at": to_micros(row.at),
            "key_id": row.key,
            "project": rows.plain(row.project),
            "principal": None if row.user is None else rows.plain(row.user),
            "verb": row.verb,
            "cube_id": None if row.cube is None else rows.plain(row.cube),
            "outcome": row.outcome,
            "trace": rows.plain(row.request),
            "calls": row.calls,
        }
        _NEW_ROW.run(self._connection, values)

    def end(self, row_id: str, outcome: str) -> None:
        """Say how a call ended."""
        self._connection.execute(update(s.audit).where(_ROW.id == row_id).values(outcome=outcome))

    def list(self, query: AuditQuery) -> Sequence[AuditRow]:
        """Return rows, newest first."""
        found = select(s.audit).where(*_wanted(query)).order_by(_ROW.id.desc()).limit(query.limit)
        return [_row(row) for row in self._connection.execute(found)]

    def prune(self, before: datetime, most: int) -> int:
        """Erase rows older than a moment, and the oldest of more than so many."""
        old = self._connection.execute(delete(s.audit).where(_ROW.at < to_micros(before))).rowcount
        first = self._connection.scalar(select(_ROW.id).order_by(_ROW.id.desc()).offset(most).limit(1))
        if first is None:
            return old
        return old + self._connection.execute(delete(s.audit).where(_ROW.id <= first)).rowcount


class SqlReplies:
    """Implements `ports.records.Replies`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, key: str, token: str, since: datetime) -> StoredReply | None:
        """Return what is known of a call that was begun since a moment."""
        query = select(s.reply).where(*_of(key, token), _REPLY.begun_at >= to_micros(since))
        row = self._connection.execute(query).first()
        if row is not None and row.status == _ERASED:
            return StoredReply(row.digest, from_micros(row.begun_at), row.cube_id)
        return (
            None
            if row is None
            else StoredReply(row.digest, from_micros(row.begun_at), row.cube_id, row.status, row.body)
        )

    def begin(self, key: str, token: str, reply: StoredReply, since: datetime) -> None:
        """Note that a call is begun."""
        self._connection.execute(delete(s.reply).where(*_of(key, token), _REPLY.begun_at < to_micros(since)))
        try:
            self._connection.execute(insert(s.reply), _values(key, token, reply))
        except IntegrityError as error:
            raise ConflictError(
                "a call with this idempotency key is being carried out, or was; ask again for its reply", token=token
            ) from error

    def keep(self, key: str, token: str, reply: StoredReply) -> None:
        """Store the reply of a call, begun or not, unless it was erased meanwhile."""
        values = {"status": reply.status, "body": reply.body}
        begun = update(s.reply).where(*_of(key, token), _REPLY.status.is_(None))
        if not self._connection.execute(begun.values(values)).rowcount:
            _NEW_REPLY.run(self._connection, _values(key, token, reply))

    def erase(self, cube: str) -> int:
        """Erase the replies of calls about a cube, or about several, given or to come."""
        of_it = _REPLY.cube_id.in_([cube, ""])
        given = self._connection.execute(
            update(s.reply).where(of_it, _REPLY.status.is_not(None), _REPLY.status != _ERASED).values(_GONE)
        )
        self._connection.execute(update(s.reply).where(of_it, _REPLY.status.is_(None)).values(_GONE))
        return given.rowcount

    def prune(self, before: datetime) -> int:
        """Erase what was begun before a moment."""
        return self._connection.execute(delete(s.reply).where(_REPLY.begun_at < to_micros(before))).rowcount


def _wanted(query: AuditQuery) -> Sequence[ColumnElement[bool]]:
    wanted: list[ColumnElement[bool]] = []
    if query.key is not None:
        wanted.append(_ROW.key_id == query.key)
    if query.project is not None:
        wanted.append(_ROW.project == query.project)
    if query.users is not None:
        wanted.append(_ROW.principal.in_(query.users))
    if query.cubes is not None:
        wanted.append(_ROW.cube_id.in_(query.cubes))
    if query.after is not None:
        wanted.append(_ROW.id < query.after)
    return wanted


def _row(row: Any) -> AuditRow:
    return AuditRow(
        row.id, from_micros(row.at), row.key_id, row.project, row.principal, row.verb, row.cube_id, row.outcome,
        row.trace, row.calls,
    )  # fmt: skip


def _of(key: str, token: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return _REPLY.key_id == key, _REPLY.token == token


def _values(key: str, token: str, reply: StoredReply) -> dict[str, Any]:
    return {
        "key_id": key,
        "token": token,
        "digest": reply.digest,
        "cube_id": reply.cube,
        "begun_at": to_micros(reply.begun_at),
        "status": reply.status,
        "body": reply.body,
    }
