"""The stores that searches are measured on: built once in a run, by the public `add`, and kept until its end."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np

from bench.bulk import load
from bench.corpus import Corpus, Query
from bench.floor import Floor
from bench.stored import StoredEmbedder
from mnemic import Memory

CHUNK: Final = 1_000
"""Memories in one `add`, at most."""

BULK: Final = 1_000_000
"""Memories from which a store is filled by `bench.bulk`: by `add` it would take an hour."""

SETTINGS: Final = {"worker": False}


@dataclass(frozen=True, slots=True)
class Shelf:
    """One corpus in both stores. `seconds` is what loading took, Mnemic's and the floor's."""

    corpus: Corpus
    folder: Path
    seconds: tuple[float, float]

    @property
    def floor(self) -> Path:
        """The floor's file."""
        return self.folder / "floor.db"

    @property
    def mnemic(self) -> Path:
        """Mnemic's folder."""
        return self.folder / "mnemic"


class Shelves:
    """Builds shelves and removes them at the end."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._shelves: dict[tuple[int, int], Shelf] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    def get(self, memories: int, users: int) -> Shelf:
        """Return the shelf of this size, built when it is first asked for; from `BULK` memories on, not by `add`."""
        if (memories, users) not in self._shelves:
            self._shelves[memories, users] = _build(
                Corpus(memories, users), Path(self._folder.name, f"{memories}-{users}")
            )
        return self._shelves[memories, users]


def _build(corpus: Corpus, folder: Path) -> Shelf:
    folder.mkdir()
    floor = Floor(folder / "floor.db")
    spent = _by_bulk(corpus, folder, floor) if corpus.memories >= BULK else _by_add(corpus, folder, floor)
    floor.close()
    return Shelf(corpus, folder, spent)


def _by_add(corpus: Corpus, folder: Path, floor: Floor) -> tuple[float, float]:
    embedder = StoredEmbedder()
    spent = [0.0, 0.0]
    with Memory(folder / "mnemic", settings=SETTINGS, embedder=embedder) as memory:
        for number in range(corpus.users):
            batch = corpus.batch(number)
            embedder.know(batch.texts, batch.vectors)
            for at in range(0, len(batch.texts), CHUNK):
                texts = batch.texts[at : at + CHUNK]
                began = time.perf_counter()
                memory.add(texts, user=batch.user, session=f"s{at}")
                between = time.perf_counter()
                floor.add(batch.user, texts, batch.vectors[at : at + CHUNK])
                spent[0] += between - began
                spent[1] += time.perf_counter() - between
    return spent[0], spent[1]


def _by_bulk(corpus: Corpus, folder: Path, floor: Floor) -> tuple[float, float]:
    began = time.perf_counter()
    load(folder / "mnemic", corpus, SETTINGS)
    between = time.perf_counter()
    for number in range(corpus.users):
        batch = corpus.batch(number)
        for at in range(0, len(batch.texts), CHUNK):
            floor.add(batch.user, batch.texts[at : at + CHUNK], batch.vectors[at : at + CHUNK])
    return between - began, time.perf_counter() - between


def write_queries(path: Path, queries: list[Query]) -> None:
    """Keep queries for another process, which must not make the corpus again to know them."""
    np.savez(
        path,
        users=np.array([query.user for query in queries]),
        words=np.array([" ".join(query.words) for query in queries]),
        vectors=np.stack([query.vector for query in queries]),
    )


def read_queries(path: Path) -> list[Query]:
    """Read what `write_queries` wrote."""
    with np.load(path) as held:
        users, words, vectors = held["users"], held["words"], held["vectors"]
    return [
        Query(str(user), str(some).split(), vector) for user, some, vector in zip(users, words, vectors, strict=True)
    ]
