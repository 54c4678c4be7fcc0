"""From a document as it was cut to what is searched: chunk rows, index entries, and the moment at which they count.

Entries of a version are hidden until one transaction publishes it: then what is new is found, what is gone is found
only by who asks about the past, and what stayed is the same entry as before, in its new place. Nothing that stayed is
embedded again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from mnemic.core.chunking import Cut, chunks_of
from mnemic.ids import new_id
from mnemic.model.document import Chunk, ChunkKind, Document, DocumentState, DocumentVersion
from mnemic.model.index import Entry
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.indexing import chunk_entry, chunk_text, embed_texts

BATCH: Final = 64
"""Chunks that are embedded in one call, and whose entries are added in one transaction."""

_ALL: Final = 2**31 - 1


class Publishing:
    """Stores, embeds and publishes the chunks of a version."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def store(self, tx: Transaction, document: Document, version: DocumentVersion, cut: Cut) -> DocumentVersion:
        """Store the chunks of a version, in the place of those of an earlier try; return it with their counts."""
        cube_key, current = document.cube_key, document.current
        if gone := tx.chunks.clear(cube_key, version.id):
            tx.index.remove(cube_key, list(gone))
        begun = version.valid_from or version.stored_at
        if current is not None and current.valid_from is not None:  # a clock may have been put back
            begun = max(begun, current.valid_from)
        known = {} if current is None else tx.chunks.hashes(cube_key, current.id)
        chunks, kept = chunks_of(document, version, cut, known=known, new_id=new_id)
        tx.chunks.add(version.id, chunks, known=kept)
        return replace(version, valid_from=begun, chunks=len(chunks), embedded=len(kept), reused=len(kept))

    def embed(self, document: Document, version: DocumentVersion) -> Iterator[Sequence[tuple[Chunk, Entry]]]:
        """Yield entries of a version's chunks that have none, a batch at a time. Raises `EmbedderError`."""
        after = -1
        while True:
            with self._store.read() as tx:
                tx.enter(document.cube_key)
                page = tx.chunks.of_version(document.cube_key, version.id, after=after, limit=BATCH)
                have = tx.index.indexed(document.cube_key, [each.id for each in page])
            if not page:
                return
            after = page[-1].position
            new = [each for each in page if each.id not in have]
            if new:
                vectors = embed_texts(self._embedder, [chunk_text(each) for each in new])
                yield [(each, chunk_entry(each, version, version, vectors[chunk_text(each)])) for each in new]

    def add(self, tx: Transaction, document: Document, batch: Sequence[tuple[Chunk, Entry]]) -> None:
        """Add entries to the index, hidden. The cube is touched already."""
        have = tx.index.indexed(document.cube_key, [chunk.id for chunk, _ in batch])  # somebody may work beside us
        entries = [entry for chunk, entry in batch if chunk.id not in have]
        tx.index.add(document.cube_key, tx.index.newest(document.cube_key)[0], entries)

    def publish(self, tx: Transaction, document: Document, version: DocumentVersion, now: datetime) -> DocumentVersion:
        """Let a version be the one that is searched; return it. The one before is closed. The cube is touched."""
        cube_key, before = document.cube_key, document.current
        ready = replace(version, state=DocumentState.READY, ready_at=now, valid_to=None)
        chunks = tx.chunks.of_version(cube_key, version.id, limit=_ALL)
        placed: list[Entry] = []
        old: Mapping[str, Chunk] = {}
        if before is not None:
            closed = replace(before, valid_to=version.valid_from)
            old = {each.id: each for each in tx.chunks.of_version(cube_key, before.id, limit=_ALL)}
            stay = {each.id for each in chunks}
            placed += [chunk_entry(each, before, closed) for each in old.values() if each.id not in stay]
            tx.documents.put_version(cube_key, closed)
        for chunk in chunks:
            if chunk.id not in old or old[chunk.id].position != chunk.position:
                placed.append(chunk_entry(chunk, ready, ready))
        tx.index.place(cube_key, tx.index.newest(cube_key)[0], placed)
        return ready

    def summaries(self, tx: Transaction, cube_key: int, version_id: str) -> Mapping[tuple[str, ...], str]:
        """Return the summaries of a version's sections, by the hashes of the passages that they are about."""
        chunks = tx.chunks.of_version(cube_key, version_id, limit=_ALL)
        told = {each.id: each.text for each in chunks if each.kind is ChunkKind.SECTION}
        about: dict[str, list[str]] = {each: [] for each in told}
        for each in chunks:
            if each.parent in about:
                about[each.parent].append(each.hash)
        return {tuple(hashes): told[name] for name, hashes in about.items()}
