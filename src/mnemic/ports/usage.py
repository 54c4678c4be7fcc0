"""What accounting for language models needs from the store: a row for each call, and sums of them."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from mnemic.model.language import Call, Spent, Usage


class UsageLog(Protocol):
    """The calls of language models, by cube."""

    def record(self, call: Call) -> None:
        """Store a call."""
        ...

    def since(self, cube_key: int, at: datetime) -> Spent:
        """Return what the calls of a cube cost since a moment."""
        ...

    def usage(self, cube_key: int, midnight: datetime) -> Usage:
        """Return what the calls of a cube cost, altogether, since midnight, and by purpose and model."""
        ...

    def calls(self, cube_key: int, *, limit: int = 100) -> list[Call]:
        """Return the last calls of a cube, newest first."""
        ...
