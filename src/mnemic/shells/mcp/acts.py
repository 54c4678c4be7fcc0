"""What a call of a tool knows beside its arguments: the memory, and whose it is."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.api import Memory
from mnemic.shells.mcp.place import Place


@dataclass(frozen=True, slots=True)
class Act:
    """One call. `cube` is None for the user's own."""

    memory: Memory
    place: Place
    user: str
    cube: str | None = None
