"""What a document is made from when it is named by a text: an address, or a file of the machine that names it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

from mnemic.errors import InputError

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,30})://")
_ADDRESS: Final = re.compile(r"(https?)(://)", re.IGNORECASE)


def address_in(source: str) -> str | None:
    """Return the address that a text is, its scheme in small letters; None for what may be a path.

    It is one place for all who ask, so that no text is taken for an address here and for a path there.
    """
    found = _ADDRESS.match(source)
    return None if found is None else found[1].lower() + source[found.end(1) :]


def check_scheme(source: str) -> None:
    """Raise `InputError` for an address that is not fetched."""
    found = _SCHEME.match(source)
    if found is not None:
        raise InputError("source", f"{found[1]}:// is not fetched; http:// and https:// are")


def checked_address(source: str, field: str = "source") -> str:
    """Return an address as the library takes it. Raises `InputError` for what names a file of this machine."""
    found = address_in(source.strip())
    if found is None:
        raise InputError(
            field,
            "needs an address that begins with http:// or https://; a server reads no files of its own machine: send "
            "the file itself, as multipart/form-data or in base64",
        )
    return found


def checked_file(given: str | os.PathLike[str], field: str = "source", *, folder: str = "`sync` takes it") -> Path:
    """Return the path of a file of this machine. Raises `InputError`; `folder` says what to do with a folder."""
    shown = str(given)[:200]
    try:
        path = Path(given).expanduser()
        found = path.stat()
    except (OSError, ValueError, RuntimeError) as error:  # a NUL, a name too long, no home
        hint = "to add a text, give it as text=" if "\n" in shown or " " in shown else "give an existing path"
        raise InputError(field, f"there is no file {shown!r}; {hint}") from error
    if stat.S_ISDIR(found.st_mode):
        raise InputError(field, f"{shown!r} is a folder; {folder}")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(field, f"{shown!r} is no regular file")
    return path
