"""What a door is asked, checked: fields by name, null the same as absent, and what we do not have refused by name.

Clients of other systems send every option, as null or with its default. So a field may be absent, null or its default
without asking for anything; any other value of a thing that we lack is an error that names the field.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any, Final, TypeVar

from annotated_types import GroupedMetadata
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, WithJsonSchema
from starlette.responses import Response

from mnemic.errors import InputError, MnemicError
from mnemic.model.caller import Caller
from mnemic.wire.problems import STATUS

A = TypeVar("A", bound="Asked")

Teller = Callable[[MnemicError, int, str], Response]
"""Tells an error: it gets the error, the HTTP status that is meant, and the id of the request."""

USER_HEADER: Final = "x-mnemic-user"
"""Names the user where the body of a call has no place for it."""

_EVENT: Final[dict[str, Any]] = {"type": "object", "required": ["data"], "properties": {"data": {"type": "string"}}}
STREAMED: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {"text/event-stream": {"schema": _EVENT}}}}
"""What the description says of a route that answers with server-sent events."""

_EXTRA: Final = "extra_forbidden"


class Asked(BaseModel):
    """The body of a call. Values are taken as they are: "1" is no number, 1 is not true."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def given(self, name: str) -> Any:
        """Return a field's value, and its default where the caller sent null."""
        value = getattr(self, name)
        return type(self).model_fields[name].default if value is None else value


class Json(Response):
    """JSON in pure ASCII: no character inside can be taken for the end of a line, and halves of characters travel."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the value as it travels."""
        return json.dumps(content, ensure_ascii=True, allow_nan=False, default=str).encode("ascii")


class Only(GroupedMetadata):
    """Marks a field that may be null or one of some values; `why` tells what is wrong with any other."""

    def __init__(self, *allowed: Any, why: str) -> None:
        self._allowed = allowed
        self._why = why

    def __iter__(self) -> Iterator[object]:
        """Yield what pydantic is to do with it."""
        yield AfterValidator(self._check)
        yield WithJsonSchema({"enum": [None, *self._allowed], "description": self._why})

    def _check(self, value: Any) -> Any:
        if value is None or any(value == each and type(value) is type(each) for each in self._allowed):
            return value
        raise ValueError(self._why)


def unset(why: str) -> Only:
    """Mark a switch that may only be absent, null or false."""
    return Only(False, why=why)  # noqa: FBT003 - the value that is allowed


def refused(why: str) -> Only:
    """Mark a field that may only be absent, null or an empty list."""
    return Only([], why=why)


def data_line(value: Any) -> str:
    """Return a value as one event of a stream."""
    return f"data: {json.dumps(value, ensure_ascii=True, allow_nan=False, default=str)}\n\n"


def caller_of(request: Request) -> Caller | None:
    """Return whose request it is, as the server found out before it came here."""
    return getattr(request.state, "caller", None)


def named_user(request: Request) -> str | None:
    """Return the user that a request names in its header."""
    return request.headers.get(USER_HEADER)


def checked(kind: type[A], body: bytes) -> A:
    """Return a body that comes as JSON, checked; errors are those of the routes that FastAPI reads the body for."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False)) from error


def fault_of(error: RequestValidationError) -> InputError:
    """Return a request's first fault as an error of ours that names the field."""
    first = error.errors()[0]
    place = [part for part in first["loc"] if part not in ("body", "query", "path")]
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".") or "body"
    said = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == _EXTRA:
        said = "is not a field of this call; nothing is done with it, so it is refused"
    if first["type"] == "json_invalid":
        return InputError("body", f"is not JSON: {first.get('ctx', {}).get('error', said)}")
    return InputError(field, said[:1].lower() + said[1:])


def telling(tell: Teller) -> type[APIRoute]:
    """Return the class of the routes of a door, which tells their errors in its way."""

    class Told(APIRoute):
        """A route whose errors are told in the door's way."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            """Return what handles a request."""
            handle = super().get_route_handler()

            async def handled(request: Request) -> Response:
                return await _told(handle, request, tell)

            return handled

    return Told


async def _told(handle: Callable[[Request], Awaitable[Response]], request: Request, tell: Teller) -> Response:
    try:
        return await handle(request)
    except RequestValidationError as error:
        told: MnemicError = fault_of(error)
    except MnemicError as error:
        told = error
    return tell(told, STATUS[told.code], str(getattr(request.state, "request_id", "")))


def plain_object(value: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a mapping without what is null."""
    return {name: each for name, each in (value or {}).items() if each is not None}
