"""What this machine reads attachments with: pictures, the words in them, files, and what is at addresses."""

from __future__ import annotations

from pathlib import Path

from mnemic.config import Settings
from mnemic.errors import InputError
from mnemic.ports.pictures import Examined
from mnemic.services.perceiving import Senses


def senses_of(settings: Settings) -> Senses:
    """Return what is there."""
    return Senses(_Blind())


class _Blind:
    def examine(self, picture: Path) -> Examined:
        raise InputError("attachments", "pictures are not looked at yet")

    def plain(self, picture: Path) -> bytes:
        raise InputError("attachments", "pictures are not looked at yet")
