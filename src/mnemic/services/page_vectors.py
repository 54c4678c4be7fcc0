"""The vectors of pages, as topics see them: each read once in a transaction, in one go for a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mnemic.core.segmenting import in_context
from mnemic.model.index import Vector, unit
from mnemic.model.message import Page
from mnemic.ports.store import Transaction


class PageVectors:
    """Page vectors of one cube within one transaction, of the pages that were loaded and of those beside them."""

    def __init__(self, tx: Transaction, cube_key: int) -> None:
        self._tx = tx
        self._cube_key = cube_key
        self._pages: dict[tuple[str, int], Page] = {}
        self._found: dict[str, Vector] = {}

    def load(self, pages: Sequence[Page]) -> None:
        """Read the vectors of these pages, and of those just before and after them in their sessions, together."""
        wanted: dict[str, set[int]] = {}
        for page in pages:
            wanted.setdefault(page.session_id, set()).update((page.position - 1, page.position, page.position + 1))
        for session_id, positions in wanted.items():
            for page in self._tx.pages.at(self._cube_key, session_id, sorted(positions)):
                self._pages[(session_id, page.position)] = page
        self._read([page.id for page in self._pages.values() if page.id not in self._found])

    def of(self, page: Page) -> Vector:
        """Return the unit mean of the vectors of a loaded page's messages; zeros when none has a vector."""
        return self._found[page.id]

    def before(self, page: Page) -> Page | None:
        """Return the page just before a loaded one in its session."""
        return self._pages.get((page.session_id, page.position - 1))

    def in_context(self, page: Page) -> Vector:
        """Return a loaded page's vector with those of the pages beside it: what segments are made of."""
        beside = [self._pages.get((page.session_id, page.position + step)) for step in (-1, 1)]
        return in_context(self.of(page), [self.of(other) for other in beside if other is not None])

    def _read(self, page_ids: Sequence[str]) -> None:
        said = self._tx.pages.messages(self._cube_key, page_ids)
        ids = [message.id for messages in said.values() for message in messages]
        vectors = self._tx.index.vectors(self._cube_key, ids)
        for page_id, messages in said.items():
            rows = [vectors[message.id] for message in messages if message.id in vectors]
            self._found[page_id] = unit(np.mean(np.stack(rows), axis=0)) if rows else self._tx.index.no_vector
