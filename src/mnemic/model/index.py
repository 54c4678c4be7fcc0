"""What can be found: index entries of a cube, as arrays that ranking works on.

An entry is one searchable passage: a message (several, when it is long), a segment's summary, or a version of a
memory. A view is a snapshot of all entries of a cube; it is shared between threads and never written to.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""Shape (width,), length 1."""

Halves = NDArray[np.float16]
"""Shape (rows, width), each row of length 1, or 0 where a row has no vector yet; `core/scanning.py` multiplies them."""

Codes = tuple[NDArray[np.uint64], ...]
"""The signs of the components of rows as bits: an array of shape (rows,) for each 64 components."""

CHUNK: Final = "chunk"
"""The kind of entries that are passages of documents."""

SECTION: Final = "section"
"""The kind of entries that sum up a section of a document, or all of it; searched only on request."""

Posting = tuple[NDArray[np.int64], NDArray[np.int64] | NDArray[np.float32]]
"""The keys of the entries that hold a term, ascending, and how often it stands in each; what stands there only in part
counts less than once."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One searchable passage, as it is written. `start:end` are its offsets in the owner's text.

    `kind` is `message`, `segment`, `chunk`, `section` or a memory kind; `owner` the id of what it is of. `said_at` and
    `valid_to` are microseconds; a live entry is one that a plain search may return (not superseded, not archived).
    """

    kind: str
    owner: str
    text: str
    speaker: str
    said_at: int
    vector: Vector | None
    version_id: str | None = None
    session_id: str | None = None
    position: int = 0
    start: int = 0
    end: int = 0
    valid_to: int | None = None
    live: bool = True
    traits: int = 0


STRANGERS: Final = np.float32(math.sqrt(2))
"""The length of the sum of two vectors that have nothing to do with each other."""

CODED: Final = 50_000
"""Entries from which a view carries codes: multiplying as many takes 15 to 20 ms of one core."""


class Ids(Sequence[str]):
    """Ids of rows as NumPy keeps bytes: a third of what as many strings take. An empty one stands for none."""

    __slots__ = ("_bytes",)

    def __init__(self, encoded: NDArray[np.bytes_]) -> None:
        self._bytes = encoded

    def __len__(self) -> int:
        return len(self._bytes)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Ids: ...
    def __getitem__(self, at: int | slice) -> str | Ids:
        if isinstance(at, slice):
            return Ids(self._bytes[at])
        return str(self._bytes[at].decode())

    def among(self, ids: Collection[str]) -> NDArray[np.bool_]:
        """Tell of each row whether its id is one of these."""
        if not ids:
            return np.zeros(len(self), dtype=np.bool_)
        return np.isin(self._bytes, np.array([each.encode() for each in ids]))


REBIAS: Final = np.float32(2.0**112)
"""Between the exponents of 16-bit (bias 15) and of 32-bit floats (bias 127)."""


def moved(rows: NDArray[np.int16], into: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return rows of 16-bit floats, given as integers, as floats that are `REBIAS` times too small.

    NumPy's own way from 16 bits to 32 takes six times as long.
    """
    np.copyto(into, rows)
    np.left_shift(into, 13, out=into)  # 10 bits of mantissa to the top of 23; the sign was spread by the copy
    np.bitwise_and(into, np.int32(-0x70000001), out=into)  # and is cut back to one bit
    return into.view(np.float32)


def unit(vector: Vector) -> Vector:
    """Return the vector scaled to length 1; zeros stay zeros."""
    length = float(np.linalg.norm(vector))
    return (vector / np.float32(length)).astype(np.float32) if length > 0 else vector.astype(np.float32)


def widened(rows: Halves) -> NDArray[np.float32]:
    """Return rows as 32-bit floats, the same numbers."""
    return moved(np.ascontiguousarray(rows).view(np.int16), np.empty(rows.shape, dtype=np.int32)) * REBIAS


def codes_of(rows: Halves) -> Codes:
    """Return the codes of rows: of two that point the same way most bits are the same."""
    width = rows.shape[1]
    signs = np.zeros((len(rows), -(-width // 64) * 64), dtype=np.bool_)
    np.greater(np.ascontiguousarray(rows).view(np.int16), 0, out=signs[:, :width])  # the sign stands in the same bit
    return tuple(np.ascontiguousarray(np.packbits(signs, axis=1).view(np.uint64).T))


@dataclass(frozen=True, slots=True)
class CubeView:
    """All entries of one cube as parallel arrays of length n, ordered by `keys`.

    `kinds`, `speakers` and `sessions` hold indices into the name tables `kind_names`, `speaker_names` and
    `session_ids` (-1: none). `valid_to` is the largest integer where the end is open. `previous` and `following` are
    the places in these arrays of the passages said just before and after in the same session (-1: none), and
    `pair_norms` the length of a passage's vector added to the one before it. `versions` are empty where an entry is
    of no memory, `codes` in a view of fewer than `CODED` entries. `traits` are bits of `text.Trait`.

    In a view whose vectors are `apart`, `vectors` and `codes` are empty, and `pair_norms` a guess: the store compares
    vectors itself (`ports.near`).
    """

    cube_key: int
    revision: int
    keys: NDArray[np.int64]
    kinds: NDArray[np.int16]
    owners: Ids
    versions: Ids
    sessions: NDArray[np.int32]
    positions: NDArray[np.int32]
    speakers: NDArray[np.int32]
    said_at: NDArray[np.int64]
    valid_to: NDArray[np.int64]
    lengths: NDArray[np.int32]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    traits: NDArray[np.int16]
    live: NDArray[np.bool_]
    previous: NDArray[np.int32]
    following: NDArray[np.int32]
    pair_norms: NDArray[np.float32]
    vectors: Halves
    codes: Codes
    kind_names: Sequence[str]
    speaker_names: Sequence[str]
    session_ids: Sequence[str]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def apart(self) -> bool:
        """Whether the vectors of these entries are not here, but in an index of the store."""
        return len(self.vectors) < len(self.keys)
