"""What comes in a request, as values: the query, the path, and JSON that holds nothing that JSON cannot hold.

The bytes are read here and judged; what a verb makes of them is said in `arguments`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final, NoReturn
from urllib.parse import parse_qsl, unquote_to_bytes

from starlette.requests import ClientDisconnect, Request

from mnemic.errors import InputError, UnreachableError

LEVELS: Final = 100
"""Lists and objects inside one another that a body may have; content and metadata have a limit of their own below."""

JSON: Final = "application/json"
LINES: Final = "application/x-ndjson"


class MediaTypeError(InputError):
    """The body is of a type that this call does not read."""


def media_type(request: Request) -> str:
    """Return the type that a body is said to be of, in small letters, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def json_object(request: Request) -> Mapping[str, Any]:
    """Return the object that a body holds, an empty one for no body. Raises `InputError`."""
    body = await whole(request)
    if not body:
        return {}
    said = media_type(request)
    if said != JSON and not said.endswith("+json"):
        told = f"{said!r} is not read here" if said else "is missing"
        raise MediaTypeError("Content-Type", f"{told}; send {JSON}")
    found = parsed(body)
    if not isinstance(found, dict):
        raise InputError("body", f"needs a JSON object, got {type(found).__name__}")
    return found


async def whole(request: Request) -> bytes:
    """Return a body. Raises `UnreachableError` when the client leaves before it has sent all of it."""
    try:
        return await request.body()
    except ClientDisconnect as error:
        raise UnreachableError("the client has left before the request was whole") from error


def parsed(body: bytes) -> Any:
    """Return the value of a JSON text. Raises `InputError` for what is not JSON in UTF-8, and for what is too deep."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("body", f"is not UTF-8: byte {error.start} cannot be read") from error
    try:
        found = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise InputError("body", f"is nested deeper than {LEVELS} levels") from error
    except json.JSONDecodeError as error:
        told = f"{error.msg}, line {error.lineno}, column {error.colno}"
        raise InputError("body", f"is not JSON: {told}") from error
    except ValueError as error:  # a whole number of more digits than Python reads
        raise InputError("body", "is not JSON that can be read: a number has too many digits") from error
    if body.count(b"[") + body.count(b"{") > LEVELS and _is_deep(found):
        raise InputError("body", f"is nested deeper than {LEVELS} levels")
    return found


def query_texts(request: Request) -> dict[str, list[str]]:
    """Return the texts of a query by name. Raises `InputError` for bytes that are no text."""
    raw = request.scope.get("query_string", b"")
    found: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, encoding="utf-8", errors="strict")
    except UnicodeDecodeError as error:
        raise InputError("query", "is not UTF-8, percent-encoded") from error
    except ValueError as error:
        raise InputError("query", f"cannot be read: {error}") from error
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def path_texts(request: Request) -> dict[str, list[str]]:
    """Return the texts that stand in the path by name, with what was percent-encoded decoded."""
    found: dict[str, list[str]] = {}
    for name, value in request.path_params.items():
        try:
            found[name] = [unquote_to_bytes(value).decode("utf-8")]
        except UnicodeDecodeError as error:
            raise InputError(name, "is not UTF-8, percent-encoded") from error
    return found


def _no_number(word: str) -> NoReturn:
    raise InputError("body", f"holds {word}, which is not JSON; numbers must be finite")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InputError("body", f"holds the number {text[:40]}, which is too large")
    return number


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(LEVELS):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True
