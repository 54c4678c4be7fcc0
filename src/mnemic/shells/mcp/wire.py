"""The standard streams of a process that speaks the protocol: nothing but the protocol may be on stdout.

The two descriptors are taken before anything else runs: from then on descriptor 1 is stderr, so that whatever a library
prints, in Python or below it, goes there; and descriptor 0 is empty. They are not given back.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import BinaryIO, Final

import anyio
import anyio.to_thread

LAST_WORDS: Final = 1.0
"""Seconds for which answers still go out after the client has closed its side; clients wait two before they kill."""

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


class Conversation:
    """Both directions of a wire for an event loop, as the SDK takes files: lines that are read, texts that are written.

    A thread reads, which never keeps the process from ending. When the client closes its side, what it asked before is
    still answered, for a moment: the end of the lines comes after that.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._asked: set[str] = set()
        self._answered = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        room = threading.Semaphore(_WAITING)
        given = (loop, queue, room)
        threading.Thread(target=self._read, args=given, name="mnemic-mcp-lines", daemon=True).start()
        while line := await queue.get():
            room.release()
            if (name := _id_of(line, "method")) is not None:
                self._asked.add(name)
            yield line.decode("utf-8", "replace")
        with anyio.move_on_after(LAST_WORDS):
            while self._asked:
                self._answered.clear()
                await self._answered.wait()

    async def write(self, text: str) -> None:
        """Write a message with the end of its line."""
        content = text.encode("utf-8", "replace")
        await anyio.to_thread.run_sync(self._send, content)
        name = _id_of(content, "result") or _id_of(content, "error")
        if name is not None:
            self._asked.discard(name)
            self._answered.set()

    async def flush(self) -> None:
        """Do nothing: what is written is on its way."""

    def _send(self, content: bytes) -> None:
        self._wire.outgoing.write(content)
        self._wire.outgoing.flush()

    def _read(self, loop: asyncio.AbstractEventLoop, queue: asyncio.Queue[bytes], room: threading.Semaphore) -> None:
        while True:
            try:
                line = self._wire.incoming.readline()
            except (OSError, ValueError):  # it was closed under us
                line = b""
            room.acquire()
            try:
                loop.call_soon_threadsafe(queue.put_nowait, line)
            except RuntimeError:  # the loop has ended
                return
            if not line:
                return


def _id_of(line: bytes, field: str) -> str | None:
    """Return the id of a message that has a field, as JSON writes it; None for any other line."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict) or field not in message or message.get("id") is None:
        return None
    return json.dumps(message["id"])
