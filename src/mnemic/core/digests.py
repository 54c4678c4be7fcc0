"""Content hashes of rows, by which two stores are compared: the same on every engine, and in whatever order they come.

A row's hash is BLAKE2b (RFC 7693) of 64 bits over a text that has each value with its type and length, so that no two
rows are written alike. Hashes of rows are added up modulo 2**64: that knows how often a row is there, not where.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_MODULUS: Final = 1 << 64

_WRITTEN: Final[Mapping[type, Callable[[Any], str]]] = {
    type(None): lambda value: "n",  # noqa: ARG005 - there is one None
    bool: lambda value: f"b{value:d}",
    int: lambda value: f"i{value}",
    float: lambda value: f"f{value!r}",
    str: lambda value: f"s{len(value)}:{value}",
    bytes: lambda value: f"x{value.hex()}",
}


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


def digest(table: str, rows: Iterable[Sequence[Any]], words: int | None = None) -> tuple[Digest, int]:
    """Return the digest of rows of a table, and how many bytes they were written as.

    `words` is the place of a column whose words have no order. NUL, which not every engine holds, counts as U+FFFD.
    """
    count = total = size = 0
    for row in rows:
        data = _written(table, row if words is None else _sorted(row, words))
        count += 1
        size += len(data)
        total += int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())
    return Digest(count, total % _MODULUS), size


def _written(table: str, row: Sequence[Any]) -> bytes:
    text = ";".join([table, *[_WRITTEN[type(value)](value) for value in row]])
    return text.replace("\0", "\ufffd").encode("utf-8", "surrogatepass")


def _sorted(row: Sequence[Any], words: int) -> list[Any]:
    values = list(row)
    values[words] = " ".join(sorted(str(values[words]).split(" ")))
    return values
