"""The default embedder: a sentence transformer as an ONNX graph, run by onnxruntime on the CPU.

`OnnxEmbedder.bundled()` is MiniLM-L6 from the base install, `OnnxEmbedder.from_folder()` any folder in the
sentence-transformers layout. What to load is told by a recipe; loading happens at the first text and only once.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mnemic.backends.models import bundled, folder
from mnemic.backends.models.batches import pad, plan_batches, pool, unit_rows
from mnemic.backends.models.graph import Graph, OnnxRecipe, load_graph
from mnemic.errors import EmbedderError
from mnemic.text import clean

if TYPE_CHECKING:
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

_CHARS_PER_TOKEN = 64  # real text this long fills the token limit; the rest would be tokenized only to be cut off


class OnnxEmbedder:
    """An `Embedder` over one ONNX graph. Safe in threads; each call uses at most `threads` cores."""

    def __init__(self, recipe: OnnxRecipe, *, threads: int = 1) -> None:
        self._recipe = recipe
        self._prefix = recipe.passage_prefix
        self._model = _LazyGraph(recipe, threads)

    @classmethod
    def bundled(cls, *, threads: int = 1) -> OnnxEmbedder:
        """Return the embedder of the base install: all-MiniLM-L6-v2, int8 weights, 384 wide, 256 tokens, English."""
        return cls(bundled.recipe(), threads=threads)

    @classmethod
    def from_folder(cls, path: Path, *, threads: int = 1) -> OnnxEmbedder:
        """Return the embedder of a sentence-transformers folder; raises EmbedderError that names what is missing."""
        return cls(folder.recipe(path), threads=threads)

    def for_queries(self) -> OnnxEmbedder:
        """Return the same loaded model with the query prefix of its recipe; most models have none and give the same vectors."""
        twin = object.__new__(type(self))
        twin._recipe, twin._model, twin._prefix = self._recipe, self._model, self._recipe.query_prefix
        return twin

    @property
    def name(self) -> str:
        """The recipe's name."""
        return self._recipe.name

    @property
    def width(self) -> int:
        """The number of components; known without loading the model."""
        return self._recipe.width

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 of shape (len(texts), width), rows of length 1; EmbedderError when the model cannot be used."""
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        if not len(texts):
            return vectors
        graph = self._model.get()
        limit = self._recipe.max_tokens * _CHARS_PER_TOKEN
        ids = [graph.encode(self._prefix + clean(text[:limit])) for text in texts]
        for batch in plan_batches([len(line) for line in ids], rows=graph.rows):
            vectors[batch] = self._embed_batch(graph, [ids[position] for position in batch])
        return unit_rows(vectors, self.name)

    def _embed_batch(self, graph: Graph, ids: list[list[int]]) -> NDArray[np.float32]:
        tokens, mask = pad(ids, self._recipe.pad_id)
        output = graph.run(tokens, mask)
        pooled = output if output.ndim == 2 else pool(output, mask, self._recipe.pooling)  # noqa: PLR2004 - rank of a matrix
        if pooled.shape != (len(ids), self.width):
            raise EmbedderError(
                f"model {self.name} gave vectors {pooled.shape[-1]} wide, its folder says {self.width}: fix 1_Pooling/config.json",
                model=self.name,
                width=self.width,
                found=int(pooled.shape[-1]),
            )
        return pooled


class _LazyGraph:
    """Loads the graph of a recipe once, at the first call of `get`, whatever the number of threads that ask."""

    def __init__(self, recipe: OnnxRecipe, threads: int) -> None:
        self._recipe = recipe
        self._threads = threads
        self._lock = threading.Lock()
        self._graph: Graph | None = None

    def get(self) -> Graph:
        if self._graph is None:
            with self._lock:
                if self._graph is None:
                    began = time.perf_counter()
                    self._graph = load_graph(self._recipe, self._threads)
                    seconds = round(time.perf_counter() - began, 3)
                    log.info("embedder_loaded", extra={"model": self._recipe.name, "seconds": seconds})
        return self._graph
