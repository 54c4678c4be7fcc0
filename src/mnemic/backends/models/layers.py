"""The dense layers that some sentence transformers have after pooling (LaBSE, distiluse, EmbeddingGemma), in NumPy.

Which modules a model has is told by its `modules.json`; one that Mnemic lacks is an error, since leaving it out would
give vectors that look right and find little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.backends.models.tensors import read_tensors
from mnemic.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHTS: Final = "model.safetensors"

_ACTIVATIONS: Final[dict[str, Callable[[NDArray[np.float32]], NDArray[np.float32]]]] = {
    "Identity": lambda values: values,
    "Tanh": np.tanh,
    "ReLU": lambda values: np.maximum(values, np.float32(0)),
}


@dataclass(frozen=True, slots=True)
class DensePlan:
    """A layer before its weights are read: where they are, how wide it makes a vector, what follows the product."""

    folder: Path
    width: int
    activation: str

    def load(self) -> Dense:
        """Read the weights; raises EmbedderError when they are absent or of another shape."""
        path = self.folder / WEIGHTS
        if not path.is_file():
            raise EmbedderError(f"{path} is missing: fetch the model again, or convert its weights", file=str(path))
        tensors = read_tensors(path)
        weight, bias = tensors.get("linear.weight"), tensors.get("linear.bias")
        if weight is None or weight.ndim != 2 or len(weight) != self.width:
            raise EmbedderError(f"{path} does not hold the weights of a layer {self.width} wide", file=str(path))
        return Dense(
            np.ascontiguousarray(weight.T, dtype=np.float32),
            None if bias is None else np.asarray(bias, dtype=np.float32),
            _ACTIVATIONS[self.activation],
        )


@dataclass(frozen=True, slots=True)
class Dense:
    """A layer that is ready: vectors times weights, plus a bias, through an activation."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32] | None
    activation: Callable[[NDArray[np.float32]], NDArray[np.float32]]

    def __call__(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the layer's output for vectors, one a row."""
        product = vectors @ self.weight
        return self.activation(product if self.bias is None else product + self.bias)


def plan_layer(folder: Path, config: dict[str, Any]) -> DensePlan:
    """Return the plan of the layer in `folder` by its configuration; raises EmbedderError for what Mnemic lacks."""
    activation = str(config.get("activation_function", "torch.nn.modules.activation.Tanh")).rsplit(".", 1)[-1]
    width = config.get("out_features")
    if not isinstance(width, int) or width < 1 or activation not in _ACTIVATIONS:
        raise EmbedderError(
            f"{folder}/config.json asks for a layer {width} wide with {activation}; Mnemic has "
            f"{', '.join(_ACTIVATIONS)}",
            folder=str(folder),
        )
    return DensePlan(folder, width, activation)


def apply_layers(layers: Sequence[Dense], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return vectors passed through layers in order."""
    for layer in layers:
        vectors = layer(vectors)
    return vectors
