"""Reading tickets from the streams: at once by who asks, and by one thread for each lane and shard for those who wait.

At once, streams are read in the order of priorities for this turn, and inside of one in the order of arrival, over all
shards of a cluster, as far as the clocks of its machines agree. The
threads block in Redis, which wakes one of all processes for each entry, so that waiting costs nothing anywhere.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, Final

from mnemic.backends.queues.carrier import Carrier
from mnemic.backends.queues.layout import GROUP
from mnemic.backends.queues.link import Lost, Opened, grouped
from mnemic.backends.queues.notes import Carried
from mnemic.backends.queues.scripts import PEEK, READ
from mnemic.backends.queues.station import Station
from mnemic.backends.queues.waiting import Waiters
from mnemic.errors import QueueError

_log = logging.getLogger(__name__)

_BLOCK: Final = 1_000  # ms that a thread blocks before it looks around; less than a connection's patience
_REST: Final = 1.0  # seconds that a thread rests while there is nothing to read for
_SHORT: Final = 0.05  # seconds until it looks whether the server is back
_FINISH: Final = 0.5  # seconds that closing waits for it; it ends by itself


class Reading:
    """Reads what is there. Threads share it."""

    def __init__(self, station: Station, carrier: Carrier, waiters: Waiters[Carried]) -> None:
        self.station = station
        self.carrier = carrier
        self.waiters = waiters
        self._turns = itertools.count()
        self._lock = threading.Lock()
        self._readers: dict[tuple[str, int], Reader] = {}
        self._closed = False

    def at_once(self, lane: str, kinds: Collection[str], most: int) -> list[Carried]:
        """Return up to so many tickets. Raises `QueueError` or `Lost`."""
        found = self.station.notes.spared(lane, kinds, most)
        if len(found) >= most:
            return found
        opened = self.station.link.opened
        if len(opened.shards) == 1:
            return [*found, *self.of_shard(opened, 0, lane, kinds, most - len(found))]
        while len(found) < most:
            order = self._next_order()
            shard = self._first_shard(opened, lane, kinds, order)
            read = [] if shard is None else self.of_shard(opened, shard, lane, kinds, 1, order)
            if not read:
                break
            found += read
        return found

    def read_for(self, lane: str) -> None:
        """Have a thread for each shard that reads for those who wait in a lane."""
        shards = self.station.link.opened.shards
        with self._lock:
            for shard in shards if not self._closed else ():
                if (lane, shard) not in self._readers or not self._readers[lane, shard].alive:
                    self._readers[lane, shard] = Reader(lane, shard, self)

    def release(self, lane: str) -> None:
        """Let threads that are blocked for a lane go on: nobody waits in it any more."""
        with self._lock:
            held = [reader.blocked for (of, _), reader in self._readers.items() if of == lane]
        blocked = [each for each in held if each is not None]
        for client in {id(each[0]): each[0] for each in blocked}.values():
            with suppress(QueueError, Lost):
                numbers = (number for other, number in blocked if other is client)
                self.station.link.ask_client(client, *(("CLIENT UNBLOCK", number) for number in numbers))

    def close(self) -> None:
        """End the threads. What they read until then is put back for others."""
        with self._lock:
            self._closed = True
            readers = list(self._readers.values())
        for reader in readers:
            reader.end()
        self.waiters.interrupt()
        for lane in {of for of, _ in self._readers}:
            self.release(lane)
        for reader in readers:
            reader.join()

    def of_shard(
        self,
        opened: Opened,
        shard: int,
        lane: str,
        kinds: Collection[str],
        most: int,
        order: Sequence[int] | None = None,
    ) -> list[Carried]:
        """Return up to so many tickets of one shard."""
        order = order or self._next_order()
        streams = opened.layout.streams(shard, lane, kinds, order)
        given = (self.station.consumer, most, *([len(kinds)] * len(order)))
        [entries] = self.station.link.ask(shard, grouped(READ, streams, *given))
        return self._readable(opened, shard, entries)

    def blocked(self, opened: Opened, shard: int, client: Any, lane: str, kinds: Collection[str]) -> list[Carried]:
        """Wait for a ticket in one shard through a client of one's own, for `_BLOCK` at most."""
        streams = opened.layout.streams(shard, lane, kinds, self._next_order())
        asked = ("XREADGROUP", "GROUP", GROUP, self.station.consumer, "COUNT", 1, "BLOCK", _BLOCK, "STREAMS")
        [told] = self.station.link.ask_client(client, (*asked, *streams, *[">"] * len(streams)))
        found = (told.items() if isinstance(told, dict) else told) if told else ()  # as the library's version has it
        return self._readable(
            opened,
            shard,
            [
                (stream, entry, fields.get("cube", ""), fields.get("job", ""))
                for stream, entries in found
                for entry, fields in entries
            ],
        )

    def _next_order(self) -> Sequence[int]:
        return self.station.rules.order(next(self._turns))

    def _first_shard(self, opened: Opened, lane: str, kinds: Collection[str], order: Sequence[int]) -> int | None:
        """Return the shard of a cluster whose next ticket comes first, by priority and arrival; None without any."""
        found = []
        for client, shards in opened.machines:
            sizes = [len(kinds)] * len(order)
            asked = (grouped(PEEK, opened.layout.streams(shard, lane, kinds, order), *sizes) for shard in shards)
            heads = zip(self.station.link.ask_client(client, *asked), shards, strict=True)
            found += [(tuple(map(int, head)), shard) for head, shard in heads if head]
        return min(found)[1] if found else None

    def _readable(self, opened: Opened, shard: int, entries: Sequence[Sequence[str]]) -> list[Carried]:
        """Return tickets for entries; what is none, is thrown away."""
        found: list[Carried] = []
        foreign: list[Carried] = []
        for stream, entry, cube, job in entries:
            good = bool(job) and cube.isdecimal()
            ticket = opened.layout.ticket(stream, cube if good else "0", job)
            (found if good else foreign).append(Carried(ticket, shard, stream, entry))
        if foreign:
            _log.warning("ticket_unreadable", extra={"entries": [each.entry for each in foreign]})
            self.station.notes.void(foreign)
        for lane in {each.ticket.lane for each in found}:
            self.station.doers.read(lane)
        return found


