"""Who waits for work in this process, and whom news wakes: one for each job, the longest waiting first.

Those who do the same kinds of a lane wait in one line. The first of a line also looks out: it alone wakes at the time
when the line is to look for itself, so that many idle threads ask no more often than one.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(eq=False, slots=True)
class Waiter(Generic[Item]):
    """One who waits. `items` were handed over; `rung`: there is news that it has not looked at."""

    lane: str
    kinds: frozenset[str]
    changed: threading.Condition
    items: list[Item] = field(default_factory=list)
    rung: bool = False
    interrupted: bool = False


@dataclass(eq=False, slots=True)
class _Line(Generic[Item]):
    """Those who do the same kinds; `look_at` is when the first of them looks for itself (`time.monotonic`)."""

    waiting: list[Waiter[Item]] = field(default_factory=list)
    look_at: float = math.inf


class Waiters(Generic[Item]):
    """All who wait in this process. Threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._lines: dict[tuple[str, frozenset[str]], _Line[Item]] = {}

    def __len__(self) -> int:
        with self._lock:
            return sum(len(line.waiting) for line in self._lines.values())

    @contextmanager
    def entered(self, lane: str, kinds: Collection[str]) -> Iterator[Waiter[Item]]:
        """Stand in line while the block runs. A ring that it did not look at goes to the next."""
        me = Waiter[Item](lane, frozenset(kinds), threading.Condition(self._lock))
        with self._lock:
            line = self._lines.setdefault((lane, me.kinds), _Line())
            line.waiting.append(me)
            self._arrived.notify_all()
        try:
            yield me
        finally:
            with self._lock:
                line.waiting.remove(me)
                if line.waiting:
                    line.waiting[0].changed.notify()  # it looks out now
                    if me.rung:
                        _ring(line)

    def wait(self, me: Waiter[Item], deadline: float) -> None:
        """Wait for a ring, an item, an interruption, the line's time to look when first in it, or the deadline."""
        with self._lock:
            line = self._lines[me.lane, me.kinds]
            while not (me.rung or me.items or me.interrupted):
                until = min(deadline, line.look_at) if line.waiting[0] is me else deadline
                left = until - time.monotonic()
                if left <= 0:
                    return
                me.changed.wait(left)

    def heed(self, me: Waiter[Item]) -> None:
        """Take what was rung until now as heard: a look follows."""
        with self._lock:
            me.rung = False

    def looked(self, me: Waiter[Item], again_in: float) -> None:
        """Note that a look has found nothing, and in how many seconds the line is to look again."""
        with self._lock:
            line = self._lines[me.lane, me.kinds]
            line.look_at = time.monotonic() + again_in
            line.waiting[0].changed.notify()

    def ring(self, lanes: Collection[str]) -> None:
        """Wake the longest waiting in each line of these lanes."""
        with self._lock:
            for (lane, _), line in self._lines.items():
                if lane in lanes:
                    _ring(line)

    def ring_all(self) -> None:
        """Wake everyone to look."""
        with self._lock:
            for line in self._lines.values():
                for each in line.waiting:
                    each.rung = True
                    each.changed.notify()

    def hand(self, lane: str, kind: str, item: Item) -> bool:
        """Give an item to the longest waiting who does this kind and has none; False when there is nobody."""
        with self._lock:
            able = (line for (of, kinds), line in self._lines.items() if of == lane and kind in kinds)
            free = next((each for line in able for each in line.waiting if not each.items), None)
            if free is not None:
                free.items.append(item)
                free.changed.notify()
            return free is not None

    def wanted(self, lane: str, patience: float) -> tuple[int, frozenset[str]]:
        """Return how many wait in a lane with empty hands, and for which kinds; when nobody does, wait a while."""
        with self._lock:
            if not self._empty_handed(lane):
                self._arrived.wait(patience)
            found = self._empty_handed(lane)
            return len(found), frozenset[str]().union(*(each.kinds for each in found))

    def interrupt(self) -> None:
        """Let everyone go, and who waits for somebody to come."""
        with self._lock:
            self._arrived.notify_all()
            for line in self._lines.values():
                for each in line.waiting:
                    each.interrupted = True
                    each.changed.notify()

    def _empty_handed(self, lane: str) -> list[Waiter[Item]]:
        lines = (line for (of, _), line in self._lines.items() if of == lane)
        return [each for line in lines for each in line.waiting if not each.items and not each.interrupted]


def _ring(line: _Line[Item]) -> None:
    """Wake the longest waiting that is not awake yet."""
    sleeper = next((each for each in line.waiting if not each.rung), None)
    if sleeper is not None:
        sleeper.rung = True
        sleeper.changed.notify()
