"""What a message brings besides words: its bytes are taken out of the content, which refers to them from then on.

Parts are read as the chat APIs of OpenAI and Anthropic write them: an address or a data URI, base64, bytes, or the path
of a file. What is taken out is told apart by its SHA-256, so that the same picture gives the same content again. What
the bytes are is told by their first ones; what cannot be told so is what the sender says. Nothing is decoded here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mnemic.core.media import family_of, media_of
from mnemic.errors import InputError, TooLargeError
from mnemic.model.attachment import AttachmentKind
from mnemic.model.parts import BLOB, MEDIA, NO_VIDEO, address_of, check_blob

_MEGABYTE: Final = 1_000_000
_NAME: Final = 255  # characters of a file's name that are kept
_CAPTION: Final = 10_000  # and of a caption; all of it stands in the content

_KINDS: Final[Mapping[str, AttachmentKind]] = {
    "image": AttachmentKind.IMAGE,
    "image_url": AttachmentKind.IMAGE,
    "input_image": AttachmentKind.IMAGE,
    "input_audio": AttachmentKind.AUDIO,
    "audio": AttachmentKind.AUDIO,
}
_NESTED: Final = ("image_url", "source", "file", "input_audio", "audio")
_ENCODED: Final = ("data", "bytes", "file_data")
_ADDRESSES: Final = ("url", "file_url", *_NESTED)
_DATA_URI: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w.+-]+=[^;,]*)*)(;base64)?,", re.IGNORECASE)
_WHITE: Final = re.compile(r"\s+")
_ESCAPED: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_MEDIA_KEYS: Final = ("media_type", "mime_type", "media", "mimeType", "content_type")
_ELSEWHERE: Final = ("file-service://", "sediment://")
"""What ChatGPT's exports say of files that lie at OpenAI's: names, not addresses."""

_OCTETS: Final = "application/octet-stream"
_FORMATS: Final = re.compile(r"[a-z0-9]{2,8}")


@dataclass(frozen=True, slots=True)
class AttachmentLimits:
    """What a message may bring: megabytes of each attachment, and how many."""

    megabytes: int = 20
    count: int = 20


@dataclass(frozen=True, slots=True)
class Brought:
    """An attachment on its way in: part `part` of its message.

    `data` are its bytes; None for what is at an `address`, or stored already.
    """

    part: int
    place: str
    kind: AttachmentKind
    digest: str
    size: int
    media: str
    name: str
    caption: str
    address: str = ""
    data: bytes | None = field(default=None, repr=False)


PathReader = Callable[[str, str], bytes]
"""From a path and the field that has it to the bytes of the file. Raises `InputError`."""


class Intake:
    """Takes attachments out of contents. `read` reads the files that paths name, where that is allowed."""

    def __init__(self, limits: AttachmentLimits | None = None, read: PathReader | None = None) -> None:
        self._limits = limits or AttachmentLimits()
        self._read = read

    def take(self, content: Any, place: str) -> tuple[Any, tuple[Brought, ...]]:
        """Return checked content without bytes, and what it brings. Raises `InputError`, `TooLargeError`."""
        if isinstance(content, str) or not isinstance(content, Sequence):
            return content, ()
        found: list[Brought] = []
        inside = len(content)
        parts: list[Any] = []
        for number, part in enumerate(content):
            if isinstance(part, Mapping) and part.get("type") == "tool_result" and _is_list(part.get("content")):
                taken, brought = self._take_all(part["content"], inside, f"{place}[{number}].content")
                inside += sum(_is_media(each) for each in part["content"])
                parts.append({**part, "content": taken})
                found += brought
                continue
            taken, one = self._take(part, number, f"{place}[{number}]")
            parts.append(taken)
            found += [one] if one else []
        if len(found) > self._limits.count:
            raise TooLargeError(
                place, f"brings {len(found)} attachments; a message may have {self._limits.count}",
                limit=self._limits.count,
            )  # fmt: skip
        return parts, tuple(found)

    def _take_all(self, parts: Sequence[Any], first: int, place: str) -> tuple[list[Any], list[Brought]]:
        taken: list[Any] = []
        found: list[Brought] = []
        number = first
        for at, part in enumerate(parts):
            new, one = self._take(part, number, f"{place}[{at}]")
            number += _is_media(part)
            taken.append(new)
            found += [one] if one else []
        return taken, found

    def _take(self, part: Any, number: int, place: str) -> tuple[Any, Brought | None]:
        if not _is_media(part):
            return part, None
        _refuse_video(_declared(part), place)
        if BLOB in part:
            check_blob(part[BLOB], f"{place}.{BLOB}")
            return part, _referring(part, number, place)
        where, value = _payload(part, place)
        if where:
            return self._taken(part, number, place, where, value)
        address = address_of(part)
        if not address:
            return part, None
        kind = _KINDS.get(part["type"], AttachmentKind.FILE)
        return part, Brought(number, place, kind, "", 0, _declared(part), _name(part), _caption(part), address)

    def _taken(
        self, part: Mapping[str, Any], number: int, place: str, where: tuple[str, ...], value: Any
    ) -> tuple[Mapping[str, Any], Brought]:
        exact = f"{place}.{'.'.join(where)}"
        data, declared = self._bytes(part, where, value, exact)
        if not data:
            raise InputError(exact, "is empty: it has no bytes")
        if len(data) > self._limits.megabytes * _MEGABYTE:
            raise self._too_large(exact, len(data))
        kind = _KINDS.get(part["type"], AttachmentKind.FILE)
        media = media_of(data, declared if declared not in ("", _OCTETS) else _declared(part), kind)
        _refuse_video(media, place)
        if media == "image/svg+xml" and kind is AttachmentKind.IMAGE:
            raise InputError(place, "is an SVG drawing, which is a program to draw with; give a PNG or JPEG picture")
        kind = family_of(media) or kind
        name = _name(part) or (_last(str(value)) if where[-1] == "path" else "")
        digest = hashlib.sha256(data).hexdigest()
        kept = _without(part, where)
        if where[-1] == "path":
            kept.setdefault("name", name)
        kept[BLOB] = {"digest": digest, "media": media, "size": len(data)}
        return kept, Brought(number, place, kind, digest, len(data), media, name, _caption(part), data=data)

    def _bytes(self, part: Mapping[str, Any], where: tuple[str, ...], value: Any, exact: str) -> tuple[bytes, str]:
        """Return the bytes that a value stands for, and what it says that they are."""
        if where[-1] == "path":
            if self._read is None:
                raise InputError(
                    exact, "names a file of this machine, which is not read for callers from outside; send its bytes"
                )
            return self._read(str(value), exact), ""
        if isinstance(value, bytes | bytearray | memoryview):
            return bytes(value), ""
        if value[:5].lower() == "data:":
            return self._from_uri(value, exact)
        if where[-1] in _ENCODED:
            source = part.get("source")
            if where[0] == "source" and isinstance(source, Mapping) and source.get("type") == "text":
                return value.encode("utf-8", "surrogatepass"), "text/plain"
            return self._decoded(value, exact), ""
        raise InputError(exact, f"{value[:60]!r} is no address (http, https) and no data URI")

    def _from_uri(self, value: str, exact: str) -> tuple[bytes, str]:
        found = _DATA_URI.match(value)
        if found is None:
            raise InputError(exact, "is no data URI such as data:image/png;base64,…")
        media = (found[1] or "").lower()
        _refuse_video(media, exact)
        rest = value[found.end() :]
        return (self._decoded(rest, exact) if found[3] else _unescaped(rest)), media

    def _decoded(self, value: str, exact: str) -> bytes:
        if len(value) // 4 * 3 > self._limits.megabytes * _MEGABYTE * 1.1:
            raise self._too_large(exact, len(value) // 4 * 3)
        try:
            text = _WHITE.sub("", value)
            if "-" in text or "_" in text:
                text = text.replace("-", "+").replace("_", "/")
            return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        except (binascii.Error, ValueError) as error:
            raise InputError(exact, f"is not base64: {error}") from error

    def _too_large(self, exact: str, size: int) -> TooLargeError:
        most = self._limits.megabytes
        return TooLargeError(
            exact, f"has {size / _MEGABYTE:.1f} MB; an attachment may have {most} MB (setting attachment_megabytes)",
            limit=most * _MEGABYTE,
        )  # fmt: skip


def _unescaped(text: str) -> bytes:
    """Return the bytes of a data URI that is not base64 (RFC 3986, 2.1)."""
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), text.encode("utf-8", "surrogatepass"))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _is_media(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, Mapping) else None
    return isinstance(kind, str) and kind in MEDIA


def _places(part: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield where a part may hold its bytes, with what stands there; bytes come before addresses."""
    inner = [(name, part[name]) for name in _NESTED if isinstance(part.get(name), Mapping)]
    for last in (*_ENCODED, "path"):
        yield (last,), part.get(last)
        yield from (((name, last), value.get(last)) for name, value in inner)
    for last in _ADDRESSES:
        yield (last,), part.get(last)
    yield from (((name, "url"), value.get("url")) for name, value in inner)


