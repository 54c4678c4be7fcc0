"""An export that comes as lines of JSON: taken in whole before it is read, so that no slow client holds the store.

Small ones stay in memory, others in a file of the system's folder for such, which goes when it is closed.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import IO, Final

from starlette.requests import ClientDisconnect, Request

from mnemic.api.threads import Threads
from mnemic.errors import InputError, UnreachableError

_IN_MEMORY: Final = 4_000_000  # bytes
_AT_ONCE: Final = 1_000_000  # bytes that are written at one time
_MARK: Final = b"\xef\xbb\xbf"  # some editors put it in front of UTF-8


@asynccontextmanager
async def taken_in(request: Request, threads: Threads) -> AsyncIterator[IO[bytes]]:
    """Yield a file with the body of a request, at its beginning. Raises `UnreachableError` when the client leaves."""
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
        held = bytearray()
        try:
            async for chunk in request.stream():
                held += chunk
                if len(held) >= _AT_ONCE:
                    written = bytes(held)
                    held.clear()
                    await threads.call(lambda data=written: file.write(data))  # type: ignore[misc]
        except ClientDisconnect as error:
            raise UnreachableError("the client has left before the request was whole") from error
        file.write(held)
        file.seek(0)
        yield file


def lines_of(file: IO[bytes]) -> Iterator[str]:
    """Yield the lines of a file. Raises `InputError` naming the first that is not UTF-8."""
    for number, raw in enumerate(file):
        line = raw.removeprefix(_MARK) if number == 0 else raw
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError(f"lines[{number}]", "is not UTF-8") from error
