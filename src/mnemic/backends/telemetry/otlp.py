"""Spans for an OpenTelemetry collector, over OTLP and HTTP (extra `[otel]`).

The provider is this memory's own: nothing global is set, and spans of the program around it are neither read nor
changed. Ids come from `mnemic.tracing`, so that the spans of a request, of its jobs in other processes and of their
model calls are one trace, and the id in the log is the trace's. Every span is sent: sampling is the collector's to do.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from mnemic import tracing
from mnemic.errors import InputError
from mnemic.ports.spans import NO_SPAN, Attributes, Span
from mnemic.tracing import Trace
from mnemic.version import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span as TheirSpan
    from opentelemetry.trace import Tracer

_SECONDS: Final = 5.0  # that sending may take, and closing
_NANOSECONDS: Final = 1_000_000_000


class OtlpSpans:
    """Implements `ports.spans.Spans`. Spans are sent by a thread of its own, in batches, every few seconds."""

    def __init__(self, endpoint: str, *, exporter: Callable[[], SpanExporter] | None = None) -> None:
        """Begin to collect. Raises `InputError` for a bad address, or when the packages are missing."""
        if not endpoint.startswith(("http://", "https://")):
            raise InputError(
                "trace_endpoint", "must begin with http:// or https://, such as http://host:4318/v1/traces"
            )
        self._ids = _Ids()
        self._provider = _provider(exporter or (lambda: _exporter(endpoint)), self._ids)
        self._tracer: Tracer = self._provider.get_tracer("mnemic", __version__)

    def start(
        self,
        name: str,
        *,
        span_id: str = "",
        parent: str = "",
        first: bool = False,
        attributes: Attributes | None = None,
    ) -> Span:
        """Start a span of the current trace; outside of any call there is none."""
        trace = tracing.current()
        if trace is None:
            return NO_SPAN
        above = "" if first else parent or trace.parent
        with self._ids.given(trace, tracing.span_of(trace.id) if first else span_id):
            started = self._tracer.start_span(name, context=_under(trace, above), attributes=attributes)
        return _Open(started)

    def past(self, name: str, seconds: float, attributes: Attributes | None = None) -> None:
        """Tell of something that has just ended and took so long."""
        trace = tracing.current()
        if trace is None:
            return
        ended = time.time_ns()
        began = ended - int(seconds * _NANOSECONDS)
        with self._ids.given(trace, ""):
            context = _under(trace, trace.parent)
            self._tracer.start_span(name, context=context, attributes=attributes, start_time=began).end(ended)

    def close(self) -> None:
        """Send what is kept, for a few seconds at most: a collector that is gone keeps nobody from closing."""
        closing = threading.Thread(target=self._provider.shutdown, name="mnemic-spans", daemon=True)
        closing.start()
        closing.join(_SECONDS)


class _Open:
    """A span that stands open."""

    def __init__(self, span: TheirSpan) -> None:
        self._span = span

    @property
    def id(self) -> str:
        """Its 16 hexadecimal digits."""
        return f"{self._span.get_span_context().span_id:016x}"

    def end(self, outcome: str = "ok", attributes: Attributes | None = None) -> None:
        """Say that it is over, and how."""
        from opentelemetry.trace import StatusCode  # noqa: PLC0415 - imported already by who made it

        if not self._span.is_recording():
            return
        if attributes:
            self._span.set_attributes(attributes)
        if outcome != "ok":
            self._span.set_attribute("error.type", outcome)
            self._span.set_status(StatusCode.ERROR)
        self._span.end()


class _Ids:
    """Gives the ids of the span that this thread is about to start: those of the trace, and its own or a random one."""

    def __init__(self) -> None:
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator  # noqa: PLC0415

        self._random = RandomIdGenerator()
        self._given = threading.local()

    @contextlib.contextmanager
    def given(self, trace: Trace, span_id: str) -> Iterator[None]:
        """Let the span that the block starts have these."""
        self._given.trace, self._given.span = int(trace.digits, 16), int(span_id or "0", 16)
        try:
            yield
        finally:
            self._given.trace = self._given.span = 0

    def generate_trace_id(self) -> int:
        """Return the id of the current trace."""
        return getattr(self._given, "trace", 0) or self._random.generate_trace_id()

    def generate_span_id(self) -> int:
        """Return the id that the span is to have."""
        return getattr(self._given, "span", 0) or self._random.generate_span_id()

    def is_trace_id_random(self) -> bool:
        """Say no: the first half of a UUIDv7 is a time."""
        return False


def _under(trace: Trace, parent: str) -> Any:
    """Return a context that holds the parent and nothing of the program around us."""
    from opentelemetry.context import Context  # noqa: PLC0415
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context  # noqa: PLC0415

    if not parent:
        return Context()
    above = SpanContext(int(trace.digits, 16), int(parent, 16), is_remote=True, trace_flags=TraceFlags(1))
    return set_span_in_context(NonRecordingSpan(above), Context())


def _provider(exporter: Callable[[], SpanExporter], ids: Any) -> TracerProvider:
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON  # noqa: PLC0415

    resource = Resource.create({"service.name": "mnemic", "service.version": __version__})
    provider = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, id_generator=ids)
    provider.add_span_processor(BatchSpanProcessor(exporter()))
    return provider


def _exporter(endpoint: str) -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

    return OTLPSpanExporter(endpoint=endpoint, timeout=_SECONDS)
