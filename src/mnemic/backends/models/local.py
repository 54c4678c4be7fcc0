"""Opens a model folder of either kind: its ONNX graph where it has one, else its safetensors."""

from __future__ import annotations

from pathlib import Path

from mnemic.backends.models import folder
from mnemic.backends.models.onnx import OnnxEmbedder
from mnemic.backends.models.safetensors import SafetensorsEmbedder
from mnemic.backends.models.sentence import SentenceEmbedder


def open_folder(path: Path, *, threads: int = 1) -> SentenceEmbedder:
    """Return the embedder of a sentence-transformers folder; raises EmbedderError that names what is missing."""
    if folder.find_graph(path) is None and (path / folder.SAFETENSORS).is_file():
        return SafetensorsEmbedder.from_folder(path)
    return OnnxEmbedder.from_folder(path, threads=threads)
