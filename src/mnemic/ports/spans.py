"""Spans: what was done from when to when, as part of which call, for whoever collects traces (OpenTelemetry).

A span is named by the trace that is current when it starts (`mnemic.tracing`), and tells no content: its attributes are
kinds, counts and codes, as the labels of figures are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from mnemic.ports.meter import SILENT, Meter

Attributes = Mapping[str, str | int | float]


class Span(Protocol):
    """Something that is being done."""

    @property
    def id(self) -> str:
        """Its 16 hexadecimal digits: `tracing(span=…)` makes it the parent of what is done inside; "" keeps nothing."""
        ...

    def end(self, outcome: str = "ok", attributes: Attributes | None = None) -> None:
        """Say that it is over, and how: `ok`, or a code. A second call changes nothing."""
        ...


class Spans(Protocol):
    """Takes spans in. Neither starting nor ending one fails or waits. Threads may share it."""

    def start(
        self,
        name: str,
        *,
        span_id: str = "",
        parent: str = "",
        first: bool = False,
        attributes: Attributes | None = None,
    ) -> Span:
        """Start a span of the current trace, under a new id when none is given; outside of any call there is none.

        Its parent is the span that stands open when none is named. The `first` one of a call is the call's own
        (`mnemic.tracing.span_of`), and has no parent.
        """
        ...

    def past(self, name: str, seconds: float, attributes: Attributes | None = None) -> None:
        """Tell of something that has just ended and took so long."""
        ...

    def close(self) -> None:
        """Hand on what is kept, for a few seconds at most."""
        ...


class _NoSpan:
    """The span that keeps nothing."""

    id: Final = ""

    def end(self, outcome: str = "ok", attributes: Attributes | None = None) -> None:
        """Keep nothing."""


class NoSpans:
    """The spans that keep nothing."""

    def start(self, *_: object, **__: object) -> Span:
        """Keep nothing."""
        return NO_SPAN

    def past(self, name: str, seconds: float, attributes: Attributes | None = None) -> None:
        """Keep nothing."""

    def close(self) -> None:
        """Do nothing."""


NO_SPAN: Final = _NoSpan()
NO_SPANS: Final = NoSpans()


@dataclass(frozen=True, slots=True)
class Watch:
    """How a memory is watched: by figures and by spans."""

    meter: Meter = SILENT
    spans: Spans = NO_SPANS


UNWATCHED: Final = Watch()
"""What parts have that nobody watches."""
