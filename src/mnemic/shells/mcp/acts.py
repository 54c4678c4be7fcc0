"""What a call of a tool knows beside its arguments: the memory, and whose it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemic.shells.mcp.place import Place

if TYPE_CHECKING:
    from mnemic.api import Memory  # the process answers before that is imported


@dataclass(frozen=True, slots=True)
class Act:
    """One call. `cube` is None for the user's own."""

    memory: Memory
    place: Place
    user: str
    cube: str | None = None
