"""Files of this machine on their way to a server: as a form, piece by piece, or in base64 inside a message.

A path is one of this machine: it is read here, and only its name travels. What can be read twice can be sent twice.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

from mnemic.errors import InputError
from mnemic.ids import new_id
from mnemic.model.message import Message
from mnemic.wire.sources import address_in, check_scheme, checked_file

PIECE: Final = 256 * 1024
"""Bytes of a file that are read at one time."""

LONGEST: Final = 200
"""Megabytes of a file that is put into a message: it is held in memory, and the server takes less."""

_NESTED: Final = ("image_url", "source", "file", "input_audio", "audio")
_ENCODED: Final = ("data", "bytes", "file_data")
_BYTES: Final = (bytes, bytearray, memoryview)


@dataclass(frozen=True, slots=True)
class Body:
    """What a request brings that is not JSON. `pieces` gives it from its beginning; `again` says that it can twice."""

    pieces: Callable[[], Iterable[bytes] | AsyncIterable[bytes]]
    media: str
    length: int | None = None
    again: bool = False


def is_file(source: object) -> bool:
    """Tell whether a source is a file to be sent, not an address or nothing.

    Raises `InputError` for an address that is not fetched.
    """
    if isinstance(source, str):
        if address_in(source.strip()) is not None:
            return False
        check_scheme(source.strip())
    return source is not None


def name_of(source: object) -> str | None:
    """Return the name of a file; None for bytes, and for what has none."""
    path = source if isinstance(source, str | os.PathLike) else getattr(source, "name", None)
    return Path(path).name or None if isinstance(path, str | os.PathLike) else None


def form_of(source: object, fields: Iterable[tuple[str, str]]) -> Body:
    """Return the form that sends a file with some fields (RFC 7578). Raises `InputError` for what is no file."""
    boundary = f"mnemic-{new_id()}"
    opened, length = _opened(source)
    head = b"".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value.encode() + b"\r\n"
        for name, value in fields
    )
    head += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n'.encode()
    tail = f"\r\n--{boundary}--\r\n".encode()

    def pieces() -> Iterator[bytes]:
        yield head
        with opened() as file:
            while piece := file.read(PIECE):
                yield piece
        yield tail

    whole = None if length is None else len(head) + length + len(tail)
    return Body(pieces, f"multipart/form-data; boundary={boundary}", whole, again=length is not None)


def _opened(source: object) -> tuple[Callable[[], Any], int | None]:
    """Return what opens a file at its beginning, and its bytes where it can be opened again."""
    if isinstance(source, _BYTES):
        data = bytes(source)
        return (lambda: io.BytesIO(data)), len(data)
    if isinstance(source, str | os.PathLike):
        path = checked_file(source, "source")
        return (lambda: path.open("rb")), path.stat().st_size
    if not hasattr(source, "read"):
        raise InputError("source", f"needs a path, bytes, a file open in binary or an address, got {_kind(source)}")
    return _handed(source)  # type: ignore[arg-type]  # it has what is used of it


def _handed(file: BinaryIO) -> tuple[Callable[[], Any], int | None]:
    """Return the same for a file that is open: it is read from where it stands, and left open."""
    try:
        begin = file.tell()
        length = file.seek(0, os.SEEK_END) - begin
        file.seek(begin)
    except (OSError, ValueError, AttributeError):  # a pipe, a socket
        return (lambda: _Left(file)), None

    def again() -> _Left:
        file.seek(begin)
        return _Left(file)

    return again, length


class _Left:
    """A file of the caller's: it is read, and not closed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, size: int) -> bytes:
        """Return the next bytes. Raises `InputError` for a file that is open as text."""
        found = self._file.read(size)
        if not isinstance(found, bytes):
            raise InputError("source", "is open as text; open it in binary ('rb')")
        return found


def brings_files(given: Mapping[str, Any]) -> bool:
    """Tell whether messages name files of this machine."""
    return any(True for part in _parts(given.get("messages")) for each in _holders(part) if "path" in each)


def with_bytes(messages: Any) -> Any:
    """Return messages with the files that their parts name, and bytes, in base64."""
    if isinstance(messages, Message):
        return replace(messages, content=_content(messages.content, "messages.content"))
    if isinstance(messages, Mapping):
        return _message(messages, "messages")
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        return messages
    return [_message(each, f"messages[{at}]") for at, each in enumerate(messages)]


def _message(message: Any, place: str) -> Any:
    if isinstance(message, Message):
        return replace(message, content=_content(message.content, f"{place}.content"))
    if isinstance(message, Mapping) and "content" in message:
        return {**message, "content": _content(message["content"], f"{place}.content")}
    return message


def _content(content: Any, place: str) -> Any:
    if not isinstance(content, Sequence) or isinstance(content, str | bytes):
        return content
    return [_part(each, f"{place}[{at}]") for at, each in enumerate(content)]


def _part(part: Any, place: str) -> Any:
    if not isinstance(part, Mapping):
        return part
    found = _encoded(part, place)
    for name in _NESTED:
        if isinstance(inner := part.get(name), Mapping):
            found[name] = _encoded(inner, f"{place}.{name}")
            if "path" in inner and not any(found.get(key) for key in ("filename", "name")):
                found["name"] = Path(inner["path"]).name
    if part.get("type") == "tool_result":
        found["content"] = _content(part.get("content"), f"{place}.content")
    return found


def _encoded(holder: Mapping[str, Any], place: str) -> dict[str, Any]:
    found = dict(holder)
    path = found.pop("path", None)
    if isinstance(path, str | os.PathLike):
        file = checked_file(path, f"{place}.path", folder="give the files in it one by one")
        if file.stat().st_size > LONGEST * 1_000_000:
            raise InputError(f"{place}.path", f"has more than {LONGEST} MB, which is too much for a message")
        found["data"] = _base64(file.read_bytes())
        found.setdefault("name", file.name)
    elif path is not None:
        found["path"] = path
    for name, value in found.items():
        if isinstance(value, _BYTES):
            told = _base64(bytes(value))
            found[name] = told if name in _ENCODED else f"data:application/octet-stream;base64,{told}"
    return found


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _parts(messages: Any) -> Iterator[Mapping[str, Any]]:
    many = messages if isinstance(messages, Sequence) and not isinstance(messages, str | bytes) else [messages]
    for each in many:
        content = each.get("content") if isinstance(each, Mapping) else getattr(each, "content", None)
        if isinstance(content, Sequence) and not isinstance(content, str | bytes):
            yield from (part for part in content if isinstance(part, Mapping))


def _holders(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield part
    yield from (part[name] for name in _NESTED if isinstance(part.get(name), Mapping))
    if part.get("type") == "tool_result":
        yield from (inner for each in _parts([part]) for inner in _holders(each))


def _kind(value: object) -> str:
    return type(value).__name__
