"""Whose call the work of this moment is: the reach of a key, from the door it came through to where cubes are found.

A context variable, as a call's name is (`mnemic.tracing`). Only `mnemic.services.scoping` reads it to decide.
"""

from __future__ import annotations

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
