"""What every request has around it: an id, a line in the log, the headers of every reply, a limit of its size.

Pure ASGI, so that streams pass as they come. An error that nobody foresaw ends here.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, MutableMapping
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemic.errors import TooLargeError, UnreachableError
from mnemic.ids import new_id
from mnemic.shells.http.bodies import LINES
from mnemic.shells.http.draining import Draining
from mnemic.shells.http.telling import refusal, unforeseen
from mnemic.tracing import tracing
from mnemic.wire.forms import FORM
from mnemic.wire.routes import BY_VERB, VERSION

_log = logging.getLogger(__name__)

REQUEST_ID: Final = "X-Request-Id"
"""The header that names a request: taken over when it is plain, made otherwise, and always sent back."""

_LEFT: Final = "the server shut down before the call had ended; whether it was carried out is not known"
_PLAIN: Final = re.compile(r"[\w.:-]{1,128}", re.ASCII)
_LOAD: Final = VERSION + BY_VERB["load"].path
_VERBS: Final = f"{VERSION}/".encode("ascii")
_QUIET: Final = frozenset({"/health", "/ready", "/metrics"})  # who watches asks every few seconds
_HEADERS: Final = {
    "Server": "mnemic",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


class Framing:
    """The outermost layer."""

    def __init__(self, app: ASGIApp, *, draining: Draining) -> None:
        self._app = app
        self._draining = draining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, and tell of it when it is over."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = asked if _PLAIN.fullmatch(asked) else new_id()
        scope.setdefault("state", {})["request_id"] = request_id
        scope["path"] = canonical(scope)
        reply = _Reply(send, request_id)
        began = time.perf_counter()
        with tracing(request_id), self._draining.going_on():
            try:
                await self._app(scope, receive, reply.send)
            except asyncio.CancelledError:  # the server ends, and has waited long enough
                if reply.status:
                    raise
                await refusal(scope, UnreachableError(_LEFT))(scope, receive, reply.send)
            except Exception:  # noqa: BLE001 - boundary: request handler
                _log.exception("request_failed", extra=_place(scope))
                if not reply.status:
                    await refusal(scope, unforeseen())(scope, receive, reply.send)
            finally:
                _tell(scope, reply, time.perf_counter() - began)


class _Reply:
    """What goes back: it gets the headers of every reply, and is counted."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0
        self.size = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers[REQUEST_ID] = self._request_id
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        elif message["type"] == "http.response.body":
            self.size += len(message.get("body", b""))
        await self._send(message)


def canonical(scope: Scope) -> str:
    """Return the path of a verb with each part percent-encoded in one way, so that an id may hold a slash."""
    raw = scope.get("raw_path")
    if not raw or b"%" not in raw or not raw.startswith(_VERBS):
        return str(scope["path"])
    parts = raw.partition(b"?")[0].decode("latin-1").split("/")
    return "/".join(quote(unquote_to_bytes(part), safe="") for part in parts)


def _place(scope: Scope) -> dict[str, Any]:
    """Return where a request went, without what its caller put into the path."""
    return {"method": scope["method"], "route": scope["state"].get("route", "none")}


def _tell(scope: Scope, reply: _Reply, seconds: float) -> None:
    level = logging.DEBUG if scope["path"] in _QUIET else logging.INFO
    if _log.isEnabledFor(level):
        caller = scope["state"].get("caller")
        told: MutableMapping[str, Any] = {**_place(scope), "status": reply.status, "bytes": reply.size}
        told["seconds"] = round(seconds, 4)
        if caller is not None and caller.key is not None:
            told["by"] = caller.key
        _log.log(level, "answered", extra=told)


class Sizes:
    """Refuses bodies that are too large: at once when their length is told, else when they have grown so long."""

    def __init__(
        self, app: ASGIApp, *, most: int, most_lines: int, most_files: int, takes_files: Callable[[str], bool]
    ) -> None:
        """`most` bytes of a body, `most_lines` of one that comes as lines, `most_files` of a form with files."""
        self._app = app
        self._most = most
        self._most_lines = most_lines
        self._most_files = most_files
        self._takes_files = takes_files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through whose body is within the limit."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        most = self._most_of(headers.get("content-type", "").partition(";")[0].strip().lower(), str(scope["path"]))
        told = headers.get("content-length", "")
        if told.isdecimal() and int(told[:20]) > most:
            await refusal(scope, self._too_large(most), {"Connection": "close"})(scope, receive, send)
            return
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise self._too_large(most)
            return message

        await self._app(scope, limited, send)

    def _most_of(self, media: str, path: str) -> int:
        if media == LINES and path == _LOAD:
            return self._most_lines
        return self._most_files if media == FORM and self._takes_files(path) else self._most

    def _too_large(self, most: int) -> TooLargeError:
        told = f"has more than {most / 1e6:g} MB, which is all that is taken at once; send less"
        per = "form" if most == self._most_files else "request"
        return TooLargeError("body", told, most_bytes=most, per=per)
