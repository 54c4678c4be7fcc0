"""A stopwatch for what has several parts: each lap is the time since the one before, and laps of one part add up."""

from __future__ import annotations

import time

from mnemic.model.figure import Figure
from mnemic.ports.meter import SILENT, Meter


class Laps:
    """Times the parts of one call, on the thread that makes it."""

    __slots__ = ("_began", "_marks")

    def __init__(self) -> None:
        self._marks: list[tuple[str, float]] = []
        self._began = time.perf_counter()

    def __call__(self, part: str) -> None:
        """Say that what was done since the last lap was this part."""
        self._marks.append((part, time.perf_counter()))

    def tell(self, meter: Meter, figure: Figure) -> None:
        """Tell the seconds of each part there was."""
        if meter is SILENT:
            return
        seconds: dict[str, float] = {}
        last = self._began
        for part, ended in self._marks:
            seconds[part] = seconds.get(part, 0.0) + ended - last
            last = ended
        meter.observe_each(figure, seconds)
