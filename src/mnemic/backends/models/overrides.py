"""What a person says of a model folder in its `mnemic.json`, over the model's own files; it reads that file only.

    {"query_prefix": "query: ", "passage_prefix": "passage: ", "pooling": "cls", "max_tokens": 256, "graph": "a.onnx"}

All keys may be left out. An unknown key, or a value of another kind, is an error that names it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from mnemic.backends.models.batches import Pooling
from mnemic.errors import EmbedderError

FILE: Final = "mnemic.json"


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the file says; None where it says nothing."""

    query_prefix: str | None = None
    passage_prefix: str | None = None
    pooling: Pooling | None = None
    max_tokens: int | None = None
    graph: str | None = None

    @property
    def marks(self) -> str:
        """What of this changes the vectors of passages, as text; empty when nothing does."""
        found = (self.passage_prefix, self.pooling, self.max_tokens)
        return "" if found == (None, None, None) else repr(found)


def read_overrides(folder: Path) -> Overrides:
    """Return what a folder's `mnemic.json` says, nothing when there is none. Raises `EmbedderError`."""
    path = folder / FILE
    if not path.is_file():
        return Overrides()
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EmbedderError(f"{path} cannot be read as JSON ({error}); correct it", file=str(path)) from error
    if not isinstance(given, dict):
        raise EmbedderError(f"{path} must hold a JSON object; correct it", file=str(path))
    known = [field.name for field in fields(Overrides)]
    for key, value in given.items():
        if key not in known:
            raise EmbedderError(f"{path}: {key!r} is not known; known keys: {', '.join(known)}", file=str(path))
        _check(path, key, value)
    return Overrides(**given)


def _check(path: Path, key: str, value: object) -> None:
    if key == "max_tokens":
        fits = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        needs = "a whole number from 1"
    elif key == "pooling":
        fits, needs = value in ("mean", "cls"), "mean or cls"
    else:
        fits, needs = isinstance(value, str), "a string"
    if not fits:
        raise EmbedderError(f"{path}: {key} needs {needs}, got {value!r}", file=str(path))
