"""Whose call the work of this moment is: the reach of a key, from the door it came through to where cubes are found.

Context variables, as a call's name is (`mnemic.tracing`). Only `mnemic.services.scoping` decides by the caller. What
waits for long looks whether its caller has left, and then ends.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from mnemic.model.caller import Caller

_CURRENT: Final[ContextVar[Caller | None]] = ContextVar("mnemic_caller", default=None)


def caller() -> Caller | None:
    """Return whose call this is; None when nobody has said so, as in a program that has the memory to itself."""
    return _CURRENT.get()


@contextmanager
def acting(who: Caller | None) -> Iterator[None]:
    """Do what the block does for this caller; None does it for nobody, as background work is done."""
    token = _CURRENT.set(who)
    try:
        yield
    finally:
        _CURRENT.reset(token)


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
