"""The default embedder: a sentence transformer as an ONNX graph on the CPU.

`OnnxEmbedder.bundled()` is MiniLM-L6 from the base install, `OnnxEmbedder.from_folder()` any folder in the
sentence-transformers layout that has a graph. Neither reads weights before the first text.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Self

from mnemic.backends.models import bundled, folder
from mnemic.backends.models.onnx_graph import load_graph
from mnemic.backends.models.sentence import LazyModel, SentenceEmbedder


class OnnxEmbedder(SentenceEmbedder):
    """An `Embedder` run by onnxruntime; each call uses at most `threads` cores."""

    @classmethod
    def bundled(cls, *, threads: int = 1) -> Self:
        """Return the embedder of the base install: all-MiniLM-L6-v2, int8 weights, 384 wide, 256 tokens, English."""
        return cls(_bundled(threads))

    @classmethod
    def from_folder(cls, path: Path, *, threads: int = 1) -> Self:
        """Return the embedder of a folder; raises EmbedderError that names the missing or unusable file."""
        graph = folder.need_graph(path)
        recipe = folder.describe(path, graph)
        return cls(LazyModel(recipe, lambda: load_graph(recipe.name, graph, threads)))


@cache
def _bundled(threads: int) -> LazyModel:
    """Return the bundled model, loaded once for all memories of a process."""
    return LazyModel(bundled.recipe(), lambda: load_graph(bundled.NAME, bundled.read_weights(), threads))
