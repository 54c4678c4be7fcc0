"""Wall and CPU time of single operations, taken in turns: rivals share each moment's noise, so their ratio is steadier
than either time. CPU is that of this whole process, so nothing else may run in it meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial


@dataclass(slots=True)
class Timing:
    """Milliseconds of each repetition."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def take(self, action: Callable[[], object]) -> None:
        """Run an action once and note what it took."""
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        self.cpu.append((time.process_time() - cpu) * 1e3)
        self.wall.append((time.perf_counter() - wall) * 1e3)

    @property
    def p50(self) -> float:
        """Median wall time."""
        return quantile(self.wall, 0.5)

    @property
    def p95(self) -> float:
        """Wall time that one in twenty exceeds."""
        return quantile(self.wall, 0.95)

    @property
    def cpu_p50(self) -> float:
        """Median CPU time."""
        return quantile(self.cpu, 0.5)

    @property
    def total(self) -> float:
        """All wall time, in seconds."""
        return sum(self.wall) / 1e3


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which this share of the values lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def take_turns(rounds: int, rivals: Mapping[str, Callable[[int], object]]) -> dict[str, Timing]:
    """Run each rival once in every round (it is given the round's number), each going first as often as the others."""
    timings = {name: Timing() for name in rivals}
    names = list(rivals)
    for number in range(rounds):
        at = number % len(names)
        for name in names[at:] + names[:at]:
            timings[name].take(partial(rivals[name], number))
    return timings
