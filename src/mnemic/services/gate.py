"""Who calls: from the secret that came with a call to how far it reaches, looked up each time.

So a key that is revoked opens nothing from then on, in all processes. Whoever has no key that opens something gets one
and the same answer, after the same work. How fast a key calls is watched by this process alone; how often on a day, by
all of them together: each counts for itself and tells the store now and then, so the day's limit may be passed by what
others counted in the last moments. Nothing that is counted is waited for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from mnemic.core.keys import Bucket, full, matches, prefix_of
from mnemic.errors import KeyRefusedError, MnemicError, RateError
from mnemic.ids import new_id
from mnemic.model.caller import LOCAL, Caller
from mnemic.model.key import ApiKey, KeyState
from mnemic.model.moment import to_micros
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store

REFUSED: Final = "this call needs a key that is known and neither expired nor revoked; `mnemic keys create` makes one"
"""What everybody is told who has none."""

VERB: Final = "keys.caller_of"
"""What the audit calls a call that was refused before anybody looked at what it wanted."""

USED_EVERY: Final = timedelta(minutes=1)
"""How often it is written down that a key is in use."""

COUNTED_EVERY: Final = timedelta(seconds=2)
"""How often the store is told how many calls were counted."""

_DAY: Final = timedelta(days=1) // timedelta(microseconds=1)
_PATIENCE: Final = 10.0  # seconds that closing waits for what is being written down

Refused = Callable[[MnemicError, str, Caller | None], None]

_log = logging.getLogger(__name__)


class Gate:
    """The use case of `keys.caller_of`."""

    def __init__(self, store: Store, clock: Clock, refused: Refused) -> None:
        """`refused` is told of each call that is refused, and of whose key it was when it has one."""
        self._store = store
        self._clock = clock
        self._refused = refused
        self._process = new_id()
        self._lock = threading.Lock()
        self._buckets: dict[str, Bucket] = {}
        self._calls: dict[tuple[str, int], int] = {}
        self._uncounted: set[tuple[str, int]] = set()
        self._used: dict[str, datetime] = {}
        self._noted: dict[str, datetime] = {}
        self._told_at: datetime | None = None
        self._telling: threading.Thread | None = None
        self._writing = threading.Lock()

    def caller_of(self, secret: object) -> Caller:
        """Return who calls; without a secret, somebody at the machine, as long as no key was ever made.

        Raises `KeyRefusedError`, and `RateError` when the key has made as many calls as it may.
        """
        now = self._clock.now()
        day = _day(now)
        with self._store.read() as tx:
            known = tx.keys.find(prefix_of(secret))
            is_open = secret is None and not tx.keys.any()
            limited = known is not None and known.key.per_day > 0
            elsewhere = tx.key_uses.calls_elsewhere(known.key.id, day, self._process) if known and limited else 0
        if is_open:
            return LOCAL
        is_right = matches(secret, None if known is None else known.digest)
        key = known.key if known is not None and is_right else None
        try:
            active = _active(key, now)
            self._count(active, now, day, elsewhere)
        except (KeyRefusedError, RateError) as error:
            self._refused(error, VERB, None if key is None else key.caller)
            raise
        self._tell_when_due(now)
        return active.caller

    def check_still(self, caller: Caller) -> None:
        """Raise `KeyRefusedError` when a caller's key opens nothing any more: for who gets a long stream."""
        if caller.key is None:
            return
        with self._store.read() as tx:
            known = tx.keys.find(caller.key)
        _active(None if known is None else known.key, self._clock.now())

    def settle(self) -> None:
        """Tell the store what was counted and not told yet."""
        with self._writing:
            with self._lock:
                counted = {each: self._calls[each] for each in self._uncounted}
                used = {key: at for key, at in self._used.items() if self._is_due(key, at)}
                self._uncounted.clear()
                for key in used:
                    del self._used[key]
            if not counted and not used:
                return
            try:
                self._tell(counted, used)
            except MnemicError:
                with self._lock:
                    self._uncounted |= set(counted)
                    self._used = {**used, **self._used}
                raise

    def close(self) -> None:
        """Tell the store the rest; a memory that closes."""
        with self._lock:
            telling = self._telling
        if telling is not None:
            telling.join(_PATIENCE)
        self.settle()

    def _count(self, key: ApiKey, now: datetime, day: int, elsewhere: int) -> None:
        """Count a call. Raises `RateError`, and counts nothing, when it is one too many."""
        with self._lock:
            made = self._calls.get((key.id, day), 0)
            if key.per_day and made + elsewhere >= key.per_day:
                left = _DAY - to_micros(now) % _DAY
                raise _too_many(f"{key.per_day} calls in a day", left / 1e6)
            if key.per_minute:
                bucket = self._buckets.get(key.id) or full(key.per_minute, now)
                self._buckets[key.id], wait = bucket.taken(key.per_minute, now)
                if wait:
                    raise _too_many(f"{key.per_minute} calls in a minute", wait)
            if key.per_day:
                self._calls[key.id, day] = made + 1
                self._uncounted.add((key.id, day))
            if key.last_used_at is not None:
                self._noted[key.id] = max(key.last_used_at, self._noted.get(key.id, key.last_used_at))
            self._used[key.id] = now

    def _tell_when_due(self, now: datetime) -> None:
        with self._lock:
            counted = self._uncounted and (self._told_at is None or now - self._told_at >= COUNTED_EVERY)
            if not counted and not any(self._is_due(key, at) for key, at in self._used.items()):
                return
            if self._telling is not None and self._telling.is_alive():
                return
            self._told_at = now
            self._telling = threading.Thread(target=self._settle_beside, name="mnemic-keys", daemon=True)
            self._telling.start()

    def _is_due(self, key: str, at: datetime) -> bool:
        return key not in self._noted or at - self._noted[key] >= USED_EVERY

    def _settle_beside(self) -> None:
        try:
            self.settle()
        except MnemicError as error:
            _log.warning("keys_not_counted", extra={"reason": str(error)})  # what was counted is told the next time

    def _tell(self, counted: dict[tuple[str, int], int], used: dict[str, datetime]) -> None:
        with self._store.write() as tx:
            for (key, day), calls in sorted(counted.items()):
                tx.key_uses.count(key, day, self._process, calls)
            for key, at in sorted(used.items()):
                tx.key_uses.used(key, at)
        today = _day(self._clock.now())
        with self._lock:
            self._noted |= used
            for each in [each for each in self._calls if each[1] < today - 1 and each not in self._uncounted]:
                del self._calls[each]


def _active(key: ApiKey | None, now: datetime) -> ApiKey:
    if key is None or key.state_at(now) is not KeyState.ACTIVE:
        raise KeyRefusedError(REFUSED)
    return key


def _day(moment: datetime) -> int:
    """Return the number of a day since 1970 (UTC)."""
    return to_micros(moment) // _DAY


def _too_many(most: str, seconds: float) -> RateError:
    wait = max(int(seconds) + (seconds > int(seconds)), 1)
    return RateError(f"this key may make {most}; try again in {wait} s", retry_after=wait)
