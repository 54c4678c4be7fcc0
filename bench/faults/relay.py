"""A relay between processes and a server on loopback, which can be cut: connections break, new ones are refused."""

from __future__ import annotations

import selectors
import socket
import threading
from contextlib import suppress
from typing import Final, Self

_CHUNK: Final = 65_536


class Relay:
    """Passes bytes on both ways on one thread, as long as it is not cut."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._lock = threading.Lock()
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listener.getsockname()[1])
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._over = False
        self._cut = False
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._thread.join()
        self.cut()
        self._selector.close()
        self._listener.close()

    def cut(self) -> None:
        """Break all connections, and take no new ones."""
        with self._lock:
            self._cut = True
            for end in list(self._pairs):
                self._drop(end)

    def mend(self) -> None:
        """Take connections again."""
        with self._lock:
            self._cut = False

    def _run(self) -> None:
        while not self._over:
            for key, _ in self._selector.select(0.05):
                with self._lock:
                    if key.fileobj is self._listener:
                        self._take()
                    elif isinstance(key.fileobj, socket.socket) and key.fileobj in self._pairs:
                        self._pass_on(key.fileobj)

    def _take(self) -> None:
        here, _ = self._listener.accept()
        try:
            if self._cut:
                raise ConnectionRefusedError
            there = socket.create_connection(("127.0.0.1", self._target), timeout=5)
        except OSError:
            here.close()
            return
        for end, other in ((here, there), (there, here)):
            end.settimeout(5)
            self._pairs[end] = other
            self._selector.register(end, selectors.EVENT_READ)

    def _pass_on(self, end: socket.socket) -> None:
        try:
            data = end.recv(_CHUNK)
            if data:
                self._pairs[end].sendall(data)
        except OSError:
            data = b""
        if not data:
            self._drop(end)

    def _drop(self, end: socket.socket) -> None:
        other = self._pairs.pop(end, None)
        for each in (end, other):
            if each is None:
                continue
            self._pairs.pop(each, None)
            with suppress(KeyError, ValueError):
                self._selector.unregister(each)
            each.close()
