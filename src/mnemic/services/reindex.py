"""Bringing a store over to another embedder, and to how text is read now: a batch at a time, and it can be resumed."""

from __future__ import annotations

from collections.abc import Callable

from mnemic.core import segmenting
from mnemic.ports.store import Store
from mnemic.services.embedding import Embedding
from mnemic.services.indexing import segment_entry
from mnemic.services.page_vectors import PageVectors
from mnemic.services.retexting import Retexting

Progress = Callable[[int, int], None]
"""Told how many entries are done, and of how many."""


class Reindex:
    """Embeds all that a store holds with the embedder that it is opened with, and indexes stale words anew."""

    def __init__(self, store: Store, embedding: Embedding, retexting: Retexting) -> None:
        self._store = store
        self._embedding = embedding
        self._retexting = retexting

    def run(self, progress: Progress | None = None) -> int:
        """Embed every entry that has no vector of this model; return how many. Raises `EmbedderError`; resumable."""
        self._renew_terms()
        with self._store.read() as tx:
            tx.enter_all()
            keys = tx.cubes.every_key()
            total = sum(tx.index.count_without_vector(key) for key in keys)
        done = 0
        for key in keys:
            while step := self._embedding.step(key):
                done += step
                if progress is not None:
                    progress(done, total)
            self._renew_segments(key)
            while self._embedding.spread(key):
                pass
        with self._store.write() as tx:
            tx.finish_model_change()
        return done

    def _renew_terms(self) -> None:
        with self._store.read() as tx:
            tx.enter_all()
            stale = tx.terms.stale_cubes()
        for key in stale:
            while self._retexting.step(key):
                pass

    def _renew_segments(self, cube_key: int) -> None:
        """Put each segment's centroid where its pages are now."""
        with self._store.write() as tx:
            tx.enter(cube_key)
            revision = tx.cubes.touch(cube_key)
            vectors = PageVectors(tx, cube_key)
            for segment, _ in tx.segments.list(cube_key, archived=True):
                pages = tx.pages.of_segment(cube_key, segment.id)
                if not pages:
                    continue
                vectors.load(pages)
                centroid = tx.index.no_vector
                for number, page in enumerate(pages):
                    centroid = segmenting.merge_centroid(centroid, number, vectors.in_context(page))
                tx.segments.put(segment, centroid)
                tx.index.remove(cube_key, [segment.id])
                tx.index.add(cube_key, revision, [segment_entry(segment, centroid, live=not segment.archived)])
