"""The present moment."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time. Never goes back within a process; aware, in UTC. Thread-safe."""

    def now(self) -> datetime:
        """Return the present moment."""
        ...
