"""Vectors for entries that have none of this store's model: after an outage of the embedder, or a change of it."""

from __future__ import annotations

from typing import Final

from mnemic.model.index import Entry
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store
from mnemic.services.hits import SEGMENT
from mnemic.services.indexing import entry_texts, identity

BATCH: Final = 64
"""Entries in one transaction."""

_SPREAD: Final = 500  # vectors in one transaction


class Embedding:
    """Embeds a cube's entries, a batch at a time."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def step(self, cube_key: int) -> int:
        """Embed one batch; return how many entries it had, 0 when none is left. Raises `EmbedderError`."""
        with self._store.read() as tx:
            tx.enter(cube_key)
            waiting = tx.index.without_vector(cube_key, BATCH)
            texts = entry_texts(tx, cube_key, [entry for _, entry in waiting])
        if not waiting:
            return 0
        vectors = self._embedder.embed([_embedded(entry, texts.get(identity(entry), "")) for _, entry in waiting])
        with self._store.write() as tx:
            tx.enter(cube_key)
            revision = tx.cubes.touch(cube_key)
            keyed = [(key, vector) for (key, _), vector in zip(waiting, vectors, strict=True)]
            tx.index.set_vectors(cube_key, revision, keyed)
        return len(waiting)

    def spread(self, cube_key: int) -> int:
        """Put one batch of a large cube's vectors into the store's own index of them (`ports.near`), where it has one.

        Return how many, 0 when there is nothing to do. Until all are there, views of the cube hold them as before.
        """
        with self._store.read() as tx:
            tx.enter(cube_key)
            if not tx.near.outgrown(cube_key):
                return 0
        with self._store.write() as tx:
            tx.enter(cube_key)
            tx.cubes.touch(cube_key)  # who adds to the cube does so before or after, and so leaves nothing out
            return tx.near.spread(cube_key, _SPREAD)


def _embedded(entry: Entry, text: str) -> str:
    """Return what of an entry's text is embedded: all but a segment's keywords."""
    return text[: entry.end] if entry.kind == SEGMENT else text
