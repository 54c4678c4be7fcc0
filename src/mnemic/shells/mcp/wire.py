"""The standard streams of a process that speaks the protocol: nothing but the protocol may be on stdout.

The two descriptors are taken before anything else runs: from then on descriptor 1 is stderr, so that whatever a library
prints, in Python or below it, goes there; and descriptor 0 is empty. They are not given back.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import BinaryIO, Final

_WAITING: Final = 256  # lines that were read and not looked at yet


@dataclass(frozen=True, slots=True)
class Wire:
    """What the client writes to us, and what we write to it."""

    incoming: BinaryIO
    outgoing: BinaryIO


def claim() -> Wire:
    """Take the standard streams away from everyone else in this process."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no stderr
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    return Wire(os.fdopen(incoming, "rb"), os.fdopen(outgoing, "wb"))


class Lines:
    """The lines of a stream for an event loop. A thread reads them, which never keeps the process from ending."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        room = threading.Semaphore(_WAITING)

        def read() -> None:
            while True:
                try:
                    line = self._stream.readline()
                except (OSError, ValueError):  # it was closed under us
                    line = b""
                room.acquire()
                try:
                    loop.call_soon_threadsafe(queue.put_nowait, line)
                except RuntimeError:  # the loop has ended
                    return
                if not line:
                    return

        threading.Thread(target=read, name="mnemic-mcp-lines", daemon=True).start()
        while line := await queue.get():
            room.release()
            yield line.decode("utf-8", "replace")
