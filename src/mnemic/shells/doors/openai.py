"""OpenAI's `/v1/chat/completions` with memory: an unmodified client gets memory added, and its turns are stored.

The request goes on to the configured model's server as it came, but for one system message of what memory holds, put
behind the system messages that lead the conversation. The last message, when it is a user's, is stored before the model
is asked, and the reply after it has come whole. The user is named by the header `X-Mnemic-User`, the field `user`, or
the key; the session by `X-Mnemic-Session` or `metadata.mnemic_session`. `X-Mnemic-Store: false` stores nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from mnemic.api import Memory
from mnemic.api.threads import Threads
from mnemic.errors import InputError, MnemicError
from mnemic.shells.doors.asking import STREAMED, Json, caller_of, data_line, telling
from mnemic.shells.doors.openai_turns import turn_of
from mnemic.wire.problems import plain_error

__all__ = ["PREFIXES", "router", "tell"]

COMPLETIONS: Final = "/v1/chat/completions"
MODELS: Final = "/v1/models"
PREFIXES: Final = (COMPLETIONS, MODELS)
"""Below these, errors are told in the door's way."""

_TYPES: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    429: "rate_limit_error",
}
_OURS: Final = frozenset({401, 402, 403})
"""Statuses of the model's server about the key that this server has there: they are not about the client's."""

_BODY: Final[Mapping[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["messages"],
                    "properties": {
                        "model": {"type": "string"},
                        "messages": {
                            "type": "array",
                            "minItems": 1,
                            "items": {
                                "type": "object",
                                "required": ["role"],
                                "properties": {"role": {"type": "string"}},
                            },
                        },
                        "stream": {"type": ["boolean", "null"]},
                        "user": {"type": ["string", "null"]},
                    },
                },
                "example": {
                    "model": "gpt-4o-mini",
                    "messages": [{"role": "user", "content": "Where do I live?"}],
                    "user": "ann",
                },
            }
        },
    }
}


def router(memory: Memory, threads: Threads) -> APIRouter:
    """Return the paths of this door."""
    found = APIRouter(tags=["OpenAI"], route_class=telling(tell))

    @found.post(COMPLETIONS, openapi_extra=dict(_BODY), responses=STREAMED)
    async def chat_completions(request: Request) -> Response:
        """Complete a conversation with memory, whole or as server-sent events, as OpenAI's API does."""
        turn = turn_of(memory, await _object(request), request.headers, caller_of(request))
        who = caller_of(request)
        if not turn.streams:
            answer = await threads.call(turn.answer, who=who)
            return Json(answer, headers=turn.headers())
        pieces = await threads.pieces(turn.events, who=who)
        first = await anext(aiter(pieces), None)  # a refusal is told by a status, before the first byte
        return StreamingResponse(
            _lines(first, pieces),
            media_type="text/event-stream",
            headers={**turn.headers(), "Cache-Control": "no-store"},
        )

    @found.get(MODELS)
    async def models(request: Request) -> Response:  # noqa: ARG001 - routes of this class are given it
        """List the model that is configured, as OpenAI's API does."""
        name = memory.relay.model
        listed = [] if name is None else [{"id": name, "object": "model", "created": 0, "owned_by": "mnemic"}]
        return Json({"object": "list", "data": listed})

    return found


async def _object(request: Request) -> dict[str, Any]:
    try:
        found = await request.json()
    except (ValueError, RecursionError) as error:
        raise InputError("body", f"is not JSON: {str(error)[:200]}") from error
    if not isinstance(found, dict):
        raise InputError("body", f"needs a JSON object, got {type(found).__name__}")
    return found


async def _lines(first: Any, pieces: AsyncIterator[Any]) -> AsyncIterator[str]:
    """Yield the events of a stream; one that breaks off ends with an error, and without `[DONE]`."""
    try:
        if first is not None:
            yield data_line(first)
        async for piece in pieces:
            yield data_line(piece)
    except MnemicError as error:
        yield data_line(_error(error, _status(error, 502)))
        return
    yield "data: [DONE]\n\n"


def tell(error: MnemicError, status: int, request_id: str) -> Response:
    """Tell an error as OpenAI's clients read it; of the model's server, with the status that it gave."""
    status = _status(error, status)
    headers = {"X-Request-Id": request_id} if request_id else {}
    wait = error.fields.get("retry_after")
    if isinstance(wait, int | float) and status in (429, 503):
        headers["Retry-After"] = str(max(1, round(wait)))
    return Json(_error(error, status), status, headers=headers)


def _status(error: MnemicError, status: int) -> int:
    if status == 422:
        return 400  # what OpenAI's API says of bad requests
    told = error.fields.get("status")
    if error.code == "language_model_failed" and isinstance(told, int) and 400 <= told < 600 and told not in _OURS:
        return told
    return status


def _error(error: MnemicError, status: int) -> dict[str, Any]:
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    told = plain_error(error)
    param = error.field if isinstance(error, InputError) else None
    stored = told.get("stored")
    found = {"message": str(error), "type": kind, "param": param, "code": error.code}
    return {"error": found | ({"mnemic": {"stored": stored}} if stored is not None else {})}
