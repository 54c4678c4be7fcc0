"""Keeping the streams whole: making them, noticing that they were lost, and putting back what nobody works on."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Final

from mnemic.backends.queues.doers import REPORT
from mnemic.backends.queues.layout import GROUP
from mnemic.backends.queues.link import Command, call, grouped
from mnemic.backends.queues.scripts import ESTABLISH, STALLED, UPKEEP
from mnemic.backends.queues.station import Station
from mnemic.model.job import LANES

_TRIMMED: Final = 60.0  # seconds between two trimmings of a shard
_SILENT: Final = 3_600_000  # ms after which a consumer that holds nothing is removed
_STALLED: Final = 100  # stalled entries of a stream that are put back at once


class Upkeep:
    """For the one thread of a station that looks after the streams."""

    def __init__(self, station: Station) -> None:
        self._station = station
        self._lease = station.rules.lease.total_seconds()
        self._due: dict[tuple[str, int], float] = {}

    def establish(self) -> bool:
        """Connect, and make the streams that are missing; tell whether any was, or another server holds them now.

        What is offered then has lost its ticket. Only the first process that notices is told so.
        """
        link, doers = self._station.link, self._station.doers
        opened = link.open()
        self._due.clear()
        layout, runs = opened.layout, opened.server.runs
        made = link.ask_all(
            lambda shard: [call(ESTABLISH, [layout.epoch(shard), *self._streams(shard)], runs[shard], GROUP)]
        )
        doers.forget()
        doers.report(link)
        return any(any(answers) for answers in made.values())

    def look_after(self) -> None:
        """Do what is due: report who works here, touch what they work on, put back what is stalled, trim."""
        station = self._station
        if self._is_due("report", 0, REPORT) or station.doers.news:
            station.doers.report(station.link)
        if self._is_due("touch", 0, self._lease / 3):
            station.notes.touch(station.link)
        station.link.ask_all(self._due_for)

    def _due_for(self, shard: int) -> Iterator[Command]:
        if self._is_due("stalled", shard, self._lease / 2):
            given = (self._station.consumer, int(self._lease * 1000), _STALLED)
            yield grouped(STALLED, self._streams(shard), *given)
        if self._is_due("trim", shard, _TRIMMED):
            yield grouped(UPKEEP, self._streams(shard), _SILENT)

    def _is_due(self, what: str, shard: int, every: float) -> bool:
        """Tell whether something is to be done; its first time is drawn, so that processes take turns."""
        now = time.monotonic()
        if now < self._due.setdefault((what, shard), now + every * random.random()):  # noqa: S311 - to spread it
            return False
        self._due[what, shard] = now + every
        return True

    def _streams(self, shard: int) -> list[str]:
        layout, kinds = self._station.link.opened.layout, self._station.doers.kinds
        return [stream for lane in LANES for stream in layout.streams(shard, lane, kinds(lane))]
