"""Waking who waits for jobs: inside this process only. Another process looks by itself now and then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection

Wake = Callable[[Collection[str]], None]


class LocalBell:
    """Implements `ports.queue.Bell` for the threads of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: list[Wake] = []

    def ring(self, lanes: Collection[str]) -> None:
        """Say that rows of these lanes were committed."""
        with self._lock:
            listeners = list(self._listeners)
        for wake in listeners:
            wake(lanes)

    def listen(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` at each ring; return what ends it."""
        with self._lock:
            self._listeners.append(wake)

        def leave() -> None:
            with self._lock:
                self._listeners.remove(wake)

        return leave
