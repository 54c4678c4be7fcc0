"""A stopwatch for what has several parts: each lap is the time since the one before, and laps of one part add up."""

from __future__ import annotations

import time

from mnemic.model.figure import Figure
from mnemic.ports.meter import Meter


class Laps:
    """Times the parts of one call, on the thread that makes it."""

    __slots__ = ("_seconds", "_since")

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def __call__(self, part: str) -> None:
        """Say that what was done since the last lap was this part."""
        now = time.perf_counter()
        self._seconds[part] = self._seconds.get(part, 0.0) + now - self._since
        self._since = now

    def tell(self, meter: Meter, figure: Figure) -> None:
        """Tell the seconds of each part there was."""
        meter.observe_each(figure, self._seconds)
