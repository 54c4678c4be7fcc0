"""Who does which kinds of jobs, here and in other processes, and how many tickets may be on their way to them.

Only what somebody does is carried, and one ticket for each who does it, to begin next: everything else stays in the
rows, which decide as late as can be. So what is on its way delays others by no more jobs than run, and cubes get their
weights: start-time fair queueing of depth D, where D is the number of workers (Jin, Chase and Kaur, "Interposed
Proportional Sharing for a Storage Service Utility", SIGMETRICS 2004, section 3).
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from mnemic.backends.queues.link import Link, call, grouped
from mnemic.backends.queues.scripts import DEPTH, DO, DOERS
from mnemic.model.job import KINDS, LANES

REPORT: Final = 5.0
"""Seconds between two reports of who works here."""

_HEARD: Final = 15.0  # seconds for which a report holds
_TRUSTED: Final = 0.5  # seconds that a count is taken as true, while nobody here has read

Kinds = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Worker:
    kinds: Kinds
    seen: float


@dataclass(slots=True)
class _Count:
    """Who works in a lane, by the kinds that they do, and how many tickets of each kind nobody has read.

    As of a moment (`time.monotonic`); not true any more when somebody has read.
    """

    doers: Mapping[Kinds, int]
    unread: dict[str, int]
    at: float
    true: bool = True

    def room(self) -> dict[str, int]:
        """Return how many tickets of each kind may be sent: one for each who does it, less those before it."""
        found = {}
        for kind in self.unread:
            able = {kinds: count for kinds, count in self.doers.items() if kind in kinds}
            before = sum(self.unread.get(each, 0) for each in Kinds().union(*able))
            found[kind] = sum(able.values()) - before
        return {kind: left for kind, left in found.items() if left > 0}


class Doers:
    """Threads share it."""

    def __init__(self, consumer: str) -> None:
        self._consumer = consumer
        self._lock = threading.Lock()
        self._workers: dict[tuple[str, str], _Worker] = {}
        self._counts: dict[str, _Count] = {}
        self._reported: dict[str, set[str]] = {}
        self.news = False  # whether somebody came to work here since the last report

    def saw(self, worker: str, lane: str, kinds: Collection[str]) -> None:
        """Note that a worker asks for jobs. One who was not known to do these kinds makes room."""
        now, wanted = time.monotonic(), Kinds(kinds)
        with self._lock:
            known = self._workers.get((lane, worker))
            if known is None or known.kinds != wanted or known.seen < now - _HEARD:
                self._counts.pop(lane, None)
                self.news = True
            self._workers[lane, worker] = _Worker(wanted, now)

    @property
    def lanes(self) -> set[str]:
        """Lanes that somebody here works in."""
        return {lane for lane in LANES if self._here(lane)}

    def kinds(self, lane: str) -> set[str]:
        """Return the kinds of a lane that are known here."""
        ours = {kind.name for kind in KINDS.values() if kind.lane == lane}
        with self._lock:
            return ours.union(*(each.kinds for (of, _), each in self._workers.items() if of == lane))

    def report(self, link: Link) -> None:
        """Tell the server who works here."""
        self.news = False
        self._tell(link, {lane: self._names(lane) for lane in LANES})

    def leave(self, link: Link) -> None:
        """Tell the server that nobody works here any more."""
        self._tell(link, {})

    def room(self, link: Link, lane: str) -> Mapping[str, int]:
        """Return how many tickets of each kind may be sent; kinds without room are left out."""
        with self._lock:
            count = self._counts.get(lane)
            if count is not None and count.true and time.monotonic() - count.at < _TRUSTED:
                return count.room()
            count = self._counts[lane] = _Count({}, {}, time.monotonic())
        doers, unread = self._looked(link, lane)
        with self._lock:
            count.doers, count.unread = doers, unread  # true, unless somebody has read meanwhile
            return count.room()

    def sent(self, lane: str, kinds: Collection[str]) -> None:
        """Count tickets of these kinds that were sent."""
        with self._lock:
            unread = self._counts[lane].unread if lane in self._counts else {}
            for kind in kinds:
                unread[kind] = unread.get(kind, 0) + 1

    def read(self, lane: str) -> None:
        """Count anew before more is sent: tickets were read here, or put back."""
        with self._lock:
            if lane in self._counts:
                self._counts[lane].true = False

    def forget(self) -> None:
        """Count everything anew."""
        with self._lock:
            self._counts.clear()

    def _looked(self, link: Link, lane: str) -> tuple[Mapping[Kinds, int], dict[str, int]]:
        layout, kinds = link.opened.layout, sorted(self.kinds(lane))
        [told] = link.ask(0, call(DOERS, [layout.doers(lane)]))
        doers = Counter({Kinds(names.split(",")): int(count) for names, count in told})
        unread = dict.fromkeys(kinds, 0)
        for [found] in link.ask_all(lambda shard: [grouped(DEPTH, layout.streams(shard, lane, kinds))]).values():
            for kind, depth in zip(itertools.cycle(kinds), found, strict=False):  # once for each priority
                unread[kind] += int(depth)
        return doers | self._here(lane), unread

    def _tell(self, link: Link, names: Mapping[str, set[str]]) -> None:
        layout, told = link.opened.layout, []
        for lane in LANES:
            here, gone = names.get(lane, set()), self._reported.get(lane, set())
            if here or gone:
                told.append(call(DO, [layout.doers(lane)], int(_HEARD * 1000), len(here), *here, *(gone - here)))
        link.ask(0, *told)
        self._reported = dict(names)

    def _names(self, lane: str) -> set[str]:
        """Return a name for each who works here, with the kinds that it does."""
        here = self._here(lane)
        return {f"{self._consumer}/{at}|{','.join(sorted(kinds))}" for kinds in here for at in range(here[kinds])}

    def _here(self, lane: str) -> Counter[Kinds]:
        oldest = time.monotonic() - _HEARD
        with self._lock:
            return Counter(each.kinds for (of, _), each in self._workers.items() if of == lane and each.seen >= oldest)
