"""The protocol over streamable HTTP: an application for one path, such as `/mcp`, of a server that knows who calls.

Each request stands for itself: no session is kept, so any process may answer it. The server around it checks keys and
leaves the `Caller` in the request's state; a request without one is refused. Host and Origin are checked here too.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import unquote

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemic.api import Memory, Threads
from mnemic.errors import KeyRefusedError, MnemicError
from mnemic.model.caller import Caller
from mnemic.shells.mcp.place import Place, of_caller
from mnemic.shells.mcp.server import Request, build
from mnemic.wire.problems import STATUS, plain_error

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
"""Names under which a machine addresses itself."""

USER_HEADER: Final = "x-mnemic-user"
"""For whom a client calls whose key leaves that open; percent-encoded where it is not ASCII."""

REFUSED: Final = "refused"
"""Where, in the request's state, the server around leaves why it did not take a key."""

_PLACE: Final = "mcp_place"
_UNAUTHORIZED: Final = -32_001  # of the range that JSON-RPC leaves to implementations
_SDK_LOG: Final = "mcp.server.streamable_http_manager"


def mounted(
    memory: Memory,
    threads: Threads,
    *,
    user: str | None = None,
    hosts: Sequence[str] | None = LOOPBACK,
    tools: str = "all",
) -> ASGIApp:
    """Return the application. Route its path to it without a redirect, and with every method.

    `user` is for whom somebody calls whose key leaves that open and who names nobody. `hosts` are the names under which
    the server may be addressed, with any port; None when the server around has checked that.
    """
    logging.getLogger(_SDK_LOG).setLevel(logging.WARNING)  # it tells of a beginning and an end at every request
    return _Mounted(build(lambda: memory, threads, place_of=_place_of, tools=tools), _security(hosts), user)


class _Mounted:
    def __init__(self, server: Server[Any], security: TransportSecuritySettings, user: str | None) -> None:
        self._server = server
        self._security = security
        self._user = user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise RuntimeError(f"this application answers HTTP, not {scope['type']}")
        if scope["method"] != "POST":  # there is no stream to open, and no session to end
            answer = _error(405, types.INVALID_REQUEST, "this address takes POST only", {"allow": "POST"})
            await answer(scope, receive, send)
            return
        try:
            place = self._place(scope)
        except MnemicError as error:
            await refusal(error)(scope, receive, send)
            return
        scope["state"] = {**scope.get("state", {}), _PLACE: place}
        manager = StreamableHTTPSessionManager(self._server, stateless=True, security_settings=self._security)
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    def _place(self, scope: Scope) -> Place:
        state = scope.get("state", {})
        caller = state.get("caller")
        if not isinstance(caller, Caller):
            refused = state.get(REFUSED)
            raise refused if isinstance(refused, MnemicError) else KeyRefusedError("this server needs a key")
        named = Headers(scope=scope).get(USER_HEADER)
        if named is not None:
            return of_caller(caller, unquote(named))
        return of_caller(caller, self._user if caller.users is None else None)


def refusal(error: MnemicError, status: int | None = None) -> Response:
    """Return an error as an answer whose message clients show: a JSON-RPC error with its HTTP status."""
    status = status or STATUS[error.code]
    headers = {"www-authenticate": 'Bearer realm="mnemic"'} if status == 401 else {}
    if (after := error.fields.get("retry_after")) is not None:
        headers["retry-after"] = str(after)
    code = _UNAUTHORIZED if status in (401, 403) else types.INVALID_REQUEST
    return _error(status, code, f"{error.code}: {error}", headers, plain_error(error))


def _error(status: int, code: int, message: str, headers: dict[str, str], data: Any = None) -> Response:
    body = types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=code, message=message, data=data))
    text = body.model_dump_json(by_alias=True, exclude_none=False)
    return Response(text, status_code=status, media_type="application/json", headers=headers)


def _place_of(request: Request) -> Place:
    place: Place = request.request.scope["state"][_PLACE]  # type: ignore[union-attr]  # it came over HTTP
    return place


def _security(hosts: Sequence[str] | None) -> TransportSecuritySettings:
    if hosts is None:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = [name for host in hosts for name in (host, f"{host}:*")]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins)