def _payload(part: Mapping[str, Any], place: str) -> tuple[tuple[str, ...], Any]:
    """Return where a part's bytes are, and the value there; nothing when it only has an address, or words."""
    for where, value in _places(part):
        if value is None or isinstance(value, Mapping):
            continue
        exact = f"{place}.{'.'.join(where)}"
        is_path = where[-1] == "path" and (isinstance(value, str) or hasattr(value, "__fspath__"))
        if not is_path and not isinstance(value, str | bytes | bytearray | memoryview):
            raise InputError(exact, f"is of type {type(value).__name__}; give bytes, base64 or an address")
        if isinstance(value, str) and value.lower().startswith(("http://", "https://", *_ELSEWHERE)):
            continue
        if isinstance(value, str) and not value.strip():
            raise InputError(exact, "is empty: it has no bytes")
        return where, value
    for name in _NESTED:
        inner = part.get(name)
        if isinstance(inner, Mapping) and not address_of(part) and not _stands_for_itself(part, inner):
            last = "url" if name == "image_url" else "file_data" if name == "file" else "data"
            raise InputError(f"{place}.{name}.{last}", "is missing: there are no bytes and no address")
    return (), None


def _stands_for_itself(part: Mapping[str, Any], inner: Mapping[str, Any]) -> bool:
    """Tell whether a part says something without bytes: words, or the name of what lies at a provider's."""
    known = ("file_id", "id", "transcript", "caption", "filename", "name", "content")
    return any(each.get(key) for each in (part, inner) for key in known)


