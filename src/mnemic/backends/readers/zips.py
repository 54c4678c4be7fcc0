"""Zips that are opened only when what is in them stays within bounds: told sizes, ratio, and XML without entities.

Names of members never become paths: they are read from the archive, by name, into memory.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Final

from mnemic.errors import ReadError

MEMBERS: Final = 20_000
TOTAL: Final = 1 << 30
"""Bytes of all members, unpacked."""
ONE: Final = 512 << 20
"""Bytes of one member, unpacked."""
RATIO: Final = 200
"""How many times larger members may be than the archive. Plain XML of spreadsheets reaches about 50."""
SMALL: Final = 64 << 20
"""Bytes, unpacked, up to which the ratio says nothing: a short file of one letter is no bomb."""
_PROLOG: Final = 4096
_ENTITY: Final = re.compile(rb"<!ENTITY|<!DOCTYPE[^>]*\[")


def checked_zip(path: Path, *, entities: bool = False) -> zipfile.ZipFile:
    """Open a zip that is within bounds. Raises `ReadError`. `entities`: members may declare document types."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ReadError("it is cut off or damaged: the directory of what is in it (ZIP) cannot be read") from error
    try:
        _check(archive, path.stat().st_size)
        if not entities:
            _check_prologs(archive)
    except (zipfile.BadZipFile, EOFError) as error:
        archive.close()
        raise ReadError("it is cut off or damaged: a part of it (ZIP) cannot be unpacked") from error
    except BaseException:
        archive.close()
        raise
    return archive


def _check(archive: zipfile.ZipFile, size: int) -> None:
    members = archive.infolist()
    if len(members) > MEMBERS:
        raise ReadError(f"it has {len(members):,} members, and {MEMBERS:,} are the limit", limit="members")
    total = sum(member.file_size for member in members)
    largest = max((member.file_size for member in members), default=0)
    if total > TOTAL or largest > ONE:
        raise ReadError(
            f"it is a zip bomb, or too large: {total >> 20:,} MB unpacked, {largest >> 20:,} MB of that in one member; "
            f"the limits are {TOTAL >> 20:,} and {ONE >> 20:,} MB",
            limit="unpacked",
        )
    if total > SMALL and total > RATIO * size:
        raise ReadError(
            f"it is a zip bomb: what is in it is {total // max(1, size):,} times its size, and {RATIO} is the limit",
            limit="ratio",
        )
    if any(member.flag_bits & 1 for member in members):
        raise ReadError("it is locked with a password: save it without one, or as PDF")


def _check_prologs(archive: zipfile.ZipFile) -> None:
    for member in archive.infolist():
        if member.filename.endswith((".xml", ".rels", ".vml")):
            with archive.open(member) as file:
                if _ENTITY.search(file.read(_PROLOG)):
                    raise ReadError("it declares entities in its XML, as bombs do, and no office program writes them")
