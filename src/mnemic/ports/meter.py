"""The meter: where the parts of Mnemic say how often something happened and how long it took.

Telling costs next to nothing, never fails and never waits: whoever counts must not be slowed down by being watched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from mnemic.model.figure import Figure


class Meter(Protocol):
    """Takes figures in. `labels` are the values of the figure's labels, in their order, all of them.

    Threads may share it. Values of labels are bounded: of a figure that has had too many, the rest count as `other`.
    """

    def add(self, figure: Figure, amount: float, *labels: str) -> None:
        """Count a counter up, or move a gauge by so much."""
        ...

    def observe(self, figure: Figure, value: float, *labels: str) -> None:
        """Take one value of a histogram in, in its unit."""
        ...

    def observe_each(self, figure: Figure, values: Mapping[str, float]) -> None:
        """Take one value in for each of these values of a histogram's only label."""
        ...


class Silent:
    """The meter that keeps nothing: the default of every part."""

    def add(self, figure: Figure, amount: float, *labels: str) -> None:
        """Keep nothing."""

    def observe(self, figure: Figure, value: float, *labels: str) -> None:
        """Keep nothing."""

    def observe_each(self, figure: Figure, values: Mapping[str, float]) -> None:
        """Keep nothing."""


SILENT: Final = Silent()
