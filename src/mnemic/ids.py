"""Ids that sort by time, ids that callers give, and hashes that name content.

Ids are UUIDv7 (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then a 12-bit counter that keeps ids of one
process in order inside a millisecond, then 62 random bits. They are opaque to everyone else: never parsed.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from typing import Final

from mnemic.errors import InputError

ID_LIMIT: Final = 512
"""Characters of an id that a caller may choose."""

_lock = threading.Lock()
_last = [0]  # milliseconds << 12 | counter, of the last id that this process made


def new_id() -> str:
    """Return a new id; within a process each is greater than the one before."""
    with _lock:
        _last[0] = tick = max((time.time_ns() // 1_000_000) << 12, _last[0] + 1)
    millis, counter = tick >> 12, tick & 0xFFF
    tail = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    value = (millis & ((1 << 48) - 1)) << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | tail
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def new_ids() -> Iterator[str]:
    """Yield new ids without end."""
    while True:
        yield new_id()


def content_hash(*parts: str) -> str:
    """Return 32 hex digits that name these strings in this order (BLAKE2b, 128 bits)."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8))
        digest.update(data)
    return digest.hexdigest()


def check_id(value: object, field: str) -> str:
    """Return a caller's id as text; raise `InputError` when it is empty, too long or of another type."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(field, f"needs a string or a whole number, got {type(value).__name__}")
    if isinstance(value, int) and value.bit_length() > ID_LIMIT:
        raise InputError(field, f"is a number of {value.bit_length()} bits; at most {ID_LIMIT} are allowed")
    text = str(value)
    if not text.strip():
        raise InputError(field, "is empty; give an id")
    if len(text) > ID_LIMIT:
        raise InputError(field, f"has {len(text)} characters; at most {ID_LIMIT} are allowed")
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise InputError(field, "holds a NUL or a lone surrogate; ids must be plain text")
    return text
