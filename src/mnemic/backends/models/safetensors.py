"""Sentence transformers without an ONNX graph, run by torch and transformers from the extra `mnemic[parametric]`.

Only safetensors weights and architectures that transformers itself defines are loaded: a folder can bring no code.
The fallback for models that nobody has exported; ONNX is lighter and is preferred where a folder has both.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mnemic.backends.models import folder
from mnemic.backends.models.batches import BATCH_ROWS
from mnemic.backends.models.sentence import LazyModel, SentenceEmbedder
from mnemic.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SafetensorsEmbedder(SentenceEmbedder):
    """An `Embedder` run by torch on the CPU, with torch's own number of threads."""

    @classmethod
    def from_folder(cls, path: Path) -> Self:
        """Return the embedder of a folder; EmbedderError names a missing file, later a missing extra."""
        weights = path / folder.SAFETENSORS
        if not weights.is_file():
            raise EmbedderError(f"{path} has no {folder.SAFETENSORS}; fetch the model again", folder=str(path))
        recipe = folder.describe(path, weights)
        return cls(LazyModel(recipe, lambda: _load(recipe.name, path)))


@dataclass(frozen=True, slots=True)
class _TorchNetwork:
    """A loaded transformer: a `Network`."""

    name: str
    torch: Any
    model: Any
    rows: int = BATCH_ROWS

    def run(self, tokens: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        torch = self.torch
        try:
            with torch.inference_mode():
                output = self.model(input_ids=torch.from_numpy(tokens), attention_mask=torch.from_numpy(mask))
        except (RuntimeError, ValueError, IndexError) as error:
            raise EmbedderError(
                f"model {self.name} failed on a batch of {len(tokens)} texts: {error}; nothing was stored",
                model=self.name,
            ) from error
        return np.asarray(output.last_hidden_state.float().numpy(), dtype=np.float32)


def _load(name: str, path: Path) -> _TorchNetwork:
    try:
        torch = import_module("torch")  # an optional extra, absent from most installs
        transformers = import_module("transformers")
        damaged: type[Exception] = import_module("safetensors").SafetensorError
    except ImportError as error:
        raise EmbedderError(
            f"model {name} has only safetensors weights: pip install 'mnemic[parametric]' to run it with torch, "
            "or choose one with an ONNX graph",
            model=name,
        ) from error
    transformers.logging.disable_progress_bar()  # it would draw on stderr, past our logging
    try:
        model = transformers.AutoModel.from_pretrained(
            str(path), local_files_only=True, use_safetensors=True, trust_remote_code=False, dtype=torch.float32
        )
    except (OSError, ValueError, RuntimeError, KeyError, damaged) as error:
        raise EmbedderError(
            f"model {name} cannot be loaded by transformers: {error}; fetch the model again", model=name
        ) from error
    return _TorchNetwork(name, torch, model.eval())
