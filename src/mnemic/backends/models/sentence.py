"""The part that all local sentence transformers share: tokens in batches through a network, pooled to unit vectors.

What a model needs is told by a recipe and what runs it by a network (ONNX or torch), loaded at the first text and only
once. It decides nothing about where a model comes from.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mnemic.backends.models.batches import Pooling, pad, plan_batches, pool, unit_rows
from mnemic.backends.models.layers import Dense, DensePlan, apply_layers
from mnemic.errors import EmbedderError
from mnemic.text import clean

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

log = logging.getLogger(__name__)

_CHARS_PER_TOKEN = 64  # real text this long fills the token limit; the rest would be tokenized only to be cut off
_VECTORS = 2  # the rank of an output that the network has pooled itself


@dataclass(frozen=True, slots=True)
class Recipe:
    """All there is to know about a model before it is loaded.

    `tokenizer` gives one that adds special tokens and truncates to `max_tokens`; it is called once and raises
    EmbedderError. A prefix goes before each text, as the model was trained; most models have none. `layers` come after
    pooling; few models have any.
    """

    name: str
    width: int
    max_tokens: int
    pooling: Pooling
    tokenizer: Callable[[], Tokenizer]
    passage_prefix: str = ""
    query_prefix: str = ""
    pad_id: int = 0
    layers: Sequence[DensePlan] = ()


class Network(Protocol):
    """A loaded transformer, safe in threads; raises EmbedderError when it fails on a batch."""

    @property
    def rows(self) -> int:
        """The most texts that may share a batch without changing each other's vectors."""
        ...

    def run(self, tokens: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return hidden states (rows, tokens, width), or vectors (rows, width) where the network pools itself."""
        ...


class LazyModel:
    """Loads tokenizer and network at the first `get`, once, whatever the number of threads that ask."""

    def __init__(self, recipe: Recipe, load: Callable[[], Network]) -> None:
        self.recipe = recipe
        self._load = load
        self._lock = threading.Lock()
        self._parts: tuple[Tokenizer, Network, Sequence[Dense]] | None = None

    def get(self) -> tuple[Tokenizer, Network, Sequence[Dense]]:
        """Return the loaded parts; a load that failed is tried again at the next call."""
        if self._parts is None:
            with self._lock:
                if self._parts is None:
                    began = time.perf_counter()
                    layers = [plan.load() for plan in self.recipe.layers]
                    self._parts = (self.recipe.tokenizer(), self._load(), layers)
                    seconds = round(time.perf_counter() - began, 3)
                    log.info("embedder_loaded", extra={"model": self.recipe.name, "seconds": seconds})
        return self._parts


class SentenceEmbedder:
    """An `Embedder` over a local transformer. Texts past the model's token limit are read up to it."""

    def __init__(self, model: LazyModel, prefix: str | None = None) -> None:
        self._model = model
        self._recipe = model.recipe
        self._prefix = model.recipe.passage_prefix if prefix is None else prefix

    def for_queries(self) -> SentenceEmbedder:
        """Return an embedder of questions over the same loaded model: only a query prefix makes it differ."""
        return SentenceEmbedder(self._model, self._recipe.query_prefix)

    @property
    def name(self) -> str:
        """The recipe's name."""
        return self._recipe.name

    @property
    def width(self) -> int:
        """The number of components; known without loading the model."""
        return self._recipe.width

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 of shape (len(texts), width), rows of length 1; EmbedderError when the model fails."""
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        if len(texts) == 0:
            return vectors
        tokenizer, network, layers = self._model.get()
        limit = self._recipe.max_tokens * _CHARS_PER_TOKEN
        # one text at a time: encode_batch would start a thread for every core
        ids = [tokenizer.encode(self._prefix + clean(text[:limit])).ids for text in texts]
        for batch in plan_batches([len(line) for line in ids], rows=network.rows):
            vectors[batch] = self._embed_batch(network, layers, [ids[position] for position in batch])
        return unit_rows(vectors, self.name)

    def _embed_batch(self, network: Network, layers: Sequence[Dense], ids: list[list[int]]) -> NDArray[np.float32]:
        tokens, mask = pad(ids, self._recipe.pad_id)
        output = network.run(tokens, mask)
        whole = output.ndim == _VECTORS  # such a graph holds all of the model
        pooled = output if whole else apply_layers(layers, pool(output, mask, self._recipe.pooling))
        if pooled.shape != (len(ids), self.width):
            raise EmbedderError(
                f"model {self.name} gave vectors {pooled.shape[-1]} wide, its files say {self.width}: correct them",
                model=self.name,
                width=self.width,
                found=int(pooled.shape[-1]),
            )
        return pooled
