"""Periodic work of the whole store, done by one process at a time: upkeep and backups, as the calendar says.

Whoever finds a piece of work due takes it under a lease, so that of many processes one does it, and another one goes on
when that one dies. When it is due next stands in the store: a restart forgets nothing and repeats nothing.
"""

from __future__ import annotations

import logging
import os
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final

from mnemic.core.calendar import next_time
from mnemic.errors import MnemicError, StoreError
from mnemic.ids import new_id
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store

_log = logging.getLogger(__name__)

LEASE: Final = timedelta(minutes=30)
"""Periodic work that takes longer than this may be done by another process beside; all of it bears that."""

_LOOK: Final = 30.0  # seconds between looks at the calendar
_GRACE: Final = 2.0  # seconds that closing waits for work that is going on


@dataclass(frozen=True, slots=True)
class Duty:
    """A piece of periodic work: when it is due, and what does it and tells what it did in a line."""

    calendar: str
    work: Callable[[], str]


class Periodic:
    """Looks at the calendar on a thread of its own, and does what is due."""

    def __init__(self, store: Store, clock: Clock, zone: tzinfo, duties: Mapping[str, Duty]) -> None:
        self._store = store
        self._clock = clock
        self._zone = zone
        self._duties = {title: duty for title, duty in duties.items() if duty.calendar}
        self._name = f"{os.getpid()}-{new_id()}"
        self._chance = random.Random()  # noqa: S311 - jitter, not a secret
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start looking, once."""
        if self._duties and self._thread is None and not self._over.is_set():
            self._thread = threading.Thread(target=self._loop, name="mnemic-periodic", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Look no longer; what is being done is given a moment."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(_GRACE)

    def run_due(self) -> Mapping[str, str]:
        """Do what is due and not being done elsewhere; return what was done, by name."""
        return {title: told for title, duty in self._duties.items() if (told := self._turn(title, duty)) is not None}

    def _turn(self, title: str, duty: Duty) -> str | None:
        now = self._clock.now()
        if self._is_planned(title, duty, now):
            return None
        with self._store.write() as tx:
            first = next_time(duty.calendar, now, self._zone, self._chance.random())
            if not tx.turns.lead(title, self._name, now, now + LEASE, due=first):
                return None
        told = self._done(title, duty)
        ended = self._clock.now()
        with self._store.write() as tx:
            due = next_time(duty.calendar, ended, self._zone, self._chance.random())
            tx.turns.led(title, self._name, ended, due, told)
        return told

    def _is_planned(self, title: str, duty: Duty, now: datetime) -> bool:
        """Tell whether it is planned for a time to come, and not for later than the calendar says now.

        Later it is after a change of the calendar, or when the machine's clock was put back.
        """
        with self._store.read() as tx:
            known = tx.turns.leaders().get(title)
        due = None if known is None else known[1]
        return due is not None and now < due <= next_time(duty.calendar, now, self._zone, 1.0)

    def _done(self, title: str, duty: Duty) -> str:
        try:
            told = duty.work()
        except MnemicError as error:
            _log.warning("periodic_failed", extra={"work": title, "reason": str(error)})
            return f"failed: {error}"
        except Exception as error:  # noqa: BLE001 - boundary: periodic work; it is told, and due again
            _log.exception("periodic_failed", extra={"work": title})
            return f"failed: {type(error).__name__}: {error}"
        _log.info("periodic_done", extra={"work": title, "told": told})
        return told

    def _loop(self) -> None:
        while not self._over.is_set():
            try:
                self.run_due()
            except StoreError as error:
                _log.warning("calendar_not_read", extra={"reason": str(error)})
            self._over.wait(_LOOK)
