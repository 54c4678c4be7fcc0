"""What a write did, truly: each call that changes something answers with one of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skipped:
    """An input that was not stored. `index` is its place in the call, `id` the message that holds it already."""

    index: int
    reason: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` did. `message_ids` are in the order of the call, those of skipped duplicates included.

    `job` is the background work that refines what was stored (None when nothing was); `notes` says what was assumed.
    """

    cube: str
    session: str
    message_ids: tuple[str, ...]
    stored: int
    skipped: tuple[Skipped, ...] = ()
    job: str | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        more = f", {len(self.skipped)} skipped" if self.skipped else ""
        noun = "message" if self.stored == 1 else "messages"
        return f"<Added {self.stored} {noun} to session {self.session!r}{more}>"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The receipt of a `forget`: how much of each kind was removed, everywhere; `notes` says what is still to come."""

    removed: Mapping[str, int]
    ids: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {kind}" for kind, count in self.removed.items() if count) or "nothing"
        return f"<Forgotten {counts}>"


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: how many of each kind were stored, how many were there already, and what it noticed."""

    stored: Mapping[str, int]
    skipped: int
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {kind}" for kind, count in self.stored.items() if count) or "nothing new"
        return f"<Imported {counts}{f', {self.skipped} there already' if self.skipped else ''}>"
