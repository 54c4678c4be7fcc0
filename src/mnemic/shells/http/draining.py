"""Whether the server takes on work or is shutting down, and what is still going on in it.

Everything here happens on the event loop: there is nothing to lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from mnemic.errors import BusyError

AGAIN: Final = 5
"""Seconds after which a call that came while the server shuts down may be tried again."""


class Draining:
    """Counts the requests that are going on; once begun, streams are told and new calls are refused."""

    def __init__(self) -> None:
        self.begun = False
        self.running = 0
        self._tell: set[Callable[[], None]] = set()

    def begin(self) -> None:
        """Take on no more, and tell those that may go on for long."""
        if not self.begun:
            self.begun = True
            for tell in list(self._tell):
                tell()

    def refusal(self) -> BusyError:
        """Return what is told to those that come too late."""
        return BusyError("the server is shutting down; nothing was done", retry_after=AGAIN)

    def farewell(self) -> BusyError:
        """Return what is told to a stream that is open."""
        return BusyError("the server is shutting down, and the stream ends here; open it again", retry_after=AGAIN)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Count a request for as long as the block runs."""
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1

    @contextmanager
    def told(self, tell: Callable[[], None]) -> Iterator[None]:
        """Call this when draining begins while the block runs; at once when it has begun."""
        self._tell.add(tell)
        if self.begun:
            tell()
        try:
            yield
        finally:
            self._tell.discard(tell)
