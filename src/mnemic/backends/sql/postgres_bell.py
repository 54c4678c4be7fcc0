"""Waking workers in all processes that share a PostgreSQL server: LISTEN and NOTIFY on one connection of its own.

Rings are gathered and sent by a thread, so that who rings waits for nothing; listeners of this process hear them at
once. The connection is made when it is first needed and again, after a pause, when it breaks. What is lost meanwhile
nobody hears: who waits for work looks by itself now and then (`ports.queue.Bell`).
"""

from __future__ import annotations

import logging
import os
import selectors
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any, Final

from mnemic.backends.sql.bell import LocalBell, Wake
from mnemic.model.job import LANES

_log = logging.getLogger(__name__)

CHANNEL: Final = "mnemic"

_FIRST_PAUSE: Final = 0.2  # seconds before connecting again; doubled each time
_LONGEST_PAUSE: Final = 10.0
_GATHER: Final = 0.005  # seconds between two notices: the server sends one after the other, of all its processes
_PATIENCE: Final = 5  # seconds that closing waits for the thread


class PostgresBell:
    """Implements `ports.queue.Bell`."""

    def __init__(self, connect: Callable[[], Any], broken: type[Exception]) -> None:
        """`connect` makes a connection in autocommit mode; `broken` is what the driver raises."""
        self._connect = connect
        self._broken = broken
        self._here = LocalBell()
        self._lock = threading.Lock()
        self._pending: set[str] = set()
        self._listening = False
        self._closed = False
        self._was_lost = False
        self._thread: threading.Thread | None = None
        self._wakes: tuple[int, int] | None = None  # the ends of a pipe that wakes the thread

    def ring(self, lanes: Collection[str]) -> None:
        """Say that rows of these lanes were committed: here at once, to other processes soon."""
        self._here.ring(lanes)
        with self._lock:
            if not self._closed:
                self._pending.update(lanes)
                self._go()

    def listen(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` with lanes at each ring of any process; return what ends it."""
        leave = self._here.listen(wake)
        with self._lock:
            self._listening = True
            if not self._closed:
                self._go()
        return leave

    def close(self) -> None:
        """End the thread and its connection. Rings that are not sent yet are lost."""
        with self._lock:
            self._closed = True
            thread, wakes = self._thread, self._wakes
            if wakes is not None:
                _wake(wakes[1])
        if thread is not None and thread is not threading.current_thread():
            thread.join(_PATIENCE)

    def _go(self) -> None:
        """Wake the thread, which is started when there is none; the lock is held."""
        if self._wakes is None:
            self._wakes = os.pipe()
            os.set_blocking(self._wakes[0], False)
            os.set_blocking(self._wakes[1], False)
            self._thread = threading.Thread(target=self._run, args=self._wakes, name="mnemic-bell", daemon=True)
            self._thread.start()
        else:
            _wake(self._wakes[1])

    def _run(self, awake: int, waker: int) -> None:
        pause = _FIRST_PAUSE
        try:
            while not self._closed:
                begun = time.monotonic()
                try:
                    self._attend(awake)
                except (self._broken, OSError) as error:
                    _log.warning("bell_lost", extra={"reason": type(error).__name__})
                pause = _FIRST_PAUSE if time.monotonic() - begun > _LONGEST_PAUSE else min(2 * pause, _LONGEST_PAUSE)
                self._rest(awake, pause)
        finally:
            with self._lock:
                self._closed = True
                self._wakes = None
                os.close(awake)
                os.close(waker)

    def _attend(self, awake: int) -> None:
        """Connect, and carry rings to and fro until the bell is closed or the connection breaks."""
        connection = self._connect()
        if self._was_lost:
            self._here.ring(LANES)  # others may have rung meanwhile
        self._was_lost = True
        heard = False
        try:
            with selectors.DefaultSelector() as waiting:
                waiting.register(connection.fileno(), selectors.EVENT_READ)
                waiting.register(awake, selectors.EVENT_READ)
                while not self._closed:
                    if self._listening and not heard:
                        connection.execute(f"LISTEN {CHANNEL}")
                        heard = True
                    self._hear(connection)
                    if self._send(connection):
                        self._rest(awake, _GATHER)
                        continue
                    waiting.select()
                    _drain(awake)
        finally:
            connection.close()

    def _send(self, connection: Any) -> bool:
        """Send what was rung; tell whether that was anything."""
        with self._lock:
            lanes, self._pending = sorted(self._pending), set()
        if lanes:
            connection.execute("SELECT pg_notify(%s, %s)", [CHANNEL, ",".join(lanes)])
        return bool(lanes)

    def _hear(self, connection: Any) -> None:
        own = connection.info.backend_pid
        lanes: set[str] = set()
        for notice in connection.notifies(timeout=0):
            if notice.pid != own:  # those of this process were heard when they rang
                lanes.update(notice.payload.split(","))
        if lanes:
            self._here.ring(lanes)

    def _rest(self, awake: int, pause: float) -> None:
        """Wait before connecting again, no longer when the bell is closed."""
        end = time.monotonic() + pause
        with selectors.DefaultSelector() as waiting:
            waiting.register(awake, selectors.EVENT_READ)
            while not self._closed and (left := end - time.monotonic()) > 0:
                waiting.select(left)
                _drain(awake)


def _wake(waker: int) -> None:
    with suppress(BlockingIOError, OSError):  # a full pipe wakes as well
        os.write(waker, b"!")


def _drain(awake: int) -> None:
    with suppress(BlockingIOError):
        while os.read(awake, 4096):
            pass
