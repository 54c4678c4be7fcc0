"""Files as they come from outside, whatever door they come through: a form that was taken in whole, and its limits.

Names of files are names: folders in front of them are left out, and none becomes a path.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field
from typing import IO, Any, Final

from mnemic.errors import InputError, TooLargeError

MEGABYTE: Final = 1_000_000
FORM: Final = "multipart/form-data"
FILE: Final = "file"
"""The field of a form that files come in, once for each."""

_FOLDERS: Final = re.compile(r"[\\/]")


@dataclass(frozen=True, slots=True)
class FormLimits:
    """How many files one form may have, and how many bytes each; what it has in all is looked at before."""

    files: int
    bytes: int

    def too_large(self, name: str) -> TooLargeError:
        """Return what is told of a file that is too large."""
        told = f"{name[:200]!r} has more than {self.bytes / MEGABYTE:g} MB, which is all that one file may have"
        return TooLargeError("file", told, name=name[:200], most_bytes=self.bytes, per="file")

    def too_many(self) -> TooLargeError:
        """Return what is told of a form, or a list, with too many files."""
        return TooLargeError("file", f"comes more than {self.files} times; send the rest by another request",
                             most_files=self.files, per="files")  # fmt: skip


@dataclass(slots=True)
class Sent:
    """A file of a form. One that is `too_large` has no content."""

    name: str
    media: str
    content: IO[bytes]
    digest: Any = field(default_factory=hashlib.sha256)
    size: int = 0
    too_large: bool = False


@dataclass(slots=True)
class Form:
    """A whole form: fields by name, each with its values, and the files in their order."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    files: list[Sent] = field(default_factory=list)

    def told(self) -> bytes:
        """Return what tells this form from another, whatever stood between its parts."""
        found = hashlib.sha256()
        for name, values in self.texts.items():
            for value in values:
                _count_in(found, name.encode(), value.encode())
        for each in self.files:
            called = each.name.encode("utf-8", "surrogatepass")
            _count_in(found, called, each.media.encode(), each.digest.digest(), each.size.to_bytes(8))
        return found.digest()


def _count_in(digest: Any, *parts: bytes) -> None:
    for part in parts:
        digest.update(len(part).to_bytes(8) + part)


def bare_name(given: str) -> str:
    """Return a file's name without the folders in front of it, whichever system's they are; empty when it is none."""
    last = _FOLDERS.split(given)[-1]
    return "" if last in (".", "..") else last


def decoded(data: str, field: str, limits: FormLimits, name: str) -> bytes:
    """Return the bytes of a file in base64 (RFC 4648, section 4). Raises `InputError`, `TooLargeError`."""
    if len(data) // 4 * 3 - 2 > limits.bytes:  # before the work of it
        raise limits.too_large(name)
    try:
        found = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(field, f"is not base64 (RFC 4648): {error}") from error
    if len(found) > limits.bytes:
        raise limits.too_large(name)
    return found
