"""Calls that are carried out once however often they come: by a token of the caller's, for 24 hours.

The token is stored in the transaction of what the call writes first, so a call that wrote has left its token, and one
that comes again, at the same moment or after a crash, cannot write. The reply follows when the call is over. What is
in between (a server that died before it had a reply) is told as it is: carried out, reply lost. Forgetting something in
a cube takes the replies of calls about it along, as they may quote what was forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from mnemic import acting
from mnemic.core.intake import check_id
from mnemic.errors import ConflictError, InputError
from mnemic.ports.clock import Clock
from mnemic.ports.records import StoredReply
from mnemic.ports.store import Store
from mnemic.services.audit import REPLIES_KEPT
from mnemic.services.scoping import Scoping

_LONGEST: Final = 255  # characters of a token: it stands in an index


class Try:
    """One try of such a call: what was replied before, if anything was, and keeping what is replied now."""

    def __init__(self, attempt: acting.Attempt, found: StoredReply | None) -> None:
        self._attempt = attempt
        self._found = found
        self.kept: tuple[int, bytes] | None = None

    @property
    def reply(self) -> tuple[int, bytes] | None:
        """What was replied to the first call: its status and body. None: this is the first, carry it out."""
        if self._found is None or self._found.status is None or self._found.body is None:
            return None
        return self._found.status, self._found.body

    @property
    def begun(self) -> bool:
        """Whether the call has stored something: then its reply is kept, also when it is an error."""
        return self._attempt.begun

    def keep(self, status: int, body: bytes) -> None:
        """Keep this reply for the calls that come again; it is stored when the block ends."""
        self.kept = (status, body)


class Once:
    """The use case of `mnemic.api.once`."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping

    @contextmanager
    def attempt(self, token: object, digest: str) -> Iterator[Try]:
        """Do what the block does as a try of the call with this token; see `mnemic.api.once`."""
        named = check_id(token, "idempotency_key")
        if len(named) > _LONGEST:
            raise InputError("idempotency_key", f"has {len(named)} characters; at most {_LONGEST} are allowed")
        made = acting.Attempt(self._scoping.caller().key or "", named, digest)
        with self._store.read() as tx:
            found = tx.replies.find(made.key, named, self._clock.now() - REPLIES_KEPT)
        if found is not None:
            _check_same(found, digest, named)
            yield Try(made, found)
            return
        tried = Try(made, None)
        try:
            with acting.attempting(made):
                yield tried
        finally:
            if tried.kept is not None:
                status, body = tried.kept
                with acting.aside(), self._store.write() as tx:
                    tx.replies.keep(made.key, named, StoredReply(digest, self._clock.now(), made.cube, status, body))


def _check_same(found: StoredReply, digest: str, token: str) -> None:
    if found.digest != digest:
        raise ConflictError("this idempotency key was used for another request; use a new one for each", token=token)
    if found.status is None:
        raise ConflictError(
            "a call with this idempotency key was begun, and what it stored is stored; it is not over yet, or its "
            "reply is lost or was forgotten. Look at what is there before you send it under a new key",
            token=token,
        )
