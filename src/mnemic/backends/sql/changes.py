"""Changes of several memories in SQL; their steps are one JSON value."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.model.change import Action, MemoryChange, Step
from mnemic.model.moment import from_micros, to_micros

_ANY = Prepared(select(s.change.c.id).where(s.change.c.cube_key == bindparam("cube")).limit(1))


class SqlChanges:
    """Implements `ports.changes.Changes`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, change: MemoryChange) -> None:
        """Store a change."""
        self._connection.execute(
            insert(s.change),
            {
                "id": change.id,
                "cube_key": change.cube_key,
                "kind": change.kind,
                "asked": change.asked,
                "steps": _steps_to_json(change.steps),
                "made_at": to_micros(change.made_at),
                "undone_at": rows.micros(change.undone_at),
            },
        )

    def exist(self, cube_key: int) -> bool:
        """Tell whether a cube has any."""
        return _ANY.scalar(self._connection, {"cube": cube_key}) is not None

    def get(self, cube_key: int, change_id: str) -> MemoryChange | None:
        """Return a change of this cube."""
        query = select(s.change).where(s.change.c.cube_key == cube_key, s.change.c.id == change_id)
        row = self._connection.execute(query).first()
        return _change(row) if row else None

    def list(self, cube_key: int, *, limit: int = 100) -> list[MemoryChange]:
        """Return changes, newest first."""
        query = select(s.change).where(s.change.c.cube_key == cube_key).order_by(s.change.c.id.desc()).limit(limit)
        return [_change(row) for row in self._connection.execute(query)]

    def set_undone(self, cube_key: int, change_id: str, at: datetime) -> None:
        """Note that a change was taken back."""
        mine = (s.change.c.cube_key == cube_key, s.change.c.id == change_id)
        self._connection.execute(update(s.change).where(*mine).values(undone_at=to_micros(at)))

    def erase(self, cube_key: int, memory_ids: Collection[str], message_ids: Collection[str] = ()) -> int:
        """Erase the steps about these memories, and changes left without steps; return how many steps went.

        What asked for such a change, or was said in one of these messages, goes too: it may tell what was erased.
        """
        gone = 0
        for row in self._connection.execute(select(s.change).where(s.change.c.cube_key == cube_key)).all():
            change = _change(row)
            left = [each for each in change.steps if each.memory_id not in memory_ids and each.into not in memory_ids]
            if len(left) == len(change.steps) and not any(step.source in message_ids for step in left):
                continue
            gone += len(change.steps) - len(left)
            mine = (s.change.c.cube_key == cube_key, s.change.c.id == change.id)
            if left:
                values = {"steps": _steps_to_json([replace(each, reason="") for each in left]), "asked": ""}
                self._connection.execute(update(s.change).where(*mine).values(values))
            else:
                self._connection.execute(delete(s.change).where(*mine))
        return gone


def _steps_to_json(steps: Collection[Step]) -> str:
    return rows.to_json([{**asdict(step), "action": step.action.value} for step in steps])


def _change(row: Row[Any]) -> MemoryChange:
    steps = tuple(_step(each) for each in json.loads(row.steps))
    return MemoryChange(
        row.id, row.cube_key, row.kind, row.asked, from_micros(row.made_at), steps, rows.moment(row.undone_at)
    )


def _step(stored: dict[str, Any]) -> Step:
    held = tuple((version_id, start, end) for version_id, start, end in stored.pop("held", ()))
    return Step(**{**stored, "action": Action(stored["action"]), "held": held})
