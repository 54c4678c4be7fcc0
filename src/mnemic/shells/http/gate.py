"""Who is let in: each request gets its caller here, or is refused before anything reads it.

While no key exists, only this machine is served, and nothing that a page of another site has sent: neither by a name
that was bent to this address (DNS rebinding), nor as a cross-site request. With a key, the key decides. Pages of other
origins may call only when the settings name their origin (CORS).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Collection
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemic.api.threads import Threads
from mnemic.errors import AccessError, KeyRefusedError, MnemicError
from mnemic.model.caller import Caller
from mnemic.shells.http.draining import Draining
from mnemic.shells.http.telling import MisdirectedError, refusal

OPEN: Final = frozenset({"/", "/health", "/ready", "/openapi.json", "/favicon.ico"})
"""Paths that tell nothing of anybody, and need no key."""

_EXPOSED: Final = "X-Request-Id, ETag, Retry-After, Idempotent-Replayed"
_ALLOWED: Final = (
    "Authorization, Content-Type, X-API-Key, X-Request-Id, Idempotency-Key, If-Match, Last-Event-ID, Accept"
)
_METHODS: Final = "GET, POST, PUT, PATCH, DELETE"
_SCHEMES: Final = ("bearer", "token")


class Gate:
    """Finds the caller of each request. `caller_of` may block."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        caller_of: Callable[[str | None], Caller],
        threads: Threads,
        draining: Draining,
        origins: Collection[str] = (),
    ) -> None:
        self._app = app
        self._caller_of = caller_of
        self._threads = threads
        self._draining = draining
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or tell why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        allowed = origin is not None and origin in self._origins
        if allowed:
            send = _with_cors(send, str(origin))
            if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
                await _preflight()(scope, receive, send)
                return
        if scope["path"] not in OPEN:
            try:
                scope["state"]["caller"] = await self._caller(scope, headers, trusted=allowed)
            except MnemicError as error:
                await refusal(scope, error)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _caller(self, scope: Scope, headers: Headers, *, trusted: bool) -> Caller:
        if self._draining.begun and scope["path"] != "/metrics":
            raise self._draining.refusal()
        secret = secret_of(headers)
        caller = await self._threads.call(lambda: self._caller_of(secret))
        if caller.key is None:
            check_nearness(scope, headers, trusted=trusted)
        return caller


def secret_of(headers: Headers) -> str | None:
    """Return the key that a request came with. Raises `KeyRefusedError` for a header that holds none."""
    given = headers.get("authorization")
    if given is None:
        return headers.get("x-api-key")
    scheme, _, secret = given.strip().partition(" ")
    if scheme.lower() not in _SCHEMES or not secret.strip():
        raise KeyRefusedError("the header Authorization must be `Bearer KEY` (or `Token KEY`), or left out")
    return secret.strip()


def check_nearness(scope: Scope, headers: Headers, *, trusted: bool) -> None:
    """Raise `AccessError` unless a request without a key comes from this machine, and from no page of another site."""
    client = scope.get("client")
    if (client and not is_loopback(str(client[0]))) or "forwarded" in headers or "x-forwarded-for" in headers:
        raise AccessError(
            "without a key only this machine is served; make one there with `mnemic keys create` and send it as "
            "`Authorization: Bearer KEY`"
        )
    host = headers.get("host", "")
    if not is_loopback(host_of(host)):
        raise MisdirectedError(
            f"without a key this server answers only for localhost, not for {host[:100]!r}; make a key with "
            "`mnemic keys create`"
        )
    if trusted:
        return
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if (origin is not None and urlsplit(origin).netloc != host) or site in ("cross-site", "same-site"):
        raise AccessError(
            f"a page of another origin ({(origin or site or '')[:100]}) may not call without a key; the setting "
            "`serve_origins` allows some"
        )


def host_of(value: str) -> str:
    """Return the host of a header `Host`, without its port and brackets."""
    if value.startswith("["):
        return value[1:].partition("]")[0]
    return value.rpartition(":")[0] if value.count(":") == 1 else value


def is_loopback(host: str) -> bool:
    """Tell whether a name or an address is this machine's own, beyond doubt."""
    if host.lower() in ("localhost", "localhost."):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _preflight() -> Response:
    headers = {"Access-Control-Allow-Methods": _METHODS, "Access-Control-Allow-Headers": _ALLOWED}
    return Response(None, 204, {**headers, "Access-Control-Max-Age": "600"})


def _with_cors(send: Send, origin: str) -> Send:
    async def answered(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Expose-Headers"] = _EXPOSED
            headers["Cross-Origin-Resource-Policy"] = "cross-origin"
            headers.add_vary_header("Origin")
        await send(message)

    return answered
