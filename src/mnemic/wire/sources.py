"""What a document is made from when it is named by a text: an address, or a file of the machine that names it."""

from __future__ import annotations

import re
from typing import Final

from mnemic.errors import InputError

_ADDRESS: Final = re.compile(r"(https?)(://)", re.IGNORECASE)


def address_in(source: str) -> str | None:
    """Return the address that a text is, its scheme in small letters; None for what may be a path.

    It is one place for all who ask, so that no text is taken for an address here and for a path there.
    """
    found = _ADDRESS.match(source)
    return None if found is None else found[1].lower() + source[found.end(1) :]


def checked_address(source: str, field: str = "source") -> str:
    """Return an address as the library takes it. Raises `InputError` for what names a file of this machine."""
    found = address_in(source)
    if found is None:
        raise InputError(
            field,
            "needs an address that begins with http:// or https://; a server reads no files of its own machine: send "
            "the file itself, as multipart/form-data or in base64",
        )
    return found
