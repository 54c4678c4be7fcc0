"""What `mnemic reindex` and `mnemic models pull` ask of the library's wiring, with progress.

Both work on a folder whose memory cannot be opened as it is, so they do not go through `Memory`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

from mnemic import config, wiring
from mnemic.errors import StoreError
from mnemic.shells.cli.face import Face

MODELS: Final = "models"
"""The folder of pulled models, inside the memory's folder."""


def reindex(face: Face) -> int:
    """Compute all vectors again with the embedder of the settings; return how many were computed."""
    settings = config.load(face.home)
    if not settings.folder.exists():
        raise StoreError(f"there is no memory in {settings.folder} yet; the first `mnemic add` makes it")
    with face.progress("reindexing", None) as advance:
        return cast("int", _call("reindex")(settings, progress=advance))


def pull(face: Face, name: str, source: Path | None) -> Path:
    """Bring a model into the memory's folder; return its folder there."""
    into = config.load(face.home).folder / MODELS
    return cast("Path", _call("pull_model")(name, into, source=None if source is None else str(source)))


def _call(name: str) -> Callable[..., Any]:
    found = getattr(wiring, name, None)
    if found is None:
        raise StoreError(f"this build of Mnemic cannot {name.replace('_', ' ')} yet")
    return cast("Callable[..., Any]", found)
