"""The queue on Redis Streams: ids of jobs are carried to workers of any number of processes, and rows decide.

A job that is at the head of its cube is offered in the rows; its ticket goes into a stream of its kind and priority,
from which one consumer group reads. Who reads a ticket asks the rows for the job: what must not run now, or is done, is
a void ticket. A ticket is acknowledged and deleted when the end of its job is committed. Losing all of Redis costs
time, not work: while it is away, workers ask the rows themselves, both ways at once if need be.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Final

from mnemic.backends.queues.carrier import Carrier
from mnemic.backends.queues.database import DatabaseQueue
from mnemic.backends.queues.link import Lost, Place, Server
from mnemic.backends.queues.notes import Carried
from mnemic.backends.queues.reading import Reading
from mnemic.backends.queues.station import Rules, Station
from mnemic.backends.queues.waiting import Waiters
from mnemic.errors import MnemicError, QueueError
from mnemic.model.job import Job
from mnemic.ports.clock import Clock
from mnemic.ports.queue import Bell, Rows

_FULL: Final = 0.9  # share of the memory's limit from which it is told
_LOOK: Final = 1.0  # seconds that a worker asks the rows before it sees whether the server is back


class StreamsQueue:
    """Implements `ports.queue.Queue`. It connects with the first `announce` or `take`, on a thread of its own."""

    def __init__(self, rows: Rows, bell: Bell, clock: Clock, place: Place, rules: Rules) -> None:
        self._rows = rows
        self._direct = DatabaseQueue(rows, bell, clock)
        self._waiters: Waiters[Carried] = Waiters()
        self._station = Station.at(place, rules)
        self._carrier = Carrier(rows, clock, self._station, self._turn_over)
        self._reading = Reading(self._station, self._carrier, self._waiters)
        self._interruptions = 0
        self._closed = False

    def announce(self, lanes: Collection[str]) -> None:
        """Say that jobs of these lanes were committed: they are carried from here."""
        self._carrier.announce(lanes)
        if not self._carrier.up:
            self._direct.announce(lanes)

    def take(self, worker: str, lane: str, kinds: Collection[str], *, most: int, wait: float) -> Sequence[Job]:
        """Take up to so many jobs of a lane; when there is none, wait for one, `wait` seconds at most.

        While the server is away, jobs come from the rows. Raises `QueueError` when it is too old to serve.
        """
        if (fault := self._carrier.fault) is not None:
            raise QueueError(str(fault), retry_after=self._carrier.retry_in) from fault
        deadline, interruptions = time.monotonic() + wait, self._interruptions
        self._station.notes.let_go(worker)
        self._station.doers.saw(worker, lane, kinds)
        self._carrier.announce()
        while not self._closed:
            carried = self._read(lane, kinds, most, deadline, interruptions) if self._carrier.up else None
            if carried is None:
                wait = min(_LOOK, max(0.0, deadline - time.monotonic()))
                jobs = self._direct.take(worker, lane, kinds, most=most, wait=wait)
            else:
                jobs = self._begun(worker, carried)
            if jobs or time.monotonic() >= deadline or self._interruptions != interruptions:
                return jobs
        return ()

    def settle(self, job: Job) -> None:
        """Say that the end of a job is committed: its ticket is acknowledged soon."""
        self._station.notes.settle(job)
        self._carrier.announce()

    def interrupt(self) -> None:
        """Let all who wait in `take` return now."""
        self._interruptions += 1
        self._turn_over()

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the queue over."""
        link = self._station.link
        try:
            server = link.look()
            shards = server.cluster and link.has_more_shards()
        except (QueueError, Lost) as error:
            return [("queue", False, f"{error}; jobs are taken from the database until it is back")]
        told = f"{server.title} at {link.name}{' (cluster)' if server.cluster else ''}"
        kept = "an append-only file" if server.appends else "no append-only file: after a restart, ids are carried anew"
        here = f"{len(self._waiters)} wait for a job here, {self._station.notes.held} run; it keeps {kept}"
        return [("queue", True, f"{told}; {here}"), *_memory_of(server), *_disk_of(server), *_shards_of(shards)]

    def close(self) -> None:
        """Let go of what it holds."""
        self._closed = True
        self.interrupt()
        self._reading.close()
        self._carrier.close()
        self._direct.close()

    def _read(
        self, lane: str, kinds: Collection[str], most: int, deadline: float, interruptions: int
    ) -> Sequence[Carried] | None:
        """Return tickets, waiting for the first; None when the streams cannot be used."""
        try:
            carried: Sequence[Carried] = self._reading.at_once(lane, kinds, most)
            self._carrier.announce([lane])  # there is room for more, or something that was not carried yet
            if carried or time.monotonic() >= deadline:
                return carried
            self._reading.read_for(lane)
        except (QueueError, Lost) as error:
            self._carrier.failed(error)
            return None
        with self._waiters.entered(lane, kinds) as me:
            if self._carrier.up and self._interruptions == interruptions:
                self._waiters.wait(me, deadline)
        return me.items

    def _begun(self, worker: str, carried: Sequence[Carried]) -> Sequence[Job]:
        """Return the jobs of tickets that are good; the others are void."""
        notes, jobs, left = self._station.notes, list[Job](), list(carried)
        try:
            while left:
                job = self._rows.take(worker, left[0].ticket)
                each = left.pop(0)
                if job is None:
                    notes.void([each])
                else:
                    notes.took(job, each, worker)
                    jobs.append(job)
        except MnemicError:
            if not jobs:
                raise
        finally:
            notes.give_back(left)
        return jobs

    def _turn_over(self) -> None:
        """Let those who wait go on, by the way that is open now."""
        self._waiters.interrupt()
        self._direct.interrupt()


def _memory_of(server: Server) -> Sequence[tuple[str, bool, str]]:
    if server.evicts:
        advice = "set it to noeviction: what Redis throws away comes late, as it has to be found again"
        return [("queue memory", False, f"maxmemory-policy is {server.evicts}; {advice}")]
    return [("queue memory", server.full < _FULL, f"{server.full:.0%} of its limit is used")] if server.full else []


def _disk_of(server: Server) -> Sequence[tuple[str, bool, str]]:
    told = "its last snapshot failed: it may refuse what is written (stop-writes-on-bgsave-error)"
    return [("queue disk", False, told)] if server.unsaved else []


def _shards_of(more: bool) -> Sequence[tuple[str, bool, str]]:  # noqa: FBT001 - what was seen
    told = "another process spreads cubes over more shards; redis_shards must be the same in all of them"
    return [("queue shards", False, told)] if more else []
