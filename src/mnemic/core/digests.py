"""Content hashes of rows, by which two stores are compared: the same on every engine, and in whatever order they come.

A row's hash is BLAKE2b (RFC 7693) of 64 bits over bytes that have each value with its type and length, so that no two
rows are written alike. Hashes of rows are added up modulo 2**64: that knows how often a row is there, not where.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

_MODULUS: Final = 1 << 64
_WRITTEN: Final = 2  # the version of `marshal` that depends on values only, not on which of them are one object


@dataclass(frozen=True, slots=True)
class Digest:
    """How many rows there are, and the sum of their hashes."""

    rows: int = 0
    total: int = 0

    def __add__(self, other: Digest) -> Digest:
        return Digest(self.rows + other.rows, (self.total + other.total) % _MODULUS)

    @property
    def hex(self) -> str:
        """The sum as 16 hex digits."""
        return f"{self.total:016x}"


def digest(table: str, rows: Iterable[tuple[Any, ...]]) -> tuple[Digest, int]:
    """Return the digest of rows of a table, and how many bytes they were written as."""
    count = total = size = 0
    key = table.encode()[:64]
    for row in rows:
        data = marshal.dumps(row, _WRITTEN)
        count += 1
        size += len(data)
        total += int.from_bytes(blake2b(data, digest_size=8, key=key).digest())
    return Digest(count, total % _MODULUS), size
