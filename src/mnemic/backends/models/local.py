"""Opens a model folder of any kind: static vectors, an ONNX graph, else safetensors."""

from __future__ import annotations

from pathlib import Path

from mnemic.backends.models import folder
from mnemic.backends.models.onnx import OnnxEmbedder
from mnemic.backends.models.safetensors import SafetensorsEmbedder
from mnemic.backends.models.static import StaticEmbedder, is_static
from mnemic.ports.embedder import Embedder


def open_folder(path: Path, *, threads: int = 1) -> Embedder:
    """Return the embedder of a sentence-transformers folder; raises EmbedderError that names what is missing."""
    if is_static(path):
        return StaticEmbedder.from_folder(path)
    if folder.find_graph(path) is None and (path / folder.SAFETENSORS).is_file():
        return SafetensorsEmbedder.from_folder(path)
    return OnnxEmbedder.from_folder(path, threads=threads)
