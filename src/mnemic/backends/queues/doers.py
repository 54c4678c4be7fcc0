"""Who does which kinds of jobs, here and in other processes, and how many tickets may be on their way to them.

Only what somebody does is carried, and never more than a few tickets for each who does it: everything else stays in the
rows, where the order of turns is decided anew each time.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from mnemic.backends.queues.link import Link, call, grouped
from mnemic.backends.queues.scripts import DEPTH, DO, DOERS
from mnemic.model.job import KINDS

REPORT: Final = 5.0
"""Seconds between two reports of who works here."""

_HEARD: Final = 15.0  # seconds for which a report holds
_AHEAD: Final = 2  # tickets on their way to each who does a kind: one to begin next, one while that is fetched
_TRUSTED: Final = 0.5  # seconds that counts are taken as true, while they leave room
_CROWDED: Final = 0.02  # seconds between two looks while there is no room


@dataclass(slots=True)
class _Worker:
    lane: str
    kinds: frozenset[str]
    seen: float


@dataclass(slots=True)
class _Room:
    """How many tickets of each kind of a lane may be sent, as of a moment (`time.monotonic`)."""

    left: dict[str, int]
    at: float


class Doers:
    """Threads share it."""

    def __init__(self, consumer: str) -> None:
        self._consumer = consumer
        self._lock = threading.Lock()
        self._workers: dict[tuple[str, str], _Worker] = {}
        self._rooms: dict[str, _Room] = {}
        self._reported: dict[str, int] = {}
        self.news = False  # whether others came to work here since the last report

    def saw(self, worker: str, lane: str, kinds: Collection[str]) -> None:
        """Note that a worker asks for jobs. One who was not known to do these kinds makes room."""
        now, wanted = time.monotonic(), frozenset(kinds)
        with self._lock:
            known = self._workers.get((lane, worker))
            if known is None or known.kinds != wanted or known.seen < now - _HEARD:
                self._rooms.pop(lane, None)
                self.news = True
            self._workers[lane, worker] = _Worker(lane, wanted, now)

    @property
    def lanes(self) -> set[str]:
        """Lanes that somebody here works in."""
        return {each.lane for each in self._active()}

    def kinds(self, lane: str) -> set[str]:
        """Return the kinds of a lane that are known here."""
        ours = {kind.name for kind in KINDS.values() if kind.lane == lane}
        with self._lock:
            return ours.union(*(each.kinds for each in self._workers.values() if each.lane == lane))

    def report(self, link: Link) -> None:
        """Tell the server who works here."""
        self.news = False
        counts = self._counts()
        self._tell(link, counts)
        self._reported = counts

    def leave(self, link: Link) -> None:
        """Tell the server that nobody works here any more."""
        self._tell(link, {})
        self._reported = {}

    def room(self, link: Link, lane: str) -> Mapping[str, int]:
        """Return how many tickets may be sent to those who do each kind; kinds without room are left out."""
        with self._lock:
            room = self._rooms.get(lane)
            age = time.monotonic() - room.at if room else _TRUSTED
            if room is None or age >= (_TRUSTED if any(left > 0 for left in room.left.values()) else _CROWDED):
                room = None
        if room is None:
            room = _Room(self._looked(link, lane), time.monotonic())
            with self._lock:
                self._rooms[lane] = room
        return {kind: left for kind, left in room.left.items() if left > 0}

    def moved(self, lane: str, kinds: Collection[str], by: int) -> None:
        """Count room up for tickets of these kinds that were read here, or down for those that were sent."""
        with self._lock:
            left = self._rooms[lane].left if lane in self._rooms else {}
            for kind in kinds:
                if kind in left:
                    left[kind] += by

    def forget_room(self) -> None:
        """Count again before the next is sent."""
        with self._lock:
            self._rooms.clear()

    def _looked(self, link: Link, lane: str) -> dict[str, int]:
        layout, kinds = link.opened.layout, sorted(self.kinds(lane))
        many = link.ask(0, call(DOERS, [layout.doers(kind) for kind in kinds]))[0]
        here = self._counts()
        waiting = dict.fromkeys(kinds, 0)
        for [found] in link.ask_all(lambda shard: [grouped(DEPTH, layout.streams(shard, lane, kinds))]).values():
            for kind, depth in zip(itertools.cycle(kinds), found, strict=False):  # once for each priority
                waiting[kind] += int(depth)
        doing = {kind: max(int(count), here.get(kind, 0)) for kind, count in zip(kinds, many, strict=True)}
        return {kind: _AHEAD * doing[kind] - waiting[kind] for kind in kinds}

    def _tell(self, link: Link, counts: Mapping[str, int]) -> None:
        layout, told = link.opened.layout, []
        for kind in {*counts, *self._reported}:
            before = max(self._reported.get(kind, 0), counts.get(kind, 0))
            given = (self._consumer, int(_HEARD * 1000), counts.get(kind, 0), before)
            told.append(call(DO, [layout.doers(kind)], *given))
        link.ask(0, *told)

    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for worker in self._active():
            for kind in worker.kinds:
                counts[kind] = counts.get(kind, 0) + 1
        return counts

    def _active(self) -> list[_Worker]:
        with self._lock:
            oldest = time.monotonic() - _HEARD
            return [each for each in self._workers.values() if each.seen >= oldest]
