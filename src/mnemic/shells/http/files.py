"""Files as they are given out: never shown in a page, under a name that is one, as the type that they have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from starlette.responses import Response

from mnemic.api import Memory
from mnemic.core.media import media_of

UNKNOWN: Final = "application/octet-stream"

_MEDIA: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,127}")
_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f"\\/:*?<>|\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]')
_LONGEST: Final = 120  # characters of a name


def file_reply(memory: Memory, verb: str, given: Mapping[str, Any], content: bytes) -> Response:
    """Return the reply that brings a file; what it is called and is of type is looked up."""
    name, media = _LOOKED_UP[verb](memory, given, content)
    media = media.partition(";")[0].strip().lower()
    headers = {"Content-Disposition": disposition(name), "X-Content-Type-Options": "nosniff"}
    return Response(content, 200, headers, media_type=media if _MEDIA.fullmatch(media) else UNKNOWN)


def disposition(name: str) -> str:
    """Return what lets a browser save a file under a name (RFC 6266), whatever the name holds."""
    bare = _UNSAFE.sub("_", re.split(r"[\\/]", name)[-1]).strip(" .")
    if len(bare) > _LONGEST:
        stem, dot, end = bare.rpartition(".")
        bare = f"{stem[: _LONGEST - len(end) - 1]}{dot}{end}" if stem and len(end) < 12 else bare[:_LONGEST]
    bare = bare or "file"
    plain = bare.encode("ascii", "replace").decode("ascii").replace("?", "_").replace("%", "_")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(bare, safe='')}"


def _document(memory: Memory, given: Mapping[str, Any], _: bytes) -> tuple[str, str]:
    place = {name: given[name] for name in ("cube", "user")}
    document = memory.knowledge.get(given["document"], **place)
    number = given.get("version")
    if number is None:
        return document.name, (document.current or document.latest).media
    versions = memory.knowledge.versions(given["document"], **place)
    return document.name, next((each.media for each in versions if each.number == number), UNKNOWN)


def _attachment(memory: Memory, given: Mapping[str, Any], content: bytes) -> tuple[str, str]:
    found = memory.attachments.get(given["id"], user=given["user"], cube=given.get("cube"))
    media = media_of(content, found.media)
    if not given.get("thumbnail"):
        return found.name or found.id, media
    stem, _, end = found.name.rpartition(".")
    return f"{stem or end or found.id}-small.{media.rpartition('/')[2]}", media


_LOOKED_UP: Final[Mapping[str, Callable[[Memory, Mapping[str, Any], bytes], tuple[str, str]]]] = {
    "knowledge.file": _document,
    "attachments.file": _attachment,
}
