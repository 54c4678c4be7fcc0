"""The bytes of an answer, unpacked piece by piece, each piece bounded, so that a bomb is counted and not swallowed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import Final

PIECE: Final = 1 << 16
"""Bytes that are read, and unpacked, at a time."""

ACCEPTED: Final = "gzip, deflate"
"""How a body may be packed: what zlib unpacks within a bound. Brotli and Zstandard are not asked for."""

_EITHER: Final = 32 + zlib.MAX_WBITS
"""gzip or zlib, by the first bytes."""


class PackedError(Exception):
    """The body is packed in a way that was not asked for, or damaged; the message says which."""


def pieces_of(response: HTTPResponse, packed: str) -> Iterator[bytes]:
    """Yield the body unpacked. Raises `PackedError` when it is damaged, cut off, or packed otherwise."""
    if packed in ("", "identity"):
        yield from _raw(response)
    elif packed in ("gzip", "x-gzip", "deflate"):
        yield from _inflated(_raw(response))
    else:
        raise PackedError(f"packed its answer as {packed[:40]!r}, which was not asked for")


def _raw(response: HTTPResponse) -> Iterator[bytes]:
    while piece := _read(response):
        yield piece
    if response.length:
        raise PackedError(f"broke off {response.length:,} bytes before the end")


def _read(response: HTTPResponse) -> bytes:
    try:
        return response.read(PIECE)
    except ValueError as error:  # a piece of less than no bytes
        raise PackedError("sent its answer in pieces that cannot be") from error


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack; what stands behind the end is ignored, as browsers do."""
    zipped = zlib.decompressobj(_EITHER)
    begun = False
    try:
        for piece in pieces:
            if not begun:
                zipped, begun = _started(piece, zipped), True
            left = piece
            while not zipped.eof:
                found = zipped.decompress(left, PIECE)
                left = zipped.unconsumed_tail
                if found:
                    yield found
                elif not left:
                    break
    except zlib.error as error:
        raise PackedError("packed its answer so that it cannot be unpacked") from error
    if begun and not zipped.eof:
        raise PackedError("broke off before the end of what it had packed")


def _started(first: bytes, zipped: zlib._Decompress) -> zlib._Decompress:
    """Return what unpacks a body that begins so: some servers mean bare deflate by "deflate"."""
    try:
        zipped.copy().decompress(first[:64], PIECE)
    except zlib.error:
        return zlib.decompressobj(-zlib.MAX_WBITS)
    return zipped
