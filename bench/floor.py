"""The floor: what a careful person writes in an hour with SQLite and NumPy, and nothing that a memory needs beside it.

A row, its vector and its text index in one durable transaction; a search is the exact cosine over the user's matrix
in memory and FTS5's BM25 with the user as a term, joined by reciprocal ranks (Cormack et al., 2009; k = 60).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

POOL: Final = 50
K: Final = 60
_SCHEMA: Final = """
CREATE TABLE memory (key INTEGER PRIMARY KEY, user TEXT NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL);
CREATE INDEX memory_user ON memory (user);
CREATE VIRTUAL TABLE memory_text USING fts5(text, content='', tokenize='porter unicode61');
"""


def open_sqlite(path: Path) -> sqlite3.Connection:
    """Open a database as durable as Mnemic's."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


class BareTable:
    """One table of texts and a commit for each: the least that a durable add can be."""

    def __init__(self, path: Path) -> None:
        self._connection = open_sqlite(path)
        self._connection.execute("CREATE TABLE message (key INTEGER PRIMARY KEY, text TEXT NOT NULL)")

    def add(self, text: str) -> None:
        """Store a text, durably."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO message (text) VALUES (?)", (text,))
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class Floor:
    """Exact NumPy plus FTS5 over one SQLite file."""

    def __init__(self, path: Path) -> None:
        fresh = not path.exists()
        self._connection = open_sqlite(path)
        if fresh:
            self._connection.executescript(_SCHEMA)
        self._matrices: dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}

    def add(self, user: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store texts with their vectors in one durable transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        for text, vector in zip(texts, vectors, strict=True):
            row = (user, text, vector.astype("<f2").tobytes())
            key = self._connection.execute("INSERT INTO memory (user, text, vector) VALUES (?, ?, ?)", row).lastrowid
            self._connection.execute("INSERT INTO memory_text (rowid, text) VALUES (?, ?)", (key, f"{user} {text}"))
        self._connection.execute("COMMIT")
        self._matrices.pop(user, None)

    def search(self, user: str, words: Sequence[str], vector: NDArray[np.float32], limit: int = 10) -> list[str]:
        """Return the texts of the best rows, best first."""
        keys, matrix = self._matrix(user)
        cosines = matrix @ vector
        pool = np.argpartition(-cosines, POOL)[:POOL] if len(keys) > POOL else np.arange(len(keys))
        near = [int(keys[place]) for place in pool[np.argsort(-cosines[pool])]]
        match = f"{user} AND ({' OR '.join(words)})"
        found = "SELECT rowid FROM memory_text WHERE memory_text MATCH ? ORDER BY rank LIMIT ?"
        worded = [key for (key,) in self._connection.execute(found, (match, POOL))]
        scores: dict[int, float] = {}
        for channel in (near, worded):
            for rank, key in enumerate(channel):
                scores[key] = scores.get(key, 0.0) + 1 / (K + rank + 1)
        best = sorted(scores, key=lambda key: -scores[key])[:limit]
        holes = ",".join("?" * len(best))
        rows = dict(self._connection.execute(f"SELECT key, text FROM memory WHERE key IN ({holes})", best))  # noqa: S608
        return [rows[key] for key in best]

    def _matrix(self, user: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        if user not in self._matrices:
            rows = self._connection.execute("SELECT key, vector FROM memory WHERE user = ?", (user,)).fetchall()
            keys = np.array([key for key, _ in rows], dtype=np.int64)
            halves = np.frombuffer(b"".join(data for _, data in rows), dtype="<f2").reshape(len(rows), -1)
            self._matrices[user] = (keys, halves.astype(np.float32))
        return self._matrices[user]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
