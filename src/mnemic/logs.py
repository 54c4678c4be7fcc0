"""How a line of the log looks, for people (`plain`) and for programs (`json`), and what must not be in it.

A record is an event name with fields; a line adds when, how grave, who said it, and the trace and job that it goes back
to (`mnemic.tracing`). Passwords and keys are hidden here, whoever let them slip. The library itself sets up no handler:
`send` is for a process that is a service, and is undone by what it returns.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sys
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime
from typing import Any, Final, TextIO

from mnemic import tracing
from mnemic.hiding import HIDDEN, is_secret_name, without_secrets

FORMATS: Final = ("plain", "json")

_OWN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "trace", "job"}
_LONGEST: Final = 4_000  # characters of a field
_LONGEST_TRACEBACK: Final = 16_000  # its end, which says what happened
_ROWS: Final = re.compile(r"(?m)^\s*(DETAIL:|CONTEXT:).*$")  # PostgreSQL shows the row there that it refuses
_DEEPEST: Final = 4  # fields in fields


class Traced(logging.Filter):
    """Adds the trace and the job of the moment to each record that does not say its own."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add them; every record passes."""
        trace = tracing.current()
        if not hasattr(record, "trace"):
            record.trace = trace.id if trace is not None else None
        if not hasattr(record, "job"):
            record.job = trace.job if trace is not None else None
        return True


class Plain(logging.Formatter):
    """One line for people: time, level, logger, event, fields; then the traceback, when there is one.

    Without `stamped`, the time is left out. `secrets` are values that are hidden wherever they stand.
    """

    def __init__(self, *, stamped: bool = True, secrets: Collection[str] = ()) -> None:
        super().__init__()
        self._stamped = stamped
        self._secrets = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told = {**_fields(record, self._secrets), **{name: value for name, value in _goes_back_to(record) if value}}
        line = f"{record.levelname} {record.name} {_event(record, self._secrets)}"
        line += "".join(f" {name}={value!r}" for name, value in told.items())
        if self._stamped:
            line = f"{_time(record)} {line}"
        traceback = _traceback(record, self, self._secrets)
        return f"{line}\n{traceback}" if traceback else line


class Json(logging.Formatter):
    """One JSON object in a line of ASCII: time, level, event, logger, trace, job, fields, exception.

    The last four are left out when there is nothing to say. `secrets` are values that are hidden wherever they stand.
    """

    def __init__(self, *, secrets: Collection[str] = ()) -> None:
        super().__init__()
        self._secrets = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "event": _event(record, self._secrets),
            "logger": record.name,
            **{name: value for name, value in _goes_back_to(record) if value},
        }
        if fields := _fields(record, self._secrets):
            told["fields"] = fields
        if traceback := _traceback(record, self, self._secrets):
            told["exception"] = traceback
        return json.dumps(told, allow_nan=False)


def send(
    log_format: str, *, debug: bool = False, secrets: Collection[str] = (), stream: TextIO | None = None
) -> Callable[[], None]:
    """Send the log of this process to a stream (default: stderr) in one of `FORMATS`; return what ends it.

    Mnemic tells from `info` on, or all with `debug`; other libraries only warnings: more may hold what people said.
    """
    handler = logging.StreamHandler(stream if stream is not None else sys.stderr)
    handler.setFormatter(Json(secrets=secrets) if log_format == "json" else Plain(secrets=secrets))
    handler.addFilter(Traced())
    root, own = logging.getLogger(), logging.getLogger("mnemic")
    before = root.level, own.level
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    own.setLevel(logging.DEBUG if debug else logging.INFO)

    def end() -> None:
        root.removeHandler(handler)
        root.setLevel(before[0])
        own.setLevel(before[1])
        handler.close()

    return end


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _event(record: logging.LogRecord, secrets: Collection[str]) -> str:
    return without_secrets(record.getMessage(), secrets)[:_LONGEST]


def _goes_back_to(record: logging.LogRecord) -> tuple[tuple[str, object], ...]:
    return ("trace", getattr(record, "trace", None)), ("job", getattr(record, "job", None))


def _fields(record: logging.LogRecord, secrets: Collection[str]) -> dict[str, Any]:
    given = {name: value for name, value in vars(record).items() if name not in _OWN}
    return {name: _shown(name, value, secrets) for name, value in given.items()}


def _shown(name: str, value: object, secrets: Collection[str], depth: int = 0) -> Any:
    """Return a field's value as JSON can hold it, without secrets."""
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, str | bytes) and is_secret_name(name) and value:
        return HIDDEN
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, date):
        return value.isoformat()
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {str(key): _shown(str(key), each, secrets, depth + 1) for key, each in value.items()}
    if depth < _DEEPEST and isinstance(value, list | tuple | set | frozenset):
        return [_shown(name, each, secrets, depth + 1) for each in value]
    return without_secrets(str(value), secrets)[:_LONGEST]


def _traceback(record: logging.LogRecord, formatter: logging.Formatter, secrets: Collection[str]) -> str:
    told = record.exc_text or ""
    if record.exc_info and record.exc_info[0] is not None:
        told = formatter.formatException(record.exc_info)
    if record.stack_info:
        told = f"{told}\n{record.stack_info}".strip()
    return without_secrets(_ROWS.sub(r"\1 [hidden]", told), secrets)[-_LONGEST_TRACEBACK:]
