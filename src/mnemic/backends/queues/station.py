"""What this process is to the streams: its name there, its way to them, its notes, and who works here."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from mnemic.backends.queues.doers import Doers
from mnemic.backends.queues.link import Link, Place
from mnemic.backends.queues.notes import Notes
from mnemic.ids import new_id


@dataclass(frozen=True, slots=True)
class Rules:
    """What the queue does not decide itself.

    `order` gives the order in which priorities are looked at in a turn; `pause` the seconds before another try, by the
    number of the last one and a chance from [0, 1). What nobody has touched for as long as a `lease` goes to others.
    """

    order: Callable[[int], Sequence[int]]
    pause: Callable[[int, float], float]
    lease: timedelta


@dataclass(frozen=True, slots=True)
class Station:
    """One for each queue that is open; what it is made of is shared by its threads."""

    consumer: str
    rules: Rules
    link: Link
    notes: Notes
    doers: Doers

    @classmethod
    def at(cls, place: Place, rules: Rules) -> Self:
        """Return a new station, which has not called yet."""
        consumer = f"{os.getpid()}-{new_id()}"
        return cls(consumer, rules, Link(place), Notes(consumer), Doers(consumer))
