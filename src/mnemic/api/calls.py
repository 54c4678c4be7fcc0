"""Every verb is a call: it has a trace, a span, an outcome and a time, and the log says so.

A class decorator sees to it, so that no verb can be forgotten. What a verb gives piece by piece belongs to its call to
the last piece; what its listener does between the pieces does not.
"""

from __future__ import annotations

import functools
import inspect
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeVar

from mnemic.errors import MnemicError
from mnemic.model.figure import CALL_SECONDS, CALLS
from mnemic.ports.spans import Span, Watch
from mnemic.tracing import Trace, carried, closed, current, opened, tracing

C = TypeVar("C")

_log = logging.getLogger(__name__)

WRITES: Final = frozenset({
    "add", "update", "lock", "restore", "feedback", "undo", "forget", "rebuild", "reorganize", "chat", "chat_stream",
    "set_profile", "load", "cubes.create", "cubes.delete", "llm.complete", "jobs.cancel", "jobs.retry", "jobs.drop",
    "jobs.set_share",
})  # fmt: skip
"""Verbs that change something or cost money: the log tells of them at `info`, of those that only read at `debug`."""

UNWATCHED: Final = frozenset({"close", "expose", "metrics"})
"""Methods that are no calls: one ends everything, the others tell of it."""


def watched(group: str = "") -> Callable[[type[C]], type[C]]:
    """Return a decorator of a class with `_parts`, which makes calls of its public methods, named with their group."""

    def decorate(face: type[C]) -> type[C]:
        for name, method in list(vars(face).items()):
            if inspect.isfunction(method) and not name.startswith("_") and name not in UNWATCHED:
                setattr(face, name, _call(method, f"{group}.{name}" if group else name))
        return face

    return decorate


def _call(method: Callable[..., Any], verb: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        watch: Watch = self._parts.watch
        opening = opened()
        try:
            span = watch.spans.start(verb, first=opening is not None)
            going_on = _GoingOn(watch, verb, span)
            try:
                given = _under(span, method, self, *args, **kwargs)
            except BaseException as error:
                going_on.end(_outcome(error))
                raise
            if isinstance(given, Iterator) and (trace := current()) is not None:
                return _heard(given, replace(trace, span=span.id or trace.span), going_on)
            going_on.end("ok")
            return given
        finally:
            if opening is not None:
                closed(opening)

    return call


def _under(span: Span, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Make a call as a part of a span, when there is one."""
    if not span.id:
        return method(*args, **kwargs)
    with tracing(span=span.id):
        return method(*args, **kwargs)


class _GoingOn:
    """A call from its beginning to its end."""

    __slots__ = ("_began", "_span", "_verb", "_watch")

    def __init__(self, watch: Watch, verb: str, span: Span) -> None:
        self._watch = watch
        self._verb = verb
        self._span = span
        self._began = time.perf_counter()

    def end(self, outcome: str) -> None:
        """Tell of the call, which is over."""
        seconds = time.perf_counter() - self._began
        self._watch.meter.add(CALLS, 1, self._verb, outcome)
        self._watch.meter.observe(CALL_SECONDS, seconds, self._verb)
        self._span.end(outcome)
        level = logging.INFO if self._verb in WRITES else logging.DEBUG
        if _log.isEnabledFor(level):
            _log.log(level, "called", extra={"verb": self._verb, "outcome": outcome, "seconds": round(seconds, 4)})


def _heard(pieces: Iterator[Any], trace: Trace, going_on: _GoingOn) -> Iterator[Any]:
    """Yield what a verb gives piece by piece, and tell of the call when it is over."""
    outcome = "left"
    try:
        yield from carried(trace, pieces)
        outcome = "ok"
    except GeneratorExit:
        raise
    except BaseException as error:
        outcome = _outcome(error)
        raise
    finally:
        with tracing(trace.id, job=trace.job):
            going_on.end(outcome)


def _outcome(error: BaseException) -> str:
    return error.code if isinstance(error, MnemicError) else "failed"
