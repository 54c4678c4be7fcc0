"""The calls of language models in SQL, and sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, insert, select

from mnemic.backends.sql import schema as s
from mnemic.model.language import Call, Spent, SpentOn, Usage
from mnemic.model.moment import from_micros, to_micros

_CALL = s.model_call.c
_SUMS = (
    func.count(),
    func.coalesce(func.sum(case((_CALL.outcome == "ok", 0), else_=1)), 0),
    func.coalesce(func.sum(_CALL.tokens_in), 0),
    func.coalesce(func.sum(_CALL.tokens_out), 0),
    func.coalesce(func.sum(_CALL.seconds), 0.0),
)


class SqlUsage:
    """Implements `ports.usage.UsageLog`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def record(self, call: Call) -> None:
        """Store a call."""
        self._connection.execute(
            insert(s.model_call),
            {
                "id": call.id,
                "cube_key": call.cube_key,
                "purpose": call.purpose,
                "model": call.model,
                "tokens_in": call.tokens_in,
                "tokens_out": call.tokens_out,
                "at": to_micros(call.at),
                "seconds": call.seconds,
                "outcome": call.outcome,
            },
        )

    def since(self, cube_key: int, at: datetime) -> Spent:
        """Return what the calls of a cube cost since a moment."""
        return self._spent(_CALL.cube_key == cube_key, _CALL.at >= to_micros(at))

    def usage(self, cube_key: int, midnight: datetime) -> Usage:
        """Return what the calls of a cube cost, altogether, since midnight, and by purpose and model."""
        query = select(_CALL.purpose, _CALL.model, *_SUMS).where(_CALL.cube_key == cube_key)
        grouped = self._connection.execute(
            query.group_by(_CALL.purpose, _CALL.model).order_by(_CALL.purpose, _CALL.model)
        )
        return Usage(
            total=self._spent(_CALL.cube_key == cube_key),
            today=self.since(cube_key, midnight),
            by_purpose=tuple(SpentOn(row[0], row[1], _read(tuple(row)[2:])) for row in grouped),
        )

    def calls(self, cube_key: int, *, limit: int = 100) -> list[Call]:
        """Return the last calls of a cube, newest first."""
        query = select(s.model_call).where(_CALL.cube_key == cube_key).order_by(_CALL.at.desc(), _CALL.id.desc())
        return [
            Call(
                row.id, row.cube_key, row.purpose, row.model, row.tokens_in, row.tokens_out, from_micros(row.at),
                row.seconds, row.outcome,
            )
            for row in self._connection.execute(query.limit(limit))
        ]  # fmt: skip

    def _spent(self, *where: ColumnElement[bool]) -> Spent:
        return _read(tuple(self._connection.execute(select(*_SUMS).where(*where)).one()))


def _read(sums: Sequence[Any]) -> Spent:
    calls, failed, tokens_in, tokens_out, seconds = sums
    return Spent(int(calls), int(failed), int(tokens_in), int(tokens_out), float(seconds))
