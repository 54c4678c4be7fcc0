"""Keys as who gives them out sees them: making, listing, changing for new ones, and ending them.

Nobody gives more than they have. A key that is out of the caller's reach does not exist.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, timedelta
from typing import Final

from mnemic.core.access import check_gift, check_plain, sees
from mnemic.core.intake import check_count, check_id, check_names, read_time
from mnemic.core.keys import LETTERS, SECRET_LENGTH, digest_of, secret_of
from mnemic.errors import ConflictError, InputError, NotFoundError
from mnemic.ids import new_id
from mnemic.model.caller import Power
from mnemic.model.key import PREFIX_LENGTH, ApiKey, KeyState, NewKey
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store, Transaction
from mnemic.services.scoping import Scoping

_MOST_NAMES: Final = 1_000  # users or cubes of one key
_MOST_CALLS: Final = 1_000_000_000  # in a minute, or a day
_PROJECT_LENGTH: Final = 100  # characters: it stands before names in indexes
_LONGEST_OVERLAP: Final = 8_760.0  # hours: a year
_TRIES: Final = 5  # a prefix is taken once in 200 million million keys


class KeyDesk:
    """The use cases of `memory.keys`, but telling who calls (`mnemic.services.gate`)."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping

    def create(  # noqa: PLR0913 - as in `Keys.create`
        self,
        name: object,
        *,
        users: object = None,
        cubes: object = None,
        project: object = "",
        powers: object = ("read", "write"),
        expires: object = None,
        per_minute: object = 0,
        per_day: object = 0,
    ) -> NewKey:
        """Make a key; see `Keys.create`."""
        caller, now = self._scoping.need(Power.ADMIN), self._clock.now()
        until = None if expires is None else read_time(expires, "expires", now=now, zone=UTC)[0]
        if until is not None and until <= now:
            raise InputError("expires", f"{until.isoformat()} is past; give a later time")
        key = ApiKey(
            id=new_id(),
            prefix="",
            name=check_id(name, "name"),
            project=_project(project) or caller.project,
            users=_names(users, "users"),
            cubes=_names(cubes, "cubes"),
            powers=_powers(powers),
            per_minute=check_count(per_minute, "per_minute", least=0, most=_MOST_CALLS),
            per_day=check_count(per_day, "per_day", least=0, most=_MOST_CALLS),
            created_at=now,
            expires_at=until,
        )
        check_gift(caller, key.powers, key.users, key.cubes, key.project)
        with self._store.write() as tx:
            return _stored(tx, key)

    def list(self) -> Sequence[ApiKey]:
        """Return the keys that the caller may see, oldest first, those that are over too."""
        caller = self._scoping.need(Power.ADMIN)
        with self._store.read() as tx:
            return tuple(key for key in tx.keys.list(caller.project or None) if sees(caller, key))

    def revoke(self, key_id: object) -> ApiKey:
        """End a key at once, for all processes; one that is revoked stays so. Raises `NotFoundError`."""
        with self._store.write() as tx:
            key = self._found(tx, key_id)
            return tx.keys.end(key.id, revoked_at=self._clock.now()) or key

    def rotate(self, key_id: object, *, overlap_hours: object = 24.0) -> NewKey:
        """Make a key that reaches as far, and let the old one end after the overlap; see `Keys.rotate`."""
        overlap = _overlap(overlap_hours)
        with self._store.write() as tx:
            old, now = self._found(tx, key_id), self._clock.now()
            check_gift(self._scoping.need(Power.ADMIN), old.powers, old.users, old.cubes, old.project)
            state = old.state_at(now)
            if state is not KeyState.ACTIVE:
                raise ConflictError(f"key {old.prefix} is {state}: make a new one", key=old.id)
            tx.keys.end(old.id, expires_at=now + overlap)
            until = None if old.expires_at is None else now + (old.expires_at - old.created_at)
            new = replace(old, id=new_id(), created_at=now, expires_at=until, last_used_at=None)
            return _stored(tx, new)

    def drop(self, key_id: object) -> ApiKey:
        """Erase a key that is over; return it as it was. Raises `ConflictError` for one that opens something."""
        with self._store.write() as tx:
            key = self._found(tx, key_id)
            if key.state_at(self._clock.now()) is KeyState.ACTIVE:
                raise ConflictError(f"key {key.prefix} is active: revoke it before it is dropped", key=key.id)
            tx.keys.drop(key.id)
            return key

    def any(self) -> bool:
        """Tell whether there is a key that opens something."""
        with self._store.read() as tx:
            return tx.keys.any(self._clock.now())

    def _found(self, tx: Transaction, key_id: object) -> ApiKey:
        caller, name = self._scoping.need(Power.ADMIN), check_id(key_id, "id")
        found = tx.keys.find(name)
        if found is None or not sees(caller, found.key):
            raise NotFoundError(f"there is no key {name!r} here; `keys.list` shows those that are", key=name)
        return found.key


def _stored(tx: Transaction, key: ApiKey) -> NewKey:
    """Store a key with a secret of its own. Raises `ConflictError` when chance gives the same prefixes all the time."""
    for tried in range(_TRIES):
        prefix = _letters(PREFIX_LENGTH)
        secret = secret_of(prefix, _letters(SECRET_LENGTH))
        made = replace(key, prefix=prefix)
        try:
            tx.keys.put(made, digest_of(secret))
        except ConflictError:
            if tried == _TRIES - 1:
                raise
        else:
            return NewKey(made, secret)
    raise AssertionError("unreachable: the last try returns or raises")


def _letters(count: int) -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(count))


def _names(given: object, field: str) -> tuple[str, ...] | None:
    if given is None:
        return None
    named = tuple(dict.fromkeys(check_id(each, field) for each in check_names(given, field)))
    if len(named) > _MOST_NAMES:
        raise InputError(field, f"names {len(named)}; a key may name {_MOST_NAMES}, or leave it out for all")
    for each in named:
        check_plain(each, field)
    return named


def _powers(given: object) -> tuple[Power, ...]:
    known = [power.value for power in Power]
    named = check_names(given, "powers")
    for each in named:
        if each not in known:
            raise InputError("powers", f"{each!r} is no power of a key; known: {', '.join(known)}")
    return tuple(power for power in Power if power in named)


def _project(given: object) -> str:
    if not given and isinstance(given, str):
        return ""
    name = check_id(given, "project")
    if len(name) > _PROJECT_LENGTH or any(not char.isprintable() for char in name):
        raise InputError("project", f"needs {_PROJECT_LENGTH} printable characters at most")
    return name


def _overlap(hours: object) -> timedelta:
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 <= hours <= _LONGEST_OVERLAP:
        raise InputError("overlap_hours", f"needs a number of hours from 0 to {_LONGEST_OVERLAP:g}, got {hours!r}")
    return timedelta(hours=hours)
