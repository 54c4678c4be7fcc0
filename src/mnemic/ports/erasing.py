"""What forgetting needs from the store: rows go, and what pointed to them is made true again, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Erased:
    """What went with some messages: rows by kind, and the segments that their pages, or pages beside them, are in."""

    removed: Mapping[str, int]
    segments: tuple[str, ...]


class Erasing(Protocol):
    """Erases messages and all that the store itself derived from them. Memories and index entries are the caller's."""

    def session(self, cube_key: int, name: str) -> Sequence[str] | None:
        """Return the ids of a session's messages, in order; None when there is no session of that name."""
        ...

    def messages(self, cube_key: int, ids: Sequence[str]) -> Erased:
        """Erase messages with their relations, sources and attachments; pages and sessions shrink, or go when empty."""
        ...

    def segments(self, cube_key: int, ids: Sequence[str]) -> int:
        """Erase segments with their relations; pages that are in one leave it. Return how many there were."""
        ...

    def set_unread(self, cube_key: int, ids: Sequence[str]) -> None:
        """Mark messages to be read by extraction again."""
        ...

    def set_unanalysed(self, cube_key: int, segment_id: str) -> None:
        """Mark a segment's pages to be promoted again."""
        ...

    def set_underived(self, cube_key: int) -> None:
        """Mark all messages to be read, and all pages to be moved and promoted, again."""
        ...

    def everything(self, cube_key: int) -> Mapping[str, int]:
        """Erase all that a cube holds, but neither the cube, its grants nor its jobs; return the rows by kind.

        Blobs keep their rows: nothing names them any more (`KeptBlobs.doom`).
        """
        ...

    def scrub(self) -> None:
        """Take what was erased in this transaction out of the full-text index's own files, not only of its results."""
        ...
