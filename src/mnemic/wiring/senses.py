"""What this machine reads attachments with: pictures, the words in them, files, and what is at addresses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mnemic.config import Settings
from mnemic.errors import InputError
from mnemic.ports.fetch import Fetcher
from mnemic.ports.pictures import Examined
from mnemic.services.perceiving import Senses
from mnemic.wiring.fetching import fetcher_of


def senses_of(settings: Settings) -> Senses:
    """Return what is there."""
    return Senses(_Blind(), fetcher=_fetcher(settings) if settings.fetch_attachments else None)


def _fetcher(settings: Settings) -> Fetcher:
    """Return what fetches addresses, no more than an attachment may have."""
    most = min(settings.attachment_megabytes, settings.file_megabytes)
    return fetcher_of(replace(settings, file_megabytes=most))


class _Blind:
    def examine(self, picture: Path) -> Examined:
        raise InputError("attachments", "pictures are not looked at yet")

    def plain(self, picture: Path) -> bytes:
        raise InputError("attachments", "pictures are not looked at yet")
