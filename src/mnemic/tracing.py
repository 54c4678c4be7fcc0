"""Which call the work of this moment goes back to: an id that runs from a request to its jobs and their model calls.

A context variable, so that threads and tasks have their own. It names, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from mnemic.ids import new_id


@dataclass(frozen=True, slots=True)
class Trace:
    """The call, by its id, and the job that is done for it at the moment, if one is."""

    id: str
    job: str | None = None


_CURRENT: Final[ContextVar[Trace | None]] = ContextVar("mnemic_trace", default=None)


def current() -> Trace | None:
    """Return the trace of this moment; None outside of any call."""
    return _CURRENT.get()


@contextmanager
def tracing(trace_id: str | None = None, *, job: str | None = None) -> Iterator[Trace]:
    """Do what the block does as part of a call: the one named, else the one that is going on, else a new one."""
    going_on = _CURRENT.get()
    trace = Trace(trace_id or (going_on.id if going_on else new_id()), job or (going_on.job if going_on else None))
    token = _CURRENT.set(trace)
    try:
        yield trace
    finally:
        _CURRENT.reset(token)
