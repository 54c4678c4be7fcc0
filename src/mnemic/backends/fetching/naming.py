"""What a fetched file is called, as its server says: a name for people, never a path."""

from __future__ import annotations

import re
from email.message import Message
from typing import Final
from urllib.parse import unquote

from mnemic.backends.fetching.addresses import Address

LONGEST: Final = 200
"""Characters of a name."""

_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")

_CODED: Final = re.compile(r";\s*filename\*\s*=\s*(utf-8|iso-8859-1)'[^']*'([^;\s\"]+)", re.IGNORECASE)


def name_of(disposition: str, address: Address) -> str:
    """Return the name in a `Content-Disposition` (RFC 6266), else the last part of the path, else the host."""
    return _disposed(disposition) or plain_name(unquote(address.path, errors="replace")) or address.host


def _disposed(header: str) -> str:
    if (coded := _CODED.search(header)) and (name := plain_name(unquote(coded[2], coded[1], "replace"))):
        return name  # of two names the one that tells its encoding counts
    message = Message()
    message["content-disposition"] = _CODED.sub("", header).replace("\r", " ").replace("\n", " ")
    return plain_name(_as_meant(message.get_filename("")))


def _as_meant(text: str) -> str:
    """Return what was sent as UTF-8 and read as Latin-1, as headers are."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def plain_name(text: str) -> str:
    """Return the last part of a path, of whichever system, without what a name cannot hold; "" when nothing is left."""
    last = [part for part in re.split(r"[/\\]", text) if part.strip(" .")]
    name = _UNSEEN.sub("", last[-1]).strip(" .") if last else ""
    if len(name) <= LONGEST:
        return name
    stem, dot, suffix = name.rpartition(".")
    return f"{stem[: LONGEST - len(suffix) - 1]}.{suffix}" if dot and len(suffix) <= 10 else name[:LONGEST]
