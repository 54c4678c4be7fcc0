"""Whose call the work of this moment is: the reach of a key, from the door it came through to where cubes are found.

Context variables, as a call's name is (`mnemic.tracing`). Only `mnemic.services.scoping` decides by the caller. What
waits for long looks whether its caller has left, and then ends. Beside the caller stands what is to be written down of
the call (`mnemic.services.audit`), and whether it is carried out once only (`mnemic.services.once`).
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, TypeVar

from mnemic.model.caller import Caller

T = TypeVar("T")


@dataclass(slots=True)
class Call:
    """A verb that somebody named has called. Scoping fills in for whom it is and which cube it is about.

    `hidden`: it asked for a cube that is not visible to its user. `row` is the row of the audit that tells of it.
    """

    who: Caller
    verb: str
    writes: bool
    user: str | None = None
    cube: str | None = None
    hidden: bool = False
    row: str | None = None


@dataclass(slots=True)
class Attempt:
    """One try of a call that is to be carried out once only. `begun`: what it wrote first is stored, with its token.

    `cubes` are those that it is about; scoping fills them in.
    """

    key: str
    token: str
    digest: str
    begun: bool = False
    cubes: set[str] = field(default_factory=set)

    @property
    def cube(self) -> str:
        """The one cube that it is about; "" for none or several."""
        return next(iter(self.cubes)) if len(self.cubes) == 1 else ""


_CURRENT: Final[ContextVar[Caller | None]] = ContextVar("mnemic_caller", default=None)
_CALL: Final[ContextVar[Call | None]] = ContextVar("mnemic_call", default=None)
_ATTEMPT: Final[ContextVar[Attempt | None]] = ContextVar("mnemic_attempt", default=None)


def caller() -> Caller | None:
    """Return whose call this is; None when nobody has said so, as in a program that has the memory to itself."""
    return _CURRENT.get()


def call() -> Call | None:
    """Return the call that is to be written down; None when nobody named has made one."""
    return _CALL.get()


def attempt() -> Attempt | None:
    """Return the try of a call that is to be carried out once only; None for all others."""
    return _ATTEMPT.get()


@contextmanager
def acting(who: Caller | None) -> Iterator[None]:
    """Do what the block does for this caller; None does it for nobody, as background work is done."""
    token = _CURRENT.set(who)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def calling(made: Call | None) -> Iterator[None]:
    """Do what the block does as this call."""
    token = _CALL.set(made)
    try:
        yield
    finally:
        _CALL.reset(token)


@contextmanager
def attempting(tried: Attempt | None) -> Iterator[None]:
    """Do what the block does as this try."""
    token = _ATTEMPT.set(tried)
    try:
        yield
    finally:
        _ATTEMPT.reset(token)


@contextmanager
def aside() -> Iterator[None]:
    """Do what the block does for nobody, and as no part of the call that goes on: others' work, or our own notes."""
    with acting(None), calling(None), attempting(None):
        yield


def carried(made: Call, pieces: Iterator[T]) -> Generator[T, None, None]:
    """Yield what comes, with each piece made as the call and for its caller; between them nothing is."""
    try:
        while True:
            with acting(made.who), calling(made):
                try:
                    piece = next(pieces)
                except StopIteration:
                    return
            yield piece
    finally:
        close = getattr(pieces, "close", None)
        if close is not None:
            with acting(made.who), calling(made):
                close()


_LEFT: Final[ContextVar[threading.Event | None]] = ContextVar("mnemic_left", default=None)


def left() -> bool:
    """Tell whether nobody waits any more for what is done at this moment."""
    told = _LEFT.get()
    return told is not None and told.is_set()


@contextmanager
def until(told: threading.Event | None) -> Iterator[None]:
    """Do what the block does until this is set, which says that nobody waits for it any more."""
    token = _LEFT.set(told)
    try:
        yield
    finally:
        _LEFT.reset(token)


def act_for(who: Caller | None, told: threading.Event | None = None) -> None:
    """Let all that follows in this context be done for a caller, until `told` is set: for a context of its own."""
    _CURRENT.set(who)
    _LEFT.set(told)
