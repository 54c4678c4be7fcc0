"""Computing all vectors of a folder anew, which a memory cannot do that is open with another embedder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from mnemic import config, wiring
from mnemic.config import Settings


def reindex(
    path: str | Path | None = None,
    *,
    settings: Settings | Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Embed everything in a folder anew with the embedder of the settings; return how many entries were embedded.

    It can be stopped and run again; `progress` is told (done, total). Raises `EmbedderError` when the model fails.
    """
    parts = wiring.build(config.load(path, {**_mapping(settings), "worker": False}), replacing=True)
    try:
        return parts.reindex.run(progress)
    finally:
        parts.close()


def _mapping(settings: Settings | Mapping[str, Any] | None) -> dict[str, Any]:
    if isinstance(settings, Settings):
        return {field.name: getattr(settings, field.name) for field in fields(settings)}
    return dict(settings or {})
