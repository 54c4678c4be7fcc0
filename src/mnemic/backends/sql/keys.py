"""Keys and how often they are used, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, bindparam, case, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from mnemic.backends.sql import rows
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.prepared import Prepared
from mnemic.errors import ConflictError
from mnemic.model.caller import Power
from mnemic.model.key import ApiKey
from mnemic.model.moment import from_micros, to_micros
from mnemic.ports.keys import KnownKey

_KEY = s.api_key.c
_USE = s.key_use.c
_FIND: Final = Prepared(
    select(s.api_key).where(or_(_KEY.id == bindparam("named"), _KEY.prefix == bindparam("prefixed")))
)
_ANY: Final = Prepared(select(_KEY.id).limit(1))
_ELSEWHERE: Final = Prepared(
    select(func.coalesce(func.sum(_USE.calls), 0).label("calls")).where(
        _USE.key_id == bindparam("used_key"),
        _USE.day == bindparam("used_day"),
        _USE.process != bindparam("used_process"),
    )
)


class SqlKeys:
    """Implements `ports.keys.Keys`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def put(self, key: ApiKey, digest: str) -> None:
        """Store a new key."""
        values = {
            "id": key.id,
            "prefix": key.prefix,
            "digest": digest,
            "name": key.name,
            "project": key.project,
            "users": None if key.users is None else rows.to_json(key.users),
            "cubes": None if key.cubes is None else rows.to_json(key.cubes),
            "powers": rows.to_json(key.powers),
            "per_minute": key.per_minute,
            "per_day": key.per_day,
            "created_at": to_micros(key.created_at),
            "expires_at": rows.micros(key.expires_at),
            "last_used_at": rows.micros(key.last_used_at),
            "revoked_at": rows.micros(key.revoked_at),
        }
        try:
            with self._connection.begin_nested():  # so that the transaction can go on when the prefix is taken
                self._connection.execute(insert(s.api_key), values)
        except IntegrityError as error:
            raise ConflictError(f"there is a key with the prefix {key.prefix!r} already", prefix=key.prefix) from error

    def find(self, name: str) -> KnownKey | None:
        """Return the key with this id or prefix."""
        row = _FIND.first(self._connection, {"named": name, "prefixed": name})
        return None if row is None else KnownKey(_key(row), row.digest)

    def list(self, project: str | None = None) -> Sequence[ApiKey]:
        """Return the keys, oldest first; with `project`, only those of that one."""
        query = select(s.api_key).order_by(_KEY.created_at, _KEY.id)
        if project is not None:
            query = query.where(_KEY.project == project)
        return [_key(row) for row in self._connection.execute(query)]

    def end(
        self, key_id: str, *, expires_at: datetime | None = None, revoked_at: datetime | None = None
    ) -> ApiKey | None:
        """Let a key end at a moment, unless it ends before; return it as it is then, None when it is not there."""
        for column, moment in ((_KEY.expires_at, expires_at), (_KEY.revoked_at, revoked_at)):
            if moment is not None:
                later = or_(column.is_(None), column > to_micros(moment))
                values = {column.name: to_micros(moment)}
                self._connection.execute(update(s.api_key).where(_KEY.id == key_id, later).values(values))
        row = self._connection.execute(select(s.api_key).where(_KEY.id == key_id)).first()
        return None if row is None else _key(row)

    def drop(self, key_id: str) -> None:
        """Erase a key with the counts of its calls."""
        self._connection.execute(delete(s.key_use).where(_USE.key_id == key_id))
        self._connection.execute(delete(s.api_key).where(_KEY.id == key_id))

    def any(self, at: datetime | None = None) -> bool:
        """Tell whether there is a key; with `at`, one that opens something at that moment."""
        if at is None:
            return _ANY.first(self._connection, {}) is not None
        moment = to_micros(at)
        open_at = (
            or_(_KEY.revoked_at.is_(None), _KEY.revoked_at > moment),
            or_(_KEY.expires_at.is_(None), _KEY.expires_at > moment),
        )
        return self._connection.execute(select(_KEY.id).where(*open_at).limit(1)).first() is not None


class SqlKeyUses:
    """Implements `ports.keys.KeyUses`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def calls_elsewhere(self, key_id: str, day: int, process: str) -> int:
        """Return how many calls other processes have counted on a day."""
        values = {"used_key": key_id, "used_day": day, "used_process": process}
        return int(_ELSEWHERE.scalar(self._connection, values))

    def count(self, key_id: str, day: int, process: str, calls: int) -> None:
        """Say how many calls this process has counted on a day altogether."""
        mine = (_USE.key_id == key_id, _USE.day == day, _USE.process == process)
        if not self._connection.execute(update(s.key_use).where(*mine).values(calls=calls)).rowcount:
            values = {"key_id": key_id, "day": day, "process": process, "calls": calls}
            self._connection.execute(insert(s.key_use), values)

    def used(self, key_id: str, at: datetime) -> None:
        """Note when a key was last used; an earlier time than the known one changes nothing."""
        moment = bindparam("moment", to_micros(at), type_=BigInteger)
        later = case((_KEY.last_used_at > moment, _KEY.last_used_at), else_=moment)
        self._connection.execute(update(s.api_key).where(_KEY.id == key_id).values(last_used_at=later))

    def prune(self, day: int) -> int:
        """Erase the counts of days before this one; return how many there were."""
        return self._connection.execute(delete(s.key_use).where(_USE.day < day)).rowcount


def _key(row: Any) -> ApiKey:
    users, cubes = rows.from_json(row.users), rows.from_json(row.cubes)
    return ApiKey(
        id=row.id,
        prefix=row.prefix,
        name=row.name,
        project=row.project,
        users=None if users is None else tuple(users),
        cubes=None if cubes is None else tuple(cubes),
        powers=tuple(Power(each) for each in rows.from_json(row.powers)),
        per_minute=row.per_minute,
        per_day=row.per_day,
        created_at=from_micros(row.created_at),
        expires_at=rows.moment(row.expires_at),
        last_used_at=rows.moment(row.last_used_at),
        revoked_at=rows.moment(row.revoked_at),
    )
