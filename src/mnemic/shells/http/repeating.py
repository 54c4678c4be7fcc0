"""Writes that may come twice and are carried out once: by the header Idempotency-Key, kept with what the call writes.

Replies are kept as they were sent. Where a reply must not be kept (it holds a secret), or cannot (it is a stream), the
header is refused: nobody is to believe that the call is safe to send again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mnemic.api import Memory, once
from mnemic.errors import InputError, MnemicError
from mnemic.shells.http import bodies
from mnemic.shells.http.limits import IN_HEADERS
from mnemic.shells.http.telling import refusal
from mnemic.shells.http.verbs import Verb
from mnemic.wire.problems import MEDIA_TYPE

IDEMPOTENCY_KEY: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
"""The header of a reply that was given before."""

_TOKEN: Final = re.compile(IN_HEADERS[IDEMPOTENCY_KEY]["pattern"])

_SECRET: Final = frozenset({"keys.create", "keys.rotate"})


def may_repeat(verb: Verb) -> bool:
    """Tell whether a verb takes the header."""
    return verb.route.writes and not verb.route.streams and verb.route.verb not in _SECRET


def refuse_once(verb: Verb, request: Request) -> None:
    """Raise `InputError` for the header at a call that writes and cannot be carried out once."""
    if IDEMPOTENCY_KEY in request.headers and verb.route.writes:
        why = "its reply holds a secret, which is not kept" if verb.route.verb in _SECRET else "it is a stream"
        raise InputError(IDEMPOTENCY_KEY, f"is not taken by this call: {why}; leave it out")


async def carried_out_once(
    memory: Memory, verb: Verb, request: Request, do: Callable[[], Response], *, body: bytes | None = None
) -> Callable[[], Response]:
    """Return what makes a call, once for each key that its client gives; as it is when there is none.

    `body` stands for what a request brings, where two requests that say the same are not the same to the byte: forms.
    """
    token = request.headers.get(IDEMPOTENCY_KEY)
    if token is None or not verb.route.writes:
        return do
    if not may_repeat(verb):
        refuse_once(verb, request)
    if not _TOKEN.fullmatch(token):
        raise InputError(IDEMPOTENCY_KEY, "is not 1 to 255 visible ASCII characters; a UUID is a good one")
    digest = await _digest(request, body)

    def attempt() -> Response:
        with once(memory, token, digest) as attempted:
            if attempted.reply is not None:
                status, body = attempted.reply
                kind = bodies.JSON if status < 400 else MEDIA_TYPE
                return Response(body, status, {REPLAYED: "true"}, media_type=kind)
            try:
                response = do()
            except MnemicError as error:
                if attempted.begun:
                    response = refusal(request.scope, error)
                    attempted.keep(response.status_code, bytes(response.body))
                raise
            attempted.keep(response.status_code, bytes(response.body))
            return response

    return attempt


async def _digest(request: Request, body: bytes | None) -> str:
    """Return what tells a request from another: its method, address and body."""
    told = hashlib.sha256()
    scope = request.scope
    texts = (scope["method"], scope["path"], request.headers.get("if-match", ""))
    sent = await bodies.whole(request) if body is None else body
    for part in (*map(str.encode, texts), scope["query_string"], sent):
        told.update(len(part).to_bytes(8, "big") + part)
    return told.hexdigest()
