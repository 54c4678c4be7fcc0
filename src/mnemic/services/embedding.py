"""Vectors for entries that have none of this store's model: after an outage of the embedder, or a change of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mnemic.model.index import Entry
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.indexing import indexed_text

BATCH: Final = 64
"""Entries in one transaction."""


class Embedding:
    """Embeds a cube's entries, a batch at a time."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def step(self, cube_key: int) -> int:
        """Embed one batch; return how many entries it had, 0 when none is left. Raises `EmbedderError`."""
        with self._store.read() as tx:
            waiting = tx.index.without_vector(cube_key, BATCH)
            texts = _texts(tx, cube_key, [entry for _, entry in waiting])
        if not waiting:
            return 0
        vectors = self._embedder.embed([texts.get(_identity(entry), "") for _, entry in waiting])
        with self._store.write() as tx:
            revision = tx.cubes.touch(cube_key)
            keyed = [(key, vector) for (key, _), vector in zip(waiting, vectors, strict=True)]
            tx.index.set_vectors(cube_key, revision, keyed)
        return len(waiting)


def _identity(entry: Entry) -> tuple[str, str | None, int]:
    return (entry.owner, entry.version_id, entry.start)


def _texts(tx: Transaction, cube_key: int, entries: Sequence[Entry]) -> Mapping[tuple[str, str | None, int], str]:
    """Return the texts of entries, read from what they stand for."""
    owners = list(dict.fromkeys(entry.owner for entry in entries))
    messages = tx.messages.get(cube_key, owners)
    memories = tx.memories.get(cube_key, owners)
    segments = tx.segments.get(cube_key, [owner for owner in owners if owner not in messages and owner not in memories])
    found: dict[tuple[str, str | None, int], str] = {}
    for entry in entries:
        if entry.owner in messages:
            text = messages[entry.owner].text
            found[_identity(entry)] = text[entry.start : entry.end] if entry.end else text
        elif entry.owner in memories:
            memory = memories[entry.owner]
            versions = {version.id: indexed_text(memory.attribute, version.text) for version in memory.versions}
            found[_identity(entry)] = versions.get(entry.version_id or "", "")
        elif entry.owner in segments:
            found[_identity(entry)] = segments[entry.owner][0].summary
    return found
