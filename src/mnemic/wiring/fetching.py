"""What fetches addresses, with the limits and the opened networks of the settings."""

from __future__ import annotations

from mnemic.backends.fetching.fetcher import FetchLimits, HttpFetcher
from mnemic.backends.fetching.forbidden import opened
from mnemic.config import Settings
from mnemic.ports.fetch import Fetcher


def fetcher_of(settings: Settings) -> Fetcher:
    """Return what fetches addresses. Raises `InputError` for a setting that names no host and no network."""
    limits = FetchLimits(size=settings.file_megabytes * 1_000_000, seconds=settings.fetch_seconds)
    return HttpFetcher(opened(settings.fetch_private), limits)
