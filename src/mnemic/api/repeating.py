"""Carrying out once what may come more than once, as servers do for calls with an idempotency key."""

from __future__ import annotations

from contextlib import AbstractContextManager

from mnemic.api.memory import Memory
from mnemic.services.once import Try


def once(memory: Memory, token: str, request_hash: str) -> AbstractContextManager[Try]:
    """Do what the block does once for each token of a key, kept for 24 hours; enter it as the caller (`acting`).

        with acting(caller), once(memory, token, hash_of_the_request) as attempt:
            if attempt.reply is not None:
                return attempt.reply                        # status and body of the first call
            added = memory.add(…)
            attempt.keep(201, body)                         # stored when the block ends

    The token is stored with what the call writes first: all of it or nothing. Keep the replies of calls that went well,
    and errors when `attempt.begun` says that something was stored; a call that failed before may simply come again.
    All is done in one thread. Raises `ConflictError` when the token came with another hash, when a call with it is
    going on, and when the first one has no reply, as it was cut off.
    """
    return memory._parts.access.once.attempt(token, request_hash)  # noqa: SLF001 - the library's own
