"""Errors as they travel: RFC 9457 problem details with our code, and back into the same error on the other side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from mnemic import errors
from mnemic.errors import InputError, InputFaults, MnemicError, UnreachableError
from mnemic.wire.values import plain

MEDIA_TYPE: Final = "application/problem+json"
"""The content type of a problem (RFC 9457)."""

TYPE: Final = "urn:mnemic:error:"
"""What the type of a problem begins with; the code follows."""

STATUS: Final[Mapping[str, int]] = {
    "invalid_input": 422,
    "too_large": 413,
    "not_found": 404,
    "conflict": 409,
    "stale": 412,
    "forbidden": 403,
    "unauthenticated": 401,
    "rate_limited": 429,
    "busy": 503,
    "wait_timeout": 504,
    "job_failed": 409,
    "budget_spent": 429,
    "language_model_failed": 502,
    "embedder_failed": 502,
    "model_failed": 502,
    "store_failed": 503,
    "store_too_new": 503,
    "store_other_model": 503,
    "queue": 503,
    "evaluation_failed": 409,
    "unreachable": 502,
    "unreadable": 422,
    "not_fetched": 502,
    "error": 500,
}
"""The HTTP status of each code."""

_STANDARD: Final = frozenset({"type", "title", "status", "detail", "instance", "code", "faults", "request"})
"""Members of a problem that are ours or the standard's. Fields of an error with such a name travel below `fields`."""


def plain_error(error: MnemicError) -> dict[str, Any]:
    """Return an error as an object: stable code, message, and the fields that a program needs."""
    told: dict[str, Any] = {"code": error.code, "message": str(error), **plain(error.fields)}
    if isinstance(error, InputError):
        told["field"] = error.field
    if isinstance(error, InputFaults):
        told["faults"] = [plain_error(fault) for fault in error.faults]
    return told


def problem_of(error: MnemicError, *, request: str = "") -> dict[str, Any]:
    """Return an error as problem details; `request` is the id of the call, for finding it in the log."""
    told = plain_error(error)
    code, detail = told.pop("code"), told.pop("message")
    status = STATUS[code]
    title = HTTPStatus(status).phrase
    hidden = {name: told.pop(name) for name in error.fields if name in _STANDARD}
    found = {"type": f"{TYPE}{code}", "title": title, "status": status, "detail": detail, "code": code, **told}
    if hidden:
        found["fields"] = hidden
    return {**found, "request": request} if request else found


def error_of(problem: Mapping[str, Any]) -> MnemicError:
    """Return the error that problem details stand for; `UnreachableError` for what is none of ours."""
    kind = _KINDS.get(str(problem.get("code")))
    detail = str(problem.get("detail") or problem.get("message") or problem.get("title") or "no reason was given")
    if kind is None:
        return UnreachableError(f"the server answered with an error that is not Mnemic's: {detail}")
    fields = {name: value for name, value in problem.items() if name not in {*_STANDARD, "message", "fields"}}
    if isinstance(hidden := problem.get("fields"), Mapping):
        fields |= hidden
    if not issubclass(kind, InputError):
        return kind(detail, **fields)
    field = str(fields.pop("field", ""))
    if isinstance(faults := problem.get("faults"), list):
        inner = [error_of(fault) for fault in faults if isinstance(fault, Mapping)]
        return InputFaults(field, [each for each in inner if isinstance(each, InputError)])
    return kind(field, detail.removeprefix(f"{field}: "), **fields)


def _every(kind: type[MnemicError]) -> Iterator[type[MnemicError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _every(below)


_KINDS: Final[Mapping[str, type[MnemicError]]] = {
    kind.code: kind
    for kind in _every(errors.MnemicError)
    if kind is not InputFaults and kind.__module__ == errors.__name__  # a face may have some of its own
}
