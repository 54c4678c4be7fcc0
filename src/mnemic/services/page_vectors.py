"""The vectors of pages, as topics see them: each read once in a transaction, in one go for a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mnemic.core import segmenting
from mnemic.model.index import Vector
from mnemic.model.message import Page
from mnemic.ports.store import Transaction


class PageVectors:
    """Page vectors of one cube within one transaction."""

    def __init__(self, tx: Transaction, cube_key: int) -> None:
        self._tx = tx
        self._cube_key = cube_key
        self._found: dict[str, Vector] = {}

    def of(self, page: Page) -> Vector:
        """Return the unit mean of the vectors of a page's messages; zeros when none has a vector."""
        if page.id not in self._found:
            self.load([page])
        return self._found[page.id]

    def load(self, pages: Sequence[Page]) -> None:
        """Read the vectors of these pages together."""
        said = self._tx.pages.messages(self._cube_key, [page.id for page in pages])
        ids = [message.id for messages in said.values() for message in messages]
        vectors = self._tx.index.vectors(self._cube_key, ids)
        for page_id, messages in said.items():
            rows = [vectors[message.id] for message in messages if message.id in vectors]
            self._found[page_id] = (
                segmenting.unit(np.mean(np.stack(rows), axis=0)) if rows else self._tx.index.no_vector
            )

    def in_context(self, page: Page) -> Vector:
        """Return a page's vector with those of the pages beside it: what segments are made of."""
        beside = self._tx.pages.at(self._cube_key, page.session_id, [page.position - 1, page.position + 1])
        self.load([each for each in (page, *beside) if each.id not in self._found])
        return segmenting.in_context(self.of(page), [self.of(other) for other in beside])
