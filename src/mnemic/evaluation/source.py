"""A dataset's file as bytes: what tells one version of it from another, counted in one pass over it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from mnemic.errors import InputError

_CHUNK: Final = 1 << 20


def fingerprint(path: Path, mark: bytes = b"") -> tuple[str, int]:
    """Return the SHA-256 of a file, and how often `mark` stands in it. Raises `InputError` when it cannot be read."""
    digest = hashlib.sha256()
    count, tail = 0, b""
    try:
        with path.open("rb") as file:
            while block := file.read(_CHUNK):
                digest.update(block)
                if mark:
                    text = tail + block
                    count += text.count(mark)
                    tail = text[len(text) - len(mark) + 1 :]
    except OSError as error:
        raise InputError("file", f"cannot read {path}: {error.strerror}") from error
    return digest.hexdigest(), count
