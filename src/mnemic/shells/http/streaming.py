"""Answers that come piece by piece: server-sent events (WHATWG HTML, 9.2), and lines of JSON.

A stream tells truthfully how it ends: events end with an `error` event when something failed, lines with a cut
connection. A client that leaves, and a server that shuts down, end the work behind it.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemic.api.threads import Pieces
from mnemic.errors import MnemicError
from mnemic.model.answer import Answer
from mnemic.model.job import Job, cursor_of
from mnemic.shells.http.draining import Draining
from mnemic.shells.http.telling import refusal, unforeseen
from mnemic.wire.problems import problem_of
from mnemic.wire.values import plain

_log = logging.getLogger(__name__)

KEEP_ALIVE: Final = 15.0
"""Seconds of silence after which a comment is sent, so that nothing on the way takes the connection for dead."""

EVENTS: Final = "text/event-stream; charset=utf-8"
"""The type of events, charset included: clients that follow HTTP to the letter take text without one for Latin-1."""

_COMMENT: Final = b": still here\n\n"
_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name, its data as JSON can hold it, and where to go on behind it."""

    name: str
    data: Any
    id: str = ""

    def encode(self) -> bytes:
        """Return it as it travels: pure ASCII, so that no client takes a character inside for the end of a line."""
        told = f"id: {self.id}\n" if self.id else ""
        return f"{told}event: {self.name}\ndata: {json.dumps(self.data)}\n\n".encode("ascii")


def event_of(piece: Any) -> Event:
    """Return the event that tells of a piece of one of our streams."""
    if isinstance(piece, str):
        return Event("text", {"text": piece})
    if isinstance(piece, Answer):
        return Event("answer", plain(piece))
    if isinstance(piece, Job):
        return Event("job", plain(piece), id=cursor_of(piece))
    return Event("item", plain(piece))


@dataclass(frozen=True, slots=True)
class Manner:
    """How a stream tells its pieces, an error (with the id of the request), and its end."""

    piece: Callable[[Any], bytes]
    error: Callable[[MnemicError, str], bytes]
    end: bytes = b""


def _piece(piece: Any) -> bytes:
    return event_of(piece).encode()


def _error(error: MnemicError, request_id: str) -> bytes:
    return Event("error", problem_of(error, request=request_id)).encode()


OURS: Final = Manner(_piece, _error)
"""How our own streams are told."""

_Heard = bytes | MnemicError | None
"""What comes out of a stream: a piece, the error that ends it, or its end."""


class EventStream(Response):
    """Sends events until the pieces end, the client leaves, or the server shuts down; then `left` is set.

    A door for other clients has a `manner` of its own.

    With `patient`, the first piece is awaited for a moment before anything is sent, so that a refusal has a status.
    """

    def __init__(
        self,
        pieces: Pieces[Any],
        *,
        left: threading.Event,
        draining: Draining,
        patient: bool = False,
        manner: Manner = OURS,
    ) -> None:
        super().__init__(None, 200, _HEADERS, media_type=EVENTS)
        del self.headers["content-length"]
        self._pieces = pieces
        self._left = left
        self._draining = draining
        self._patient = patient
        self._manner = manner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what comes."""
        put, heard = anyio.create_memory_object_stream[_Heard](1)
        over = anyio.Event()
        try:
            async with anyio.create_task_group() as group, put, heard:
                group.start_soon(self._pump, put)
                group.start_soon(until_left, receive, self._left, group.cancel_scope)
                group.start_soon(self._until_drained, over, put.clone())
                with self._draining.told(over.set):
                    await self._send(heard, scope, receive, send)
                self._left.set()
                group.cancel_scope.cancel()
        finally:
            self._left.set()
            await self._pieces.aclose()

    async def _send(self, heard: ObjectReceiveStream[_Heard], scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        begun = not self._patient
        if begun:
            await send(start)
        while True:
            found: _Heard = None
            with anyio.move_on_after(KEEP_ALIVE) as silence:
                found = await heard.receive()
            if isinstance(found, MnemicError) and not begun:
                await refusal(scope, found)(scope, receive, send)
                return
            if not begun:
                await send(start)
                begun = True
            body = _COMMENT if silence.cancelled_caught else self._told(found, scope)
            is_over = not silence.cancelled_caught and not isinstance(found, bytes)
            await send({"type": "http.response.body", "body": body, "more_body": not is_over})
            if is_over:
                return

    async def _pump(self, put: ObjectSendStream[_Heard]) -> None:
        """Put each piece as an event, then what ends them."""
        last: _Heard = None
        try:
            async for piece in self._pieces:
                await put.send(self._manner.piece(piece))
        except MnemicError as error:
            last = error
        except Exception:  # noqa: BLE001 - boundary: request handler, of a stream that may have begun
            _log.exception("stream_failed")
            last = unforeseen()
        await put.send(last)

    async def _until_drained(self, over: anyio.Event, put: ObjectSendStream[_Heard]) -> None:
        async with put:
            await over.wait()
            self._left.set()
            await put.send(self._draining.farewell())

    def _told(self, found: _Heard, scope: Scope) -> bytes:
        if isinstance(found, MnemicError):
            return self._manner.error(found, str(scope.get("state", {}).get("request_id", "")))
        return self._manner.end if found is None else found


class LineStream(Response):
    """Sends lines; when something fails in the middle, the connection is cut: no half is taken for the whole."""

    def __init__(self, pieces: Pieces[bytes], *, first: bytes, left: threading.Event, media_type: str) -> None:
        super().__init__(None, 200, _HEADERS, media_type=media_type)
        del self.headers["content-length"]
        self._pieces = pieces
        self._first = first
        self._left = left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send what comes."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(until_left, receive, self._left, group.cancel_scope)
                await self._send(send)
                group.cancel_scope.cancel()
        finally:
            self._left.set()
            await self._pieces.aclose()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.body", "body": self._first, "more_body": True})
        try:
            async for piece in self._pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except MnemicError as error:
            _log.warning("stream_cut", extra={"reason": str(error)})
            return  # without an end: the connection is closed in the middle of the body
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def until_left(receive: Receive, left: threading.Event, scope: anyio.CancelScope) -> None:
    """Wait until the client has left, then say so to the work on threads, and end the scope."""
    while (await receive())["type"] != "http.disconnect":
        pass
    left.set()
    scope.cancel()
