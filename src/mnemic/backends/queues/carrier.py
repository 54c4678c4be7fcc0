"""The carrier: one thread that brings the ids of jobs from the rows into the streams.

It is woken when jobs were committed here, when a ticket was read here, and once a second while somebody here takes
jobs. No message between processes is needed: whoever commits a job carries it, and whoever reads a ticket makes room
for the next. What it had in hand when it died is found again when the time of its offer is over; what the server loses
is noticed by the epoch or a missing group, and then all that is offered is offered anew.
"""

from __future__ import annotations

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Collection
from typing import Final

from mnemic.backends.queues.layout import Layout
from mnemic.backends.queues.link import Command, Lost, UnfitError
from mnemic.backends.queues.station import Station
from mnemic.backends.queues.upkeep import Upkeep
from mnemic.errors import MnemicError, QueueError
from mnemic.model.job import LANES
from mnemic.model.sharding import shard_of
from mnemic.ports.clock import Clock
from mnemic.ports.queue import Rows, Ticket

_log = logging.getLogger(__name__)

_LOOK: Final = 1.0  # seconds between looks that nobody asked for
_LEAST: Final = 0.05  # seconds between looks at what is due and cannot be had
_BATCH: Final = 64  # tickets that are offered in one transaction
_ROUNDS: Final = 16  # transactions for one lane before the other has its turn
_LONGEST: Final = 30.0  # seconds between tries to reach a server
_STEADY: Final = 5.0  # seconds after which a connection counts as good
_FINISH: Final = 4.0  # seconds that closing waits for what is in hand: more than an answer may take


