"""Questions as vectors: embedded together, those asked lately from memory, and no lock held meanwhile."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final

from mnemic.errors import EmbedderError
from mnemic.model.index import Vector
from mnemic.ports.embedder import Embedder

_log = logging.getLogger(__name__)

_KEPT: Final = 1_000  # questions


class Questions:
    """Embeds questions, and keeps the vectors of those asked last."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def vectors(self, queries: Sequence[str]) -> tuple[Mapping[str, Vector | None], list[str]]:
        """Return the vector of each question, and notes to tell. When the embedder fails, new questions have none."""
        found: dict[str, Vector | None] = {**self.known(queries)}
        missing = [query for query in dict.fromkeys(queries) if query not in found]
        if not missing:
            return found, []
        try:
            made = dict(zip(missing, self._embedder.embed(missing), strict=True))
        except EmbedderError as error:
            _log.warning("search_without_vectors", extra={"reason": str(error)})
            return {**dict.fromkeys(missing), **found}, [f"searched by words only: {error}"]
        with self._lock:
            self._vectors.update(made)
            while len(self._vectors) > _KEPT:
                self._vectors.popitem(last=False)
        return {**found, **made}, []

    def known(self, queries: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of those questions that were asked lately."""
        found: dict[str, Vector] = {}
        with self._lock:
            for query in queries:
                if query in self._vectors:
                    self._vectors.move_to_end(query)
                    found[query] = self._vectors[query]
        return found
