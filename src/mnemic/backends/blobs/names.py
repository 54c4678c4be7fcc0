"""Which names blobs are kept under: made of a cube's id and a digest, each checked, so that none leads elsewhere."""

from __future__ import annotations

import re
from typing import Final

from mnemic.errors import InputError

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
