"""Whose time it is: this machine's, or, where several machines share a database, that of its server.

Leases are told by one worker and read by all: a machine whose clock is off must not take work from others.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemic.errors import StoreError

_log = logging.getLogger(__name__)

_AGAIN: Final = 60.0  # seconds between two looks at the server's clock


class SystemClock:
    """The machine's clock, never going back within the process."""

    def __init__(self) -> None:
        self._last = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        """Return the present moment."""
        self._last = max(self._last, datetime.now(UTC))
        return self._last


class WallClock:
    """The machine's clock as it is, put back when it is put back: what its processes tell each other, such as leases.

    One that was started before would take work from those started after, as long as its own time stood still.
    """

    def now(self) -> datetime:
        """Return the present moment."""
        return datetime.now(UTC)


class ServerClock:
    """A server's clock: asked now and then, and counted on from there by a clock that nobody can set."""

    def __init__(self, ask: Callable[[], datetime | None]) -> None:
        """`ask` returns the server's time. Raises what it raises when it cannot be asked the first time."""
        self._ask = ask
        self._last = datetime.min.replace(tzinfo=UTC)
        self._over = threading.Event()
        self._zero = self._measured()
        self._thread = threading.Thread(target=self._follow, name="mnemic-clock", daemon=True)
        self._thread.start()

    def now(self) -> datetime:
        """Return the present moment."""
        self._last = max(self._last, self._zero + timedelta(seconds=time.monotonic()))
        return self._last

    def close(self) -> None:
        """Ask no more."""
        self._over.set()
        self._thread.join()

    def _measured(self) -> datetime:
        """Return what the server's clock showed when the monotonic one was at zero."""
        before = time.monotonic()
        told = self._ask() or datetime.now(UTC)
        return told - timedelta(seconds=(before + time.monotonic()) / 2)

    def _follow(self) -> None:
        while not self._over.wait(_AGAIN):
            try:
                self._zero = self._measured()
            except StoreError as error:  # the time goes on from what is known
                _log.warning("server_clock_not_read", extra={"reason": str(error)})
