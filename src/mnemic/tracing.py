"""Which call the work of this moment goes back to: an id that runs from a request to its jobs and their model calls.

A context variable, so that threads and tasks have their own. It names, and decides nothing. The same ids name spans
where traces are collected (W3C Trace Context): a call's span is named by its trace, a job's first one by the job, so
that what a job did finds its cause in another process, and nothing but the trace has to be kept for it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import Final, TypeVar

from mnemic.ids import new_id

T = TypeVar("T")

_DIGITS: Final = re.compile(r"[0-9a-f]{32}")
_PLAIN: Final = re.compile(r"[\w.:-]{1,128}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Trace:
    """The call, by its id, the job that is done for it at the moment, if one is, and the span that stands open.

    `span` has 16 hexadecimal digits; "" is the span of the job, or of the call when there is no job.
    """

    id: str
    job: str | None = None
    span: str = ""

    @property
    def digits(self) -> str:
        """The id as 32 hexadecimal digits, as W3C's trace-id: a UUID's own, or those of a hash of what is none."""
        return _digits(self.id)

    @property
    def parent(self) -> str:
        """The span that what is done now belongs to, as W3C's parent-id."""
        return self.span or span_of(self.job or self.id)


class _Unnamed:
    """A call that nobody has asked the name of yet: most end so, and names cost something."""

    __slots__ = ("trace",)

    def __init__(self) -> None:
        self.trace: Trace | None = None


_CURRENT: Final[ContextVar[Trace | _Unnamed | None]] = ContextVar("mnemic_trace", default=None)

Opened = Token[Trace | _Unnamed | None]


def current() -> Trace | None:
    """Return the trace of this moment; None outside of any call."""
    found = _CURRENT.get()
    if not isinstance(found, _Unnamed):
        return found
    if found.trace is None:
        found.trace = Trace(new_id())
    return found.trace


def opened() -> Opened | None:
    """Open a call that gets its id when that is first asked for; None when one is going on. `closed` ends it."""
    return _CURRENT.set(_Unnamed()) if _CURRENT.get() is None else None


def closed(call: Opened) -> None:
    """End a call that was opened by this thread."""
    _CURRENT.reset(call)


def span_of(name: str) -> str:
    """Return the span that a call or a job of this id has: its last 16 digits, which are the random ones."""
    found = _digits(name)[16:]
    return found if found.strip("0") else f"{1:016x}"  # zeros are no id


@contextmanager
def tracing(trace_id: str | None = None, *, job: str | None = None, span: str = "") -> Iterator[Trace]:
    """Do what the block does as part of a call: the one named, else the one that is going on, else a new one."""
    going_on = current()
    if going_on is None or (trace_id and trace_id != going_on.id):
        trace = Trace(trace_id or new_id(), job, span)
    elif job is not None and job != going_on.job:
        trace = Trace(going_on.id, job, span)
    else:
        trace = Trace(going_on.id, going_on.job, span or going_on.span)
    token = _CURRENT.set(trace)
    try:
        yield trace
    finally:
        _CURRENT.reset(token)


def carried(trace: Trace, pieces: Iterator[T]) -> Iterator[T]:
    """Yield what comes, with each piece made as part of a call; between them the caller's own trace holds."""
    try:
        while True:
            token = _CURRENT.set(trace)
            try:
                piece = next(pieces)
            except StopIteration:
                return
            finally:
                _CURRENT.reset(token)
            yield piece
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            close()


def headers() -> dict[str, str]:
    """Return what names the call to another server: its id, and W3C's traceparent; nothing outside of any call."""
    trace = current()
    if trace is None:
        return {}
    shown = trace.id if _PLAIN.fullmatch(trace.id) else trace.digits
    return {"X-Request-Id": shown, "traceparent": f"00-{trace.digits}-{trace.parent}-01"}


def _digits(name: str) -> str:
    found = name.replace("-", "").lower()
    if not _DIGITS.fullmatch(found) or not found.strip("0"):
        return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return found
