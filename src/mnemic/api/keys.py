"""The keys of those who call through a server: `memory.keys`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mnemic import wiring
from mnemic.api.calls import watched
from mnemic.model.caller import Caller
from mnemic.model.key import ApiKey, NewKey


@watched("keys")
class Keys:
    """Keys: who may call, for whom, how far and how often. Giving them out needs the power `admin`.

    Who has an admin key sees and ends those of its project that reach nothing that its own does not, and gives no more
    than it has. Somebody at the machine may do all.
    """

    def __init__(self, parts: wiring.Parts) -> None:
        self._parts = parts

    def create(
        self,
        name: str,
        *,
        users: Sequence[str] | str | None = None,
        cubes: Sequence[str] | str | None = None,
        project: str = "",
        powers: Sequence[str] | str = ("read", "write"),
        expires: datetime | str | float | None = None,
        per_minute: int = 0,
        per_day: int = 0,
    ) -> NewKey:
        """Make a key and return it with its secret, which nobody can show again: the store keeps a hash of it.

        `users` are those for whom it may call (default: anybody), `cubes` the ids of those that it reaches (default:
        all that its users may), `powers` some of read, write and admin. Users of a `project` are its own: `ann` of one
        project is not `ann` of another. `per_minute` and `per_day` (UTC) are how many calls it may make, 0 any number.
        Raises `AccessError` when it would reach further than the key of who makes it.
        """
        return self._parts.access.keys.create(
            name, users=users, cubes=cubes, project=project, powers=powers, expires=expires,
            per_minute=per_minute, per_day=per_day,
        )  # fmt: skip

    def list(self) -> Sequence[ApiKey]:
        """Return the keys, oldest first, those that are expired or revoked too."""
        return self._parts.access.keys.list()

    def revoke(self, id: str) -> ApiKey:  # noqa: A002 - as everywhere
        """End a key, by its id or prefix: it opens nothing from now on, in all processes. Raises `NotFoundError`."""
        return self._parts.access.keys.revoke(id)

    def rotate(self, id: str, *, overlap_hours: float = 24.0) -> NewKey:  # noqa: A002 - as everywhere
        """Make a key that reaches as far as another, which ends after the overlap (0: at once).

        A key that was to expire gets one that holds for as long as the old one was to. Raises `NotFoundError`, and
        `ConflictError` for a key that is over.
        """
        return self._parts.access.keys.rotate(id, overlap_hours=overlap_hours)

    def drop(self, id: str) -> ApiKey:  # noqa: A002 - as everywhere
        """Erase a key that is expired or revoked; return it as it was. At the machine only.

        When none is left, calls at the machine need none again. Raises `ConflictError` for a key that is active.
        """
        return self._parts.access.keys.drop(id)

    def any(self) -> bool:
        """Tell whether there is a key that is neither expired nor revoked."""
        return self._parts.access.keys.any()

    def caller_of(self, secret: str | None) -> Caller:
        """Return who calls with a secret, for `mnemic.api.acting`; servers ask it once for each call.

        None is somebody at the machine as long as no key was ever made, or all were dropped. Raises `KeyRefusedError`
        for a secret that is malformed, unknown, expired or revoked, which all look the same, and `RateError` with
        `retry_after` when the key has made as many calls as it may.
        """
        return self._parts.access.gate.caller_of(secret)
