"""The one embedder of a run: what it embedded once, for any system or an earlier run, it does not embed again.

Vectors are kept on disk by model and text, so that a run that starts anew after a change of code costs no embedding,
and sessions that stand in many haystacks are embedded once. Questions are embedded anew, for their time is measured.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mnemic.errors import EmbedderError

FILE: Final = "vectors.sqlite"
_BATCH: Final = 64
"""Texts embedded and written at a time; what was written survives a kill."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS vector (
  model TEXT NOT NULL, hash BLOB NOT NULL, data BLOB NOT NULL, PRIMARY KEY (model, hash)
) WITHOUT ROWID
"""

Vectors = NDArray[np.float32]
"""Shape (texts, width), rows of length 1."""


class Embeds(Protocol):
    """What is asked of an embedder; see `mnemic.ports.embedder`."""

    @property
    def name(self) -> str:
        """The identity of the model."""
        ...

    @property
    def width(self) -> int:
        """The number of components."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each text."""
        ...


class KeptEmbedder:
    """An embedder that keeps what it embedded in a file; threads may share it.

    `failed` is the last error, since a memory stores what could not be embedded all the same, and a figure measured
    without vectors must not pass for one with them. `embedded` counts the texts that the model has seen.
    """

    def __init__(self, inner: Embeds, folder: Path) -> None:
        self._inner = inner
        self._questions = _Watched(getattr(inner, "for_queries", lambda: inner)(), self)  # some have a prefix for them
        self._lock = threading.Lock()
        self._file = sqlite3.connect(folder / FILE, check_same_thread=False, isolation_level=None)
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute("PRAGMA synchronous=NORMAL")
        self._file.execute(_SCHEMA)
        self.failed: EmbedderError | None = None
        self.embedded = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The identity of the model."""
        return self._inner.name

    @property
    def width(self) -> int:
        """The number of components."""
        return self._inner.width

    def for_queries(self) -> Embeds:
        """Return the embedder of questions, which keeps nothing."""
        return self._questions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each text, from the file where it is there."""
        rows = np.zeros((len(texts), self.width), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            rows[start : start + _BATCH] = self._batch(texts[start : start + _BATCH])
        return rows

    def _batch(self, texts: Sequence[str]) -> Vectors:
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        with self._lock:
            found = self._kept(keys)
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if fresh:
            vectors = _Watched(self._inner, self).embed(list(fresh.values()))
            with self._lock:
                self.embedded += len(fresh)
                self._keep(fresh, vectors)
            found |= dict(zip(fresh, vectors, strict=True))
        return np.stack([found[key] for key in keys])

    def _kept(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        holes = ",".join("?" * len(keys))
        rows = self._file.execute(
            f"SELECT hash, data FROM vector WHERE model = ? AND hash IN ({holes})",  # noqa: S608 - only marks
            (self.name, *keys),
        )
        return {bytes(key): np.frombuffer(data, dtype="<f4") for key, data in rows}

    def _keep(self, fresh: dict[bytes, str], vectors: Vectors) -> None:
        rows = [(self.name, key, row.astype("<f4").tobytes()) for key, row in zip(fresh, vectors, strict=True)]
        self._file.execute("BEGIN")
        self._file.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?, ?)", rows)
        self._file.execute("COMMIT")

    def close(self) -> None:
        """Close the file; the embedder is its owner's to close."""
        self._file.close()


class _Watched:
    """An embedder whose failures are noted before they are raised."""

    def __init__(self, inner: Embeds, keeper: KeptEmbedder) -> None:
        self._inner = inner
        self._keeper = keeper

    @property
    def name(self) -> str:
        """The identity of the model."""
        return self._inner.name

    @property
    def width(self) -> int:
        """The number of components."""
        return self._inner.width

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each text."""
        try:
            return self._inner.embed(texts)
        except EmbedderError as error:
            self._keeper.failed = error
            raise
