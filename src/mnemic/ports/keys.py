"""What keys need from the store. Rows here are of no cube, and hold nothing that people said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from mnemic.model.key import ApiKey


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key with the hash of its secret."""

    key: ApiKey
    digest: str = field(repr=False)


class Keys(Protocol):
    """All keys of a store, by id and by prefix. Both are unique: a taken one is a `ConflictError`."""

    def put(self, key: ApiKey, digest: str) -> None:
        """Store a new key."""
        ...

    def find(self, name: str) -> KnownKey | None:
        """Return the key with this id or prefix."""
        ...

    def list(self, project: str | None = None) -> Sequence[ApiKey]:
        """Return the keys, oldest first; with `project`, only those of that one."""
        ...

    def end(
        self, key_id: str, *, expires_at: datetime | None = None, revoked_at: datetime | None = None
    ) -> ApiKey | None:
        """Let a key end at a moment, unless it ends before; return it as it is then, None when it is not there."""
        ...

    def drop(self, key_id: str) -> None:
        """Erase a key with the counts of its calls."""
        ...

    def any(self, at: datetime | None = None) -> bool:
        """Tell whether there is a key; with `at`, one that opens something at that moment."""
        ...


class KeyUses(Protocol):
    """How often keys are used. Each process counts for itself, so that none waits for another."""

    def calls_elsewhere(self, key_id: str, day: int, process: str) -> int:
        """Return how many calls other processes have counted on a day, by its number since 1970 (UTC)."""
        ...

    def count(self, key_id: str, day: int, process: str, calls: int) -> None:
        """Say how many calls this process has counted on a day altogether."""
        ...

    def used(self, key_id: str, at: datetime) -> None:
        """Note when a key was last used; an earlier time than the known one changes nothing."""
        ...

    def prune(self, day: int) -> int:
        """Erase the counts of days before this one; return how many there were."""
        ...
