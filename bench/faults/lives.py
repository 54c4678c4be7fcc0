"""What the processes of the campaign do: one adds messages and notes what was acknowledged, another works.

Both are told from outside to step their clock or to find the disk full, and may be killed at any moment.
"""

from __future__ import annotations

import logging
import resource
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import RawIOBase
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from mnemic import Memory, MnemicError

CITIES: Final = ("Porto", "Oslo", "Rome", "Lima", "Cairo", "Quito", "Hanoi", "Perth")
SAID_FROM: Final = datetime(2026, 1, 5, 8, tzinfo=UTC)
SESSION: Final = 25
"""Messages of a session."""
USERS: Final = 4
"""Users that one process adds for, in turns."""
SETTINGS: Final = {
    "heat_threshold": 3.0,
    "stm_pages": 2,
    "jobs_kept": 1_000_000,
    "database_connections": 6,
    "schedule_upkeep": "* * * * *",
}
"""Little short-term memory and much warmth, so that all that runs in the background has work; all jobs are kept.

The store is looked over each minute: that is what makes up for clocks that were ahead.
"""

_REST: Final = 0.05  # seconds before what failed is tried again


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the input: the same whenever it is added."""

    adder: str
    number: int

    @property
    def user(self) -> str:
        """Whose message it is."""
        return f"{self.adder}u{self.number % USERS}"

    @property
    def text(self) -> str:
        """Something about the speaker, with a word that no other message has."""
        city = CITIES[self.number * 5 % len(CITIES)]
        fact = (f"I live in {city} now", f"My sister Noor moved to {city}", f"I like the tea of {city}")[
            self.number % 3
        ]
        return f"{fact}, says note {self.adder}x{self.number} about gardens and music."

    @property
    def message(self) -> Mapping[str, Any]:
        """What `add` takes. Its own id makes adding it again harmless."""
        at = SAID_FROM + timedelta(hours=self._session * 30, minutes=self.number)
        role = "assistant" if self.number % 5 == 4 else "user"
        return {"role": role, "name": self.user, "content": self.text, "at": at, "id": self.id}

    @property
    def id(self) -> str:
        """The id that the one who adds gives it."""
        return f"{self.adder}-{self.number}"

    @property
    def session(self) -> str:
        """The session that it belongs to."""
        return f"{self.user}-{self._session}"

    @property
    def _session(self) -> int:
        return self.number // USERS // SESSION


class SteppedClock:
    """The machine's clock, with an offset that is stepped from outside."""

    def __init__(self) -> None:
        self.offset = timedelta()

    def now(self) -> datetime:
        """Return the present moment, as this process believes."""
        return datetime.now(UTC) + self.offset


def adding(control: Connection, settings: Mapping[str, Any], adder: str, ledger: Path) -> None:
    """Add messages from where the ledger ends, each until it is acknowledged; then write that down.

    It works, too, when the settings say so: as a program does that has its memory inside.
    """
    _quiet()
    number = len(acknowledged(ledger))
    clock = _listening(control)
    with _opened(settings, clock) as memory, ledger.open("ab", 0) as told:
        control.send("open")
        while True:
            said = Said(adder, number)
            try:
                added = memory.add(said.message, user=said.user, session=said.session)
            except MnemicError as error:
                _note(told, type(error).__name__)
                threading.Event().wait(_REST)
                continue
            _note(told, f"{number} {(*added.message_ids, '')[0] or 'before'}")
            number += 1


def working(control: Connection, settings: Mapping[str, Any]) -> None:
    """Work until told otherwise."""
    _quiet()
    with _opened({**settings, "worker": True}, _listening(control)):
        control.send("open")
        threading.Event().wait()


def _note(ledger: RawIOBase, line: str) -> None:
    """Write a line, whole, as soon as there is room for it."""
    words = f"\n{line}\n".encode()
    while True:
        try:
            if ledger.write(words) == len(words):
                return
        except OSError:
            threading.Event().wait(_REST)


def _opened(settings: Mapping[str, Any], clock: SteppedClock) -> Memory:
    """Open the memory, again and again while its server is away."""
    while True:
        try:
            return Memory(settings={**settings, **SETTINGS}, clock=clock)
        except MnemicError:
            threading.Event().wait(_REST)


def acknowledged(ledger: Path) -> list[int]:
    """Return the numbers of messages that a ledger tells of; a line that was cut off tells nothing."""
    lines = ledger.read_bytes().split(b"\n")[:-1] if ledger.exists() else []
    return [int(line.split()[0]) for line in lines if line[:1].isdigit() and line.count(b" ") == 1]


def errors(ledger: Path) -> list[str]:
    """Return the names of the errors that a ledger tells of."""
    lines = ledger.read_bytes().split(b"\n")[:-1] if ledger.exists() else []
    return [line.decode() for line in lines if line[:1].isalpha()]


def _listening(control: Connection) -> SteppedClock:
    """Return the clock of this process; a thread does what it is told from outside."""
    clock = SteppedClock()

    def listen() -> None:
        while True:
            try:
                what, value = control.recv()
            except (EOFError, OSError):
                return
            if what == "clock":
                clock.offset = timedelta(seconds=value)
            elif what == "disk":
                most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
                resource.setrlimit(resource.RLIMIT_FSIZE, (most if value is None else value, most))

    threading.Thread(target=listen, name="told", daemon=True).start()
    return clock


def _quiet() -> None:
    logging.disable(logging.CRITICAL)  # outages are what this is about
