"""What `mnemic reindex` and `mnemic models pull` ask of the library's wiring, with progress.

Both work on a folder whose memory cannot be opened as it is, so they do not go through `Memory`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mnemic import config, wiring
from mnemic.errors import StoreError
from mnemic.shells.cli.face import Face


def reindex(face: Face) -> int:
    """Compute all vectors again with the embedder of the settings; return how many were computed."""
    settings = config.load(face.home)
    if not settings.folder.exists():
        raise StoreError(f"there is no memory in {settings.folder} yet; the first `mnemic add` makes it")
    parts = wiring.build(replace(settings, worker=False), replacing=True)
    try:
        with face.progress("reindexing") as advance:
            return parts.reindex.run(advance)
    finally:
        parts.close()


def pull(face: Face, name: str, source: Path | None) -> Path:
    """Bring a model into the memory's folder; return its folder there."""
    into = config.load(face.home).folder / wiring.MODELS
    return wiring.pull_model(name, into, source=None if source is None else str(source))
