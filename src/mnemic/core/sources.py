"""What a caller gives to be a document, checked: one source of several kinds, under a name that is only a name.

Every fault names the field. What a name or a path says is never taken for a place to write to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mnemic.core.intake import check_flag as check_flag
from mnemic.core.intake import check_id, check_metadata
from mnemic.errors import InputError
from mnemic.model.document import ChunkKind, DocumentState, Origin
from mnemic.text import sound

_MEDIA: Final = re.compile(r"[\w!#$&^.+-]{1,127}/[\w!#$&^.+-]{1,127}(?:\s*;.{0,200})?\Z", re.ASCII)  # RFC 6838, 4.2
_SEPARATORS: Final = re.compile(r"[/\\]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_PASSWORD: Final = 1_024  # characters of a file's password
_LONGEST: Final = 1e6  # hours between two looks at an address


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of a document beside its content, checked. `name` is empty where the content says it."""

    name: str
    media: str = ""
    password: str | None = field(default=None, repr=False)
    metadata: Mapping[str, Any] | None = None
    refresh_hours: float | None = None


def told_of(
    *, name: object, media: object, password: object, metadata: object, refresh_hours: object, origin: Origin
) -> Told:
    """Return what is told of a document. Raises `InputError`."""
    if refresh_hours is not None and origin is not Origin.ADDRESS:
        raise InputError("refresh_hours", "is for addresses; add a file again when it has changed, or use `sync`")
    return Told(
        "" if name is None else check_name(name),
        _media(media),
        _password(password),
        None if metadata is None else check_metadata(metadata, "metadata"),
        _hours(refresh_hours),
    )


def check_name(name: object, field: str = "name") -> str:
    """Return a document's name. It may look like a path, and is none: nothing is read or written under it."""
    checked = check_id(name, field)
    if _CONTROL.search(checked):
        raise InputError(field, "holds a line end or another control character; give a name of one line")
    return checked


def name_in(path: object) -> str:
    """Return the last part of a path as a name; empty when there is none."""
    if not isinstance(path, str):
        return ""
    last = _CONTROL.sub(" ", sound(_SEPARATORS.split(path.rstrip("/\\"))[-1])).strip()
    return last[-512:]


def check_one(source: object, text: object) -> None:
    """Raise `InputError` unless there is exactly one source."""
    if source is None and text is None:
        raise InputError("source", "give a file, an address, or a text (text=)")
    if source is not None and text is not None:
        raise InputError("text", "was given beside a source; give one of them")


def check_state(state: object) -> DocumentState | None:
    """Return the state that documents are asked for."""
    known = [each.value for each in DocumentState]
    if state is not None and state not in known:
        raise InputError("state", f"{state!r} is no state of a document; known: {', '.join(known)}")
    return None if state is None else DocumentState(str(state))


def check_kind(kind: object) -> ChunkKind:
    """Return a kind of chunk."""
    known = [each.value for each in ChunkKind]
    if kind not in known:
        raise InputError("kinds", f"{kind!r} is no kind of chunk; known: {', '.join(known)}")
    return ChunkKind(str(kind))


def _media(media: object) -> str:
    if media is None:
        return ""
    if not isinstance(media, str) or not _MEDIA.match(media):
        raise InputError("media", f"needs a type such as application/pdf, got {str(media)[:80]!r}")
    return media


def _password(password: object) -> str | None:
    if password is None:
        return None
    if not isinstance(password, str) or not 0 < len(password) <= _PASSWORD or "\0" in password:
        raise InputError("password", f"needs a text of 1 to {_PASSWORD:,} characters")
    return password


def _hours(hours: object) -> float | None:
    if hours is None:
        return None
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 < hours <= _LONGEST:
        raise InputError("refresh_hours", f"needs a number of hours above 0, got {hours!r}")
    return float(hours)
