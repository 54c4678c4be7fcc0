"""Serves an app on an address until the process is told to end, and then in order: no new work, what runs ends, out.

It takes on connections while it drains, so that who routes to it is told that it is no longer ready.
"""

from __future__ import annotations

import ctypes
import logging
import platform
import socket
import time
from types import FrameType
from typing import Final

import uvicorn
from fastapi import FastAPI

from mnemic.errors import InputError
from mnemic.shells.http.draining import Draining

_log = logging.getLogger(__name__)

PATIENCE: Final = 30.0
"""Seconds that what runs has to end after the process is told to; then it is left."""

_SETTLE: Final = 5  # seconds that connections have to close after that
_BACKLOG: Final = 512  # connections that the system holds until they are taken on
_HEAPS: Final = 2  # that all threads share; by itself glibc makes eight for each processor
_M_ARENA_MAX: Final = -8  # the name of that limit in glibc's malloc.h


def share_heaps() -> None:
    """Keep glibc from making a heap for each thread, of which each holds on to what it freed (mallopt(3))."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _HEAPS)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 is any free one. Raises `InputError` for one that is not to be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError("host", f"{host!r} is no address that can be listened on: {error}") from error
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        found.close()
        told = f"{host}:{port} cannot be listened on: {error}; name another with --port, 0 is any free one"
        raise InputError("port", told) from error
    return found


def address_of(listener: socket.socket) -> str:
    """Return the address of a socket, such as http://127.0.0.1:8765."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server(uvicorn.Server):
    """Serves until it is told to end by a signal, or by `end`. A second signal ends it at once."""

    def __init__(self, app: FastAPI, *, patience: float = PATIENCE) -> None:
        self._draining: Draining = app.state.draining
        self._patience = patience
        self._deadline: float | None = None
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                timeout_graceful_shutdown=_SETTLE,
            )
        )

    def end(self) -> None:
        """Begin to end, from any thread."""
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - its base's signature
        """Begin to end; at once when it was told before. The signal is not raised again: the end is an orderly one."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Tell whether it is over; called every tenth of a second."""
        over = await super().on_tick(counter)
        if not over or self.force_exit:
            return over
        if self._deadline is None:
            _log.info("server_draining", extra={"running": self._draining.running})
            self._deadline = time.monotonic() + self._patience
            self._draining.begin()
            return False  # streams get a moment to say goodbye
        return self._draining.running == 0 or time.monotonic() > self._deadline

    def serve_on(self, listener: socket.socket) -> None:
        """Serve on this socket until it is over."""
        self.run(sockets=[listener])
