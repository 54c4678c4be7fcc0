"""Which names blobs are kept under: made of a cube's id and a digest, each checked, so that none leads elsewhere.

And whether a file is what its name says.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

from mnemic.errors import InputError, StoreError

_CUBE: Final = re.compile(r"[0-9a-z][0-9a-z_-]{0,127}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def cube_name(cube: str) -> str:
    """Return a cube's id. Raises `InputError` for one that is no plain name: no cube that was made here has such."""
    if not _CUBE.fullmatch(cube):
        raise InputError("cube", f"{cube!r} is not the id of a cube that can have files")
    return cube


def digest_name(digest: str) -> str:
    """Return a digest. Raises `InputError` for what is not SHA-256 in hex."""
    if not is_digest(digest):
        raise InputError("digest", f"{digest!r} is not a SHA-256 in 64 hex digits")
    return digest


def is_digest(name: str) -> bool:
    """Tell whether a name is that of a blob."""
    return _DIGEST.fullmatch(name) is not None


def check_bytes(path: Path, digest: str) -> None:
    """Raise `StoreError` unless a file has this digest."""
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            raise StoreError(f"the file {digest} is damaged: its bytes are not those that were stored", digest=digest)
