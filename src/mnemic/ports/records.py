"""What is kept of calls from outside: the audit, and replies that are given again. Rows here are of no cube."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemic.model.audit import AuditQuery, AuditRow


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A call that was begun, by the digest of its request; `status` and `body` are None as long as it has no reply.

    `cube` is the id of the one that it is about, "" for none or several.
    """

    digest: str
    begun_at: datetime
    cube: str = ""
    status: int | None = None
    body: bytes | None = None


class Audit(Protocol):
    """Who did what. Users are named as the store knows them."""

    def put(self, row: AuditRow) -> None:
        """Store a row, in the transaction of what it tells of."""
        ...

    def end(self, row_id: str, outcome: str) -> None:
        """Say how a call ended, after it has written something."""
        ...

    def list(self, query: AuditQuery) -> Sequence[AuditRow]:
        """Return rows, newest first."""
        ...

    def prune(self, before: datetime, most: int) -> int:
        """Erase rows older than a moment, and the oldest of more than so many; return how many there were."""
        ...


class Replies(Protocol):
    """Replies by the key and the token that their calls came with."""

    def find(self, key: str, token: str, since: datetime) -> StoredReply | None:
        """Return what is known of a call that was begun since a moment."""
        ...

    def begin(self, key: str, token: str, reply: StoredReply, since: datetime) -> None:
        """Note that a call is begun, in the transaction of what it writes first; one before `since` counts no more.

        Raises `ConflictError` when it was begun already, also by who is not done with it.
        """
        ...

    def keep(self, key: str, token: str, reply: StoredReply) -> None:
        """Store the reply of a call, begun or not, unless it was erased meanwhile."""
        ...

    def erase(self, cube: str) -> int:
        """Erase the replies of calls about a cube, or about several, given or to come; return how many were given.

        That the calls were begun stays.
        """
        ...

    def prune(self, before: datetime) -> int:
        """Erase what was begun before a moment; return how many there were."""
        ...