class Reader:
    """A thread that reads for those who wait in a lane, from one shard: never more than there are hands for."""

    def __init__(self, lane: str, shard: int, reading: Reading) -> None:
        self._lane = lane
        self._shard = shard
        self._reading = reading
        self._closing = threading.Event()
        self._mine: tuple[Opened, Any, int] | None = None  # whose client this is, and its number at the server
        self._is_blocked = False
        self._thread = threading.Thread(target=self._run, name=f"mnemic-reader-{lane}-{shard}", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it still reads."""
        return self._thread.is_alive()

    @property
    def blocked(self) -> tuple[Any, int] | None:
        """A client of the server in which it is blocked, with the number under which it is; None when it is not."""
        mine = self._mine
        return (mine[0].clients[self._shard], mine[2]) if self._is_blocked and mine is not None else None

    def end(self) -> None:
        """Have it end soon."""
        self._closing.set()

    def join(self) -> None:
        """Wait a moment until it has ended."""
        self._thread.join(_FINISH)

    def _run(self) -> None:
        reading = self._reading
        while not self._closing.is_set():
            count, kinds = reading.waiters.wanted(self._lane, _REST)
            if not count:
                continue
            if not reading.carrier.up:
                self._closing.wait(_SHORT)
                continue
            try:
                found = self._read(count, kinds)
            except (QueueError, Lost) as error:
                self._mine = None
                reading.carrier.failed(error)
                continue
            if found is None:  # there is no such shard any more
                break
            self._hand_over(found)

    def _read(self, count: int, kinds: Collection[str]) -> list[Carried] | None:
        opened = self._reading.station.link.opened
        if self._shard not in opened.shards:
            return None
        found = self._reading.of_shard(opened, self._shard, self._lane, kinds, count)
        return found or self._wait(opened, kinds)

    def _wait(self, opened: Opened, kinds: Collection[str]) -> list[Carried]:
        link = self._reading.station.link
        if self._mine is None or self._mine[0] is not opened:
            with link.telling():
                client = opened.clients[self._shard].client()
            [number] = link.ask_client(client, ("CLIENT ID",))
            self._mine = (opened, client, number)
        self._is_blocked = True
        try:
            if self._closing.is_set():
                return []
            return self._reading.blocked(opened, self._shard, self._mine[1], self._lane, kinds)
        finally:
            self._is_blocked = False

    def _hand_over(self, found: Sequence[Carried]) -> None:
        """Give tickets to those who wait; keep those for which nobody does any more for who comes next."""
        reading = self._reading
        if not found:
            return
        surplus = [each for each in found if not reading.waiters.hand(self._lane, each.ticket.kind, each)]
        reading.station.notes.spare(surplus)
        if not reading.waiters.wanted(self._lane, 0.0)[0]:
            reading.release(self._lane)
        reading.carrier.announce([self._lane])  # there is room for more
