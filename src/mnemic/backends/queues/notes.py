"""What this process keeps in mind about entries of streams: which job came by which, and what the server is to be told.

Nothing depends on it: what is forgotten here is found stalled by others, and the rows say what is done.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.backends.queues.layout import GROUP
from mnemic.backends.queues.link import Command, Link, Opened, grouped
from mnemic.backends.queues.scripts import BACK, OVER, TOUCH
from mnemic.model.job import Job, JobState
from mnemic.ports.queue import Ticket

_DEAD_KEPT: Final = 10_000  # entries of the dead-letter stream, about
_DEAD_UNTOLD: Final = 1_000  # of them, those that wait here for a server that is away
_REASON: Final = 200  # characters of why a job died
_SPARED: Final = 0.05  # seconds that a ticket which came too late for one who waited is kept for the next here


@dataclass(frozen=True, slots=True)
class Carried:
    """A ticket as it came: by which entry of which stream."""

    ticket: Ticket
    shard: int
    stream: str
    entry: str


@dataclass(frozen=True, slots=True)
class _Held:
    """A job that runs here, with the worker that took it."""

    carried: Carried
    worker: str


class Notes:
    """Threads share it; one of them passes it on, now and then."""

    def __init__(self, consumer: str) -> None:
        self._consumer = consumer
        self._lock = threading.Lock()
        self._held: dict[tuple[int, str], _Held] = {}
        self._over: list[Carried] = []
        self._back: list[Carried] = []
        self._spare: list[tuple[float, Carried]] = []
        self._dead: deque[Job] = deque(maxlen=_DEAD_UNTOLD)

    @property
    def held(self) -> int:
        """How many jobs came by streams and run here."""
        return len(self._held)

    @property
    def untold(self) -> bool:
        """Whether there is something to tell."""
        return bool(self._over or self._back or self._dead) or self.spare_for <= 0

    @property
    def spare_for(self) -> float:
        """Seconds until tickets that nobody here has come for are to be given back; without any, endless."""
        with self._lock:
            return min((until for until, _ in self._spare), default=math.inf) - time.monotonic()

    def took(self, job: Job, carried: Carried, worker: str) -> None:
        """Note that a worker has begun a job."""
        with self._lock:
            self._held[job.cube_key, job.id] = _Held(carried, worker)

    def let_go(self, worker: str) -> None:
        """Hold no longer what a worker took earlier: it has come for more, however that ended."""
        with self._lock:
            for key in [key for key, held in self._held.items() if held.worker == worker]:
                del self._held[key]

    def settle(self, job: Job) -> None:
        """Note that the end of a job is committed."""
        with self._lock:
            held = self._held.pop((job.cube_key, job.id), None)
            if held is not None:
                self._over.append(held.carried)
            if job.state is JobState.DEAD:
                self._dead.append(job)

    def void(self, carried: Iterable[Carried]) -> None:
        """Note that tickets are worth nothing any more."""
        with self._lock:
            self._over += carried

    def give_back(self, carried: Iterable[Carried]) -> None:
        """Note that tickets are for others."""
        with self._lock:
            self._back += carried

    def spare(self, carried: Iterable[Carried]) -> None:
        """Keep tickets for those who come next: given back, they would stand behind all others."""
        until = time.monotonic() + _SPARED
        with self._lock:
            self._spare += ((until, each) for each in carried)

    def spared(self, lane: str, kinds: Collection[str], most: int) -> list[Carried]:
        """Return up to so many tickets that were kept."""
        with self._lock:
            fit = [each for each in self._spare if each[1].ticket.lane == lane and each[1].ticket.kind in kinds][:most]
            self._spare = [each for each in self._spare if each not in fit]
            return [carried for _, carried in fit]

    def give_back_spares(self, *, all_of_them: bool = False) -> None:
        """Give back what was kept for long enough."""
        now = math.inf if all_of_them else time.monotonic()
        with self._lock:
            self._back += (carried for until, carried in self._spare if until <= now)
            self._spare = [each for each in self._spare if each[0] > now]

    def tell(self, link: Link) -> bool:
        """Acknowledge what is over, give back what is for others, copy what is dead; tell whether any went back."""
        opened = link.opened
        with self._lock:
            over, self._over = self._over, []
            back, self._back = self._back, []
            dead = list(self._dead)
            self._dead.clear()
        gave = bool(back)
        try:
            if over or back:
                link.ask_all(lambda shard: [*_overs(opened, shard, over), *_backs(shard, back)])
            over, back = [], []
            while dead:
                link.ask_client(opened.whole, _letter(opened, dead[0]))
                dead.pop(0)
            return gave
        finally:
            with self._lock:
                self._over += over
                self._back += back
                self._dead.extendleft(reversed(dead))

    def touch(self, link: Link) -> None:
        """Say that what runs here is being worked on, so that nobody takes it for stalled."""
        with self._lock:
            held = [each.carried for each in self._held.values()]
        for shard in link.opened.shards:
            link.ask(
                shard, *(grouped(TOUCH, [stream], self._consumer, *ids) for stream, ids in _by_stream(shard, held))
            )


def _by_stream(shard: int, carried: Sequence[Carried]) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for each in carried:
        if each.shard == shard:
            found.setdefault(each.stream, []).append(each.entry)
    return list(found.items())


def _overs(opened: Opened, shard: int, over: Sequence[Carried]) -> list[Command]:
    if opened.server.acknowledges_and_deletes:
        return [("XACKDEL", stream, GROUP, "KEEPREF", "IDS", len(ids), *ids) for stream, ids in _by_stream(shard, over)]
    return [grouped(OVER, [stream], *ids) for stream, ids in _by_stream(shard, over)]


def _backs(shard: int, back: Sequence[Carried]) -> list[Command]:
    return [grouped(BACK, [stream], *ids) for stream, ids in _by_stream(shard, back)]


def _letter(opened: Opened, job: Job) -> Command:
    told = {"job": job.id, "cube": job.cube_key, "kind": job.kind, "reason": " ".join(job.reason.split())[:_REASON]}
    fields = [part for each in told.items() for part in each]
    return ("XADD", opened.layout.dead, "MAXLEN", "~", _DEAD_KEPT, "*", *fields)