def _referring(part: Mapping[str, Any], number: int, place: str) -> Brought:
    blob = part[BLOB]
    media = str(blob["media"])
    kind = family_of(media) or _KINDS.get(part["type"], AttachmentKind.FILE)
    return Brought(number, place, kind, blob["digest"], blob["size"], media, _name(part), _caption(part))


def _without(part: Mapping[str, Any], where: tuple[str, ...]) -> dict[str, Any]:
    """Return a part without what stands at a place; what is left of an object around it stays when it says anything."""
    kept = {name: value for name, value in part.items() if name != where[0]}
    if len(where) > 1:
        left = {name: value for name, value in part[where[0]].items() if name not in (where[1], "type", *_MEDIA_KEYS)}
        if left:
            kept[where[0]] = left
    return kept


def _declared(part: Mapping[str, Any]) -> str:
    """Return what the sender says that a part is."""
    for each in (part, *(part[name] for name in _NESTED if isinstance(part.get(name), Mapping))):
        for key in _MEDIA_KEYS:
            value = each.get(key)
            if isinstance(value, str) and "/" in value:
                return value.partition(";")[0].strip().lower()
        form = each.get("format")
        if isinstance(form, str) and _FORMATS.fullmatch(form.lower()):
            return f"audio/{form.lower()}"
    return ""


def _name(part: Mapping[str, Any]) -> str:
    for each in (part, *(part[name] for name in _NESTED if isinstance(part.get(name), Mapping))):
        for key in ("filename", "name", "file_name"):
            if isinstance(each.get(key), str) and each[key].strip():
                return _last(each[key])
    return ""


def _last(path: str) -> str:
    """Return the last part of what may be a path: a name never becomes one."""
    return re.split(r"[\\/]", path.replace("\0", ""))[-1][:_NAME]


def _caption(part: Mapping[str, Any]) -> str:
    words = [str(part[key]) for key in ("caption", "alt", "title", "text", "transcript") if part.get(key)]
    return "; ".join(dict.fromkeys(words))[:_CAPTION]


def _refuse_video(media: str, place: str) -> None:
    if media.startswith("video/"):
        raise InputError(place, f"{NO_VIDEO} ({media})")
