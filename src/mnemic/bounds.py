"""What the values of settings may be: limits and choices by name, which `mnemic.config` holds every setting to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mnemic.errors import InputError

PROVIDERS: Final = ("auto", "none", "openai", "anthropic", "local")
"""Who may answer prompts."""

AT_LEAST: Final[Mapping[str, float]] = {
    "embed_threads": 1,
    "cache_megabytes": 1,
    "stm_pages": 1,
    "mtm_segments": 1,
    "llm_tries": 1,
    "llm_context": 1_024,
    "llm_max_tokens": 1,
    "llm_threads": 1,
    "refine_messages": 1,
    "attachment_megabytes": 1,
    "attachments": 1,
    "database_connections": 2,
    "vector_index_from": 1,
    "redis_shards": 1,
    "worker_threads": 1,
    "jobs_kept": 1,
    "audit_days": 1,
    "backup_keep": 1,
    "serve_threads": 1,
    "serve_streams": 1,
    "serve_max_megabytes": 1,
    "serve_max_load_megabytes": 1,
    "file_megabytes": 1,
    "chunk_tokens": 64,
    "file_pages": 1,
    "read_megabytes": 256,
    "fetch_seconds": 1,
    "serve_max_upload_megabytes": 1,
    "serve_max_files": 1,
}
"""The least that a setting may be."""

FROM_ZERO: Final[Mapping[str, float]] = {
    "chunk_overlap": 5,
    "segment_threshold": 2,
    "answer_threshold": 1,
    "heat_threshold": 1e6,
    "refine_quiet_seconds": 1e6,
    "reorganize_hours": 1e6,
    "llm_temperature": 2,
    "llm_timeout": 3_600,
    "fetch_seconds": 3_600,
    "llm_daily_calls": 1e12,
    "llm_daily_tokens": 1e15,
    "jobs_running": 1e6,
    "jobs_per_minute": 1e6,
    "metrics_port": 65_535,
    "audit_days": 36_500,
    "audit_rows": 1e9,
    "serve_port": 65_535,
}
"""The most that a setting may be which may be 0 too."""

CHOICES: Final[Mapping[str, Sequence[str]]] = {
    "ranking": ("learned", "plain"),
    "llm": PROVIDERS,
    "hear": ("auto", "openai", "local", "none"),
    "vector_index": ("auto", "memory", "pgvector"),
    "log_format": ("plain", "json"),
}
"""The words that a setting may be."""

ABOVE_ZERO: Final = ("stm_quiet_hours", "page_gap_hours", "heat_hours")
"""Hours that are never 0."""


def check_bounds(settings: Any) -> None:
    """Raise `InputError` naming the first setting whose value is none that it may have."""
    for name, least in AT_LEAST.items():
        if getattr(settings, name) < least:
            raise InputError(name, f"must be {least} or more")
    if not 1 <= settings.read_seconds <= 86_400:
        raise InputError("read_seconds", "must be from 1 to 86400")
    for name in ABOVE_ZERO:
        if not 0 < getattr(settings, name) < 1e6:
            raise InputError(name, "must be above 0 hours")
    for name, most in FROM_ZERO.items():
        if not 0 <= getattr(settings, name) <= most:
            raise InputError(name, f"must be from 0 to {most:g}")
    for name, known in CHOICES.items():
        if getattr(settings, name) not in known:
            told = ", ".join(f"`{each}`" for each in known)
            raise InputError(name, f"{getattr(settings, name)!r} is none of {told}")
