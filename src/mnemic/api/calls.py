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
from contextlib import closing
from dataclasses import replace
from typing import Any, Final, TypeVar

from mnemic import acting
from mnemic.errors import MnemicError
from mnemic.model.figure import CALL_SECONDS
from mnemic.ports.spans import NO_SPANS, Span, Watch
from mnemic.tracing import Trace, carried, closed, current, opened, tracing
from mnemic.wiring import Parts

C = TypeVar("C")

_log = logging.getLogger(__name__)

WRITES: Final = frozenset({
    "add", "update", "lock", "restore", "feedback", "undo", "forget", "rebuild", "reorganize", "chat", "chat_stream",
    "set_profile", "load", "cubes.create", "cubes.delete", "llm.complete", "jobs.cancel", "jobs.retry", "jobs.drop",
    "jobs.set_share", "keys.create", "keys.revoke", "keys.rotate", "keys.drop", "cubes.share", "cubes.unshare",
    "relay.send", "relay.stream", "knowledge.create", "knowledge.update", "knowledge.delete", "knowledge.bind",
    "knowledge.unbind", "knowledge.add", "knowledge.sync", "knowledge.watch_folder", "knowledge.refresh",
    "knowledge.remove",
})  # fmt: skip
"""Verbs that change something or cost money: the log tells of them at `info`, of those that only read at `debug`."""

UNWATCHED: Final = frozenset({"close", "expose", "metrics", "ready", "any", "caller_of"})
"""Methods that are no calls: one ends everything, some tell of it, some are asked before each call."""


LOOK: Final = 1.0
"""Seconds for which what comes piece by piece goes on before the key is looked at again."""


def watched(group: str = "") -> Callable[[type[C]], type[C]]:
    """Return a decorator of a class with `_parts`, which makes calls of its public methods, named with their group."""

    def decorate(face: type[C]) -> type[C]:
        for name, method in list(vars(face).items()):
            if inspect.isfunction(method) and not name.startswith("_") and name not in UNWATCHED:
                verb = f"{group}.{name}" if group else name
                setattr(face, name, _call(_recorded(method, verb), verb))
        return face

    return decorate


def _call(method: Callable[..., Any], verb: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        watch: Watch = self._parts.watch
        opening = opened()
        try:
            span = None if watch.spans is NO_SPANS else watch.spans.start(verb, first=opening is not None)
            began = time.perf_counter()
            try:
                if span is None:
                    given = method(self, *args, **kwargs)
                else:
                    with tracing(span=span.id):
                        given = method(self, *args, **kwargs)
            except BaseException as error:
                _tell(watch, verb, span, began, _outcome(error))
                raise
            if isinstance(given, Iterator) and (trace := current()) is not None:
                end = functools.partial(_tell, watch, verb, span, began)
                return _heard(given, trace if span is None else replace(trace, span=span.id), end)
            _tell(watch, verb, span, began, "ok")
            return given
        finally:
            if opening is not None:
                closed(opening)

    return call


def _recorded(method: Callable[..., Any], verb: str) -> Callable[..., Any]:
    """Return the method as one that is written down when somebody named calls it (`mnemic.services.audit`)."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        who = acting.caller()
        if who is None or acting.call() is not None:
            return method(self, *args, **kwargs)
        parts: Parts = self._parts
        with parts.access.audit.call(who, verb, writes=verb in WRITES) as made:
            given = method(self, *args, **kwargs)
        return _told(parts, made, given) if isinstance(given, Iterator) else given

    return call


def _told(parts: Parts, made: acting.Call, pieces: Iterator[Any]) -> Iterator[Any]:
    """Yield what a verb gives piece by piece; that it is refused on the way is written down.

    Who has got a stream gets no more of it than their key is good for.
    """
    looked = time.monotonic()
    with parts.access.audit.told(made), closing(acting.carried(made, pieces)) as coming:
        for piece in coming:
            if time.monotonic() - looked > LOOK:
                parts.access.gate.check_still(made.who)
                looked = time.monotonic()
            yield piece


def _tell(watch: Watch, verb: str, span: Span | None, began: float, outcome: str) -> None:
    """Tell of a call that is over."""
    seconds = time.perf_counter() - began
    watch.meter.observe(CALL_SECONDS, seconds, verb, outcome)
    if span is not None:
        span.end(outcome)
    level = logging.INFO if verb in WRITES else logging.DEBUG
    if _log.isEnabledFor(level):
        _log.log(level, "called", extra={"verb": verb, "outcome": outcome, "seconds": round(seconds, 4)})


def _heard(pieces: Iterator[Any], trace: Trace, end: Callable[[str], None]) -> Iterator[Any]:
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
            end(outcome)


def _outcome(error: BaseException) -> str:
    return error.code if isinstance(error, MnemicError) else "failed"
