"""What this machine reads attachments with: pictures, the words in them, files, and what is at addresses."""

from __future__ import annotations

from dataclasses import replace

from mnemic.config import Settings
from mnemic.ports.fetch import Fetcher
from mnemic.services.perceiving import Senses
from mnemic.wiring.fetching import fetcher_of
from mnemic.wiring.readers import pictures_of, readers_of, words_of


def senses_of(settings: Settings) -> Senses:
    """Return what is there."""
    return Senses(
        pictures_of(settings),
        words=words_of(settings),
        reader=readers_of(settings),
        fetcher=_fetcher(settings) if settings.fetch_attachments else None,
    )


def _fetcher(settings: Settings) -> Fetcher:
    """Return what fetches addresses, no more than an attachment may have."""
    most = min(settings.attachment_megabytes, settings.file_megabytes)
    return fetcher_of(replace(settings, file_megabytes=most))
