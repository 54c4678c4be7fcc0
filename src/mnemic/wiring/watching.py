"""How a memory is watched: its meter, and its spans when a collector is named."""

from __future__ import annotations

from mnemic.config import Settings
from mnemic.errors import InputError
from mnemic.ports.spans import NO_SPANS, Spans, Watch
from mnemic.runtime.metrics import Kept


def watch_of(settings: Settings) -> Watch:
    """Return what a memory is watched by. Raises `InputError` when the packages for traces are missing."""
    return Watch(Kept(), _spans(settings))


def _spans(settings: Settings) -> Spans:
    if not settings.trace_endpoint:
        return NO_SPANS
    try:
        from mnemic.backends.telemetry.otlp import OtlpSpans  # noqa: PLC0415 - only when it is asked for

        return OtlpSpans(settings.trace_endpoint)
    except ImportError as error:
        raise InputError(
            "trace_endpoint", "needs OpenTelemetry's SDK and OTLP exporter: pip install 'mnemic[otel]'"
        ) from error
