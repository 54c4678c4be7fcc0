"""Forms with files (multipart/form-data, RFC 7578), taken in as they come: what is large lies on disk, never in memory.

A form counts only when it is whole: one that breaks off, or has no end, stores nothing. A file that is too large is
told as such and not kept; the others of its form are. Names of files are names: folders in front of them are left out,
and none becomes a path.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from typing import Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from mnemic.api.threads import Threads
from mnemic.errors import InputError, TooLargeError, UnreachableError
from mnemic.wire.forms import FILE, FORM, Form, FormLimits, Sent, bare_name

_IN_MEMORY: Final = 1_000_000  # bytes of a file; what is larger goes to the system's folder for such
_AT_ONCE: Final = 1_000_000  # bytes that are read and written at one time
UNSAID: Final = "application/octet-stream"
"""What clients call a file of which they say nothing."""

_TEXTS: Final = 64  # fields beside the files
_TEXT_BYTES: Final = 1_000_000  # of all fields together


@asynccontextmanager
async def form_of(request: Request, threads: Threads, limits: FormLimits) -> AsyncIterator[Form]:
    """Yield the form that a request brings, whose files go when the block ends. It takes the place of a stream.

    Raises `InputError` for what is no whole form, `TooLargeError`, and `UnreachableError` when the client leaves.
    """
    with threads.holding(), ExitStack() as files:
        taking = _Taking(_boundary(request), limits, files)
        held = bytearray()
        try:
            async for chunk in request.stream():
                held += chunk
                if len(held) >= _AT_ONCE:
                    taken = bytes(held)
                    held.clear()
                    await threads.within(lambda data=taken: taking.feed(data))  # type: ignore[misc]
        except ClientDisconnect as error:
            raise UnreachableError("the client has left before the form was whole") from error
        last = bytes(held)
        await threads.within(lambda: taking.feed(last))
        yield taking.whole()


def _boundary(request: Request) -> bytes:
    said, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if said.decode("latin-1") != FORM or not 0 < len(boundary) <= 200:  # RFC 2046 allows 70; some clients send more
        raise InputError("Content-Type", f"{FORM} needs a boundary")
    return boundary


class _Taking:
    """Takes a form in, piece by piece."""

    def __init__(self, boundary: bytes, limits: FormLimits, files: ExitStack) -> None:
        self._form = Form()
        self._limits = limits
        self._files = files
        self._headers: dict[str, bytes] = {}
        self._name, self._value = b"", b""
        self._field: str | None = None
        self._text = bytearray()
        self._size = 0
        self._ended = False
        whole: Mapping[str, Callable[..., None]] = {
            "on_part_begin": self._begin, "on_header_field": self._header_name, "on_header_value": self._header_value,
            "on_header_end": self._header_end, "on_headers_finished": self._begun, "on_part_data": self._data,
            "on_part_end": self._part_end, "on_end": self._end,
        }  # fmt: skip
        self._parser = MultipartParser(boundary, dict(whole))  # type: ignore[arg-type]  # a TypedDict of these

    def feed(self, data: bytes) -> None:
        """Take more of it in."""
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise InputError("body", f"is no form that can be read: {error}") from error

    def whole(self) -> Form:
        """Return the form. Raises `InputError` when its end has not come."""
        if not self._ended:
            raise InputError("body", "is cut off: the form has no end; nothing was stored")
        for each in self._form.files:
            each.content.seek(0)
        return self._form

    def _begin(self) -> None:
        self._headers.clear()
        self._text.clear()
        self._field = None

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._name.decode("latin-1").lower()] = self._value
        self._name, self._value = b"", b""

    def _begun(self) -> None:
        kind, options = parse_options_header(self._headers.get("content-disposition", b""))
        if kind != b"form-data" or not options.get(b"name"):
            raise InputError("body", "is no form that can be read: a part has no name")
        name = _decoded(options[b"name"], "a field")
        given = options.get(b"filename")
        if given is None:
            if sum(map(len, self._form.texts.values())) >= _TEXTS:
                raise InputError("body", f"has more than {_TEXTS} fields")
            self._field = name
            return
        if name != FILE:
            raise InputError(name[:100], f"is no field for files here; send them as `{FILE}`")
        if len(self._form.files) >= self._limits.files:
            raise self._limits.too_many()
        media = self._headers.get("content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        media = "" if media == UNSAID else media
        content = self._files.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - the stack is one
        self._form.files.append(Sent(bare_name(_decoded(given, FILE)), media, content))

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._field is not None:
            self._size += end - start
            if self._size > _TEXT_BYTES:
                raise TooLargeError(self._field[:100], f"makes the fields longer than {_TEXT_BYTES:,} bytes")
            self._text += data[start:end]
            return
        file = self._form.files[-1]
        file.size += end - start
        if file.size > self._limits.bytes and not file.too_large:
            file.too_large = True
            file.content.seek(0)
            file.content.truncate()
        part = memoryview(data)[start:end]
        file.digest.update(part)
        if not file.too_large:
            file.content.write(part)

    def _part_end(self) -> None:
        if self._field is None:
            return
        if self._field == FILE:
            raise InputError(FILE, "holds no file: a file needs a file name beside it (curl -F file=@handbook.pdf)")
        self._form.texts.setdefault(self._field, []).append(_decoded(bytes(self._text), self._field))

    def _end(self) -> None:
        self._ended = True


def _decoded(given: bytes, what: str) -> str:
    try:
        return given.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(what[:100], "is not UTF-8") from error