class Carrier:
    """Its thread starts with the first news; everything public may be called from any thread.

    `up`: the streams can be used. `fault`: why they never can be, as the server is now. `changed` is called when that
    changes.
    """

    def __init__(self, rows: Rows, clock: Clock, station: Station, changed: Callable[[], None]) -> None:
        self.up = False
        self.fault: QueueError | None = None
        self._rows = rows
        self._clock = clock
        self._station = station
        self._changed = changed
        self._upkeep = Upkeep(station)
        self._chance = random.Random()  # noqa: S311 - jitter, not a secret
        self._news = threading.Condition()
        self._announced: set[str] = set()
        self._closing = False
        self._busy = False
        self._thread: threading.Thread | None = None
        self._unsent: list[Ticket] = []
        self._failures = 0
        self._told_away = False
        self._up_since = self._retry_at = self._look_at = -math.inf

    def announce(self, lanes: Collection[str] = ()) -> None:
        """Say that there may be something to carry in these lanes, or something to tell the server."""
        with self._news:
            if self._closing:
                return
            self._announced |= set(lanes)
            self._news.notify_all()
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="mnemic-carrier", daemon=True)
                self._thread.start()

    def failed(self, error: QueueError | Lost) -> None:
        """Say that the streams could not be used, as another thread found."""
        with self._news:
            if self.up:
                self._go_down(error)
        self.announce()

    @property
    def retry_in(self) -> float:
        """Seconds until the server is tried again."""
        return max(0.0, self._retry_at - time.monotonic())

    def close(self) -> None:
        """Tell the server what is left to tell, and end; when nothing is in hand and it is away, at once."""
        with self._news:
            self._closing = True
            self._news.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(_FINISH if self.up or self._busy else 0.0)

    def _run(self) -> None:
        while not self._is_closing():
            with self._news:
                self._news.wait_for(self._is_pressing, self._patience())
                lanes, self._announced = self._announced, set()
            if not self._is_closing():
                self._guarded(lanes)
        if self.up:
            self._guarded(set(), last=True)
        self._station.link.shut()

    def _is_closing(self) -> bool:
        return self._closing

    def _is_pressing(self) -> bool:
        """Tell whether there is something to do now: while the server is away, nothing is until it is tried again."""
        if self._closing:
            return True
        return self.retry_in <= 0 and bool(self._announced or (self.up and self._station.notes.untold))

    def _patience(self) -> float | None:
        """Return the seconds until there is something to do without being told; None when there never is."""
        notes = self._station.notes
        if not self.up:
            return self.retry_in
        looks = self._station.doers.lanes or notes.held
        left = min(self._look_at - time.monotonic() if looks else math.inf, notes.spare_for)
        return max(self.retry_in, left, 0.0) if math.isfinite(left) else None

    def _guarded(self, lanes: set[str], *, last: bool = False) -> None:
        """Do a round; what fails is tried again when its time has come."""
        self._busy = True
        try:
            if last:
                self._station.notes.give_back_spares(all_of_them=True)
                self._station.notes.tell(self._station.link)
                self._station.doers.leave(self._station.link)
            else:
                self._round(lanes)
        except (Lost, QueueError) as error:
            with self._news:
                self._announced |= lanes
                self._go_down(error)
            self._tell_of(error)
        except MnemicError as error:  # of the store
            _log.warning("carrier_failed", extra={"reason": str(error)})
            with self._news:
                self._announced |= lanes
                self._retry_at = time.monotonic() + _LOOK
        finally:
            self._busy = False

    def _round(self, lanes: set[str]) -> None:
        if not self.up:
            self._come_up()
            lanes |= set(LANES)
        station = self._station
        station.notes.give_back_spares()
        if station.notes.tell(station.link):
            station.doers.forget()
        looks = time.monotonic() >= self._look_at or station.doers.news
        for lane in sorted(lanes | station.doers.lanes if looks else lanes):
            self._carry(lane)
        if looks:
            self._upkeep.look_after()
            self._look_at = time.monotonic() + self._until_due()

    def _carry(self, lane: str) -> None:
        """Offer what there is room for, and send it."""
        doers, link = self._station.doers, self._station.link
        if self._send():  # what could not be sent before
            doers.forget()
        for _ in range(_ROUNDS):
            room = doers.room(link, lane)
            most = min([*room.values(), _BATCH])
            self._unsent += self._rows.offer(lane, sorted(room), most) if room else ()
            sent = self._send()
            doers.sent(lane, [ticket.kind for ticket in sent])
            if not room or len(sent) < most:
                return
        self.announce([lane])

    def _send(self) -> list[Ticket]:
        """Send tickets that are offered; return them. Raises `Lost` when their streams are gone."""
        link, sent = self._station.link, list(self._unsent)
        layout = link.opened.layout
        if sent:
            of_shard: dict[int, list[Command]] = {}
            for ticket in sent:
                of_shard.setdefault(shard_of(ticket.cube_key, layout.shards), []).append(_entry(layout, ticket))
            if any(None in answers for answers in link.ask_all(lambda shard: of_shard.get(shard, [])).values()):
                raise Lost("a stream is missing")
            self._unsent.clear()
        return sent

    def _come_up(self) -> None:
        """Connect; when what was offered has lost its tickets, take it back."""
        if self._upkeep.establish():
            self._recall()
        with self._news:
            self.up, self.fault = True, None
            self._up_since = time.monotonic()
            self._retry_at = self._look_at = -math.inf
        if self._told_away:
            self._told_away = False
            _log.info("redis_back", extra={"server": self._station.link.name})
        self._changed()

    def _go_down(self, error: QueueError | Lost) -> None:
        """Use the streams no longer, and say when to try again: at once, if they were good. Under the lock."""
        now = time.monotonic()
        was_up, self.up = self.up, False
        self._failures = 1 if was_up and now - self._up_since > _STEADY else self._failures + 1
        self.fault = error if isinstance(error, UnfitError) else None
        if self._failures > 1:
            pause = self._station.rules.pause(self._failures - 1, self._chance.random())
            self._retry_at = now + min(_LONGEST, pause)
        self._changed()

    def _tell_of(self, error: QueueError | Lost) -> None:
        """Log an outage once, and let those take what is offered who ask the rows now."""
        if self._failures > 1 and not self._told_away:
            self._told_away = True
            _log.warning("redis_away", extra={"server": self._station.link.name, "reason": str(error)})
            self._recall()

    def _recall(self) -> None:
        self._unsent.clear()
        try:
            self._rows.recall(LANES)
        except MnemicError as error:
            _log.warning("not_recalled", extra={"reason": str(error)})  # it is offered anew when its time is over

    def _until_due(self) -> float:
        """Return the seconds until the rows are looked at again by themselves."""
        most = min(_LOOK, self._station.rules.lease.total_seconds() / 3)
        lanes = self._station.doers.lanes
        due = self._rows.next_due(sorted(lanes)) if lanes else None
        return most if due is None else min(most, max(_LEAST, (due - self._clock.now()).total_seconds()))


def _entry(layout: Layout, ticket: Ticket) -> Command:
    """Return the command that adds a ticket to its stream, if that is there: without its group it must not be made."""
    return ("XADD", layout.stream_of(ticket), "NOMKSTREAM", "*", "cube", ticket.cube_key, "job", ticket.job_id)
