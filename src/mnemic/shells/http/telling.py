"""How an error leaves the server: as problem details (RFC 9457), unless the door that was called has a way of its own.

A door for clients of another system names the paths that are its own, and how it tells an error there. Nothing of an
error that nobody foresaw is told but the id of the request, under which the log has it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from mnemic.errors import AccessError, InputError, MnemicError, NotFoundError, RateError
from mnemic.shells.http.bodies import MediaTypeError
from mnemic.wire.problems import MEDIA_TYPE, problem_of

Teller = Callable[[MnemicError, int, str], Response]
"""Tells an error: it gets the error, the HTTP status that is meant, and the id of the request."""

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class MethodError(InputError):
    """The path is there, and takes other methods: `allow` has them."""

    def __init__(self, method: str, allow: Collection[str]) -> None:
        told = ", ".join(each for each in METHODS if each in allow)
        super().__init__("method", f"{method[:20]} is not taken here; this path takes {told}", allow=told)


class MisdirectedError(AccessError):
    """The request was meant for another host than this one answers for."""


_STATUS: Final[Mapping[type[MnemicError], int]] = {MediaTypeError: 415, MethodError: 405, MisdirectedError: 421}
"""The status of errors that only HTTP has; the others' is that of their code."""

_UNFORESEEN: Final = "something went wrong that was not foreseen; the log of the server has it under the request's id"


def unforeseen() -> MnemicError:
    """Return what is told of an error that nobody foresaw."""
    return MnemicError(_UNFORESEEN)


def register(app: FastAPI, prefix: str, teller: Teller) -> None:
    """Let errors below a path be told in another way. Doors call this; the longest prefix counts."""
    app.state.tellers = {**getattr(app.state, "tellers", {}), prefix: teller}


def refusal(scope: Scope, error: MnemicError, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response that tells an error to who made the request."""
    request_id = str(scope.get("state", {}).get("request_id", ""))
    problem = problem_of(error, request=request_id)
    status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), problem["status"])
    teller = _teller(scope)
    response = _problem(problem, status) if teller is None else teller(error, status, request_id)
    response.headers.update(_beside(error, status))
    response.headers.update(headers or {})
    return response


def _teller(scope: Scope) -> Teller | None:
    app = scope.get("app")
    tellers: Mapping[str, Teller] = getattr(getattr(app, "state", None), "tellers", {})
    path = str(scope.get("path", ""))
    found = [prefix for prefix in tellers if path == prefix or path.startswith(prefix.rstrip("/") + "/")]
    return tellers[max(found, key=len)] if found else None


def _problem(problem: Mapping[str, Any], status: int) -> Response:
    told = {**problem, "status": status, "title": HTTPStatus(status).phrase}
    body = json.dumps(told, default=str).encode("ascii")
    return Response(body, status, media_type=MEDIA_TYPE)


def _beside(error: MnemicError, status: int) -> dict[str, str]:
    """Return the headers that belong to an error."""
    found: dict[str, str] = {}
    after = error.fields.get("retry_after")
    if isinstance(after, int | float) and not isinstance(after, bool) and status in (429, 503):
        found["Retry-After"] = str(max(1, math.ceil(after)))
    elif isinstance(error, RateError) or status == 503:
        found["Retry-After"] = "5"
    if isinstance(error, MethodError):
        found["Allow"] = str(error.fields["allow"])
    if status == 401:
        found["WWW-Authenticate"] = 'Bearer realm="mnemic"'
    return found


def install(app: FastAPI) -> None:
    """Let the app tell all its errors so."""
    app.add_exception_handler(MnemicError, _of_ours)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_fields)


async def _of_ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, MnemicError)  # noqa: S101 - it is registered for nothing else
    return refusal(request.scope, error)


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    headers = dict(error.headers or {})
    if error.status_code == 404:
        told: MnemicError = NotFoundError("there is nothing at this path; /openapi.json lists what there is")
    elif error.status_code == 405:
        headers.pop("Allow", None)  # of one of the routes that have this path
        told = MethodError(request.method, allowed_at(request.app, request.scope))
    else:
        told = InputError("body", str(error.detail))
    return refusal(request.scope, told, headers)


async def _of_fields(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    first = error.errors()[0]
    place = [str(part) if isinstance(part, int) else part for part in first["loc"] if part not in ("body", "query")]
    field = "".join(f"[{part}]" if part.isdigit() else f".{part}" for part in place).lstrip(".") or "body"
    return refusal(request.scope, InputError(field, str(first["msg"])))


def allowed_at(app: FastAPI, scope: Scope) -> list[str]:
    """Return the methods that a path takes."""
    found = []
    for method in METHODS:
        asked = {**scope, "method": method}
        if any(route.matches(asked)[0] is Match.FULL for route in app.router.routes):
            found.append(method)
    return found
