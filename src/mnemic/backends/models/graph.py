"""Loads one ONNX graph and its tokenizer, and hides what differs between exports: input names, output ranks.

A recipe says where the parts are. This file relies on onnxruntime and tokenizers, imported at the first load because
together they cost a command half a second; it knows nothing of pooling or of batches.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mnemic.backends.models.batches import BATCH_ROWS, Pooling
from mnemic.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_DYNAMIC_QUANTIZATION = b"DynamicQuantize"


@dataclass(frozen=True, slots=True)
class OnnxRecipe:
    """Everything there is to know about a model before loading it.

    `weights` returns the graph as bytes or its path, `tokenizer` a tokenizer that adds special tokens and truncates
    to `max_tokens`; both are called once and raise EmbedderError. Prefixes go before each text, as the model was trained.
    """

    name: str
    width: int
    max_tokens: int
    pooling: Pooling
    weights: Callable[[], bytes | Path]
    tokenizer: Callable[[], Tokenizer]
    passage_prefix: str = ""
    query_prefix: str = ""
    pad_id: int = 0


@dataclass(frozen=True, slots=True)
class Graph:
    """A loaded model. `rows` is the most texts that may share a batch without changing each other's vectors."""

    name: str
    session: Any  # onnxruntime.InferenceSession, which has no type information
    tokenizer: Tokenizer
    inputs: frozenset[str]
    output: str
    rows: int
    failures: tuple[type[Exception], ...]

    def encode(self, text: str) -> list[int]:
        """Return the token ids of one text, special tokens included; one at a time, so that no thread pool starts."""
        return list(self.tokenizer.encode(text).ids)

    def run(self, tokens: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return hidden states (rows, tokens, width), or sentence vectors (rows, width) where the graph pools itself."""
        offered = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        feed = {name: value for name, value in offered.items() if name in self.inputs}
        try:
            (output,) = self.session.run([self.output], feed)
        except self.failures as error:
            raise EmbedderError(
                f"model {self.name} failed on a batch of {len(tokens)} texts: {error}; nothing was stored", model=self.name
            ) from error
        return np.asarray(output, dtype=np.float32)


def load_graph(recipe: OnnxRecipe, threads: int) -> Graph:
    """Load weights and tokenizer; raises EmbedderError when a part is missing, damaged or of an unknown shape."""
    import onnxruntime  # noqa: PLC0415 - 0.2 s, paid only by who embeds

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: its warnings go to stderr, past our logging
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # spinning burns the cores of others
    failures = _failures()
    weights = recipe.weights()
    source = weights if isinstance(weights, bytes) else str(weights)
    try:
        session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except failures as error:
        raise EmbedderError(
            f"the graph of model {recipe.name} cannot be loaded: {error}; fetch it again with `mnemic models pull`",
            model=recipe.name,
        ) from error
    inputs = frozenset(entry.name for entry in session.get_inputs())
    unknown = inputs - {"input_ids", "attention_mask", "token_type_ids"}
    if unknown or "input_ids" not in inputs:
        raise EmbedderError(
            f"the graph of model {recipe.name} is not a text encoder that Mnemic knows: its inputs are {sorted(inputs)}",
            model=recipe.name,
            inputs=sorted(inputs),
        )
    rows = 1 if _quantizes_per_batch(weights) else BATCH_ROWS
    return Graph(recipe.name, session, recipe.tokenizer(), inputs, _pick_output(session, recipe.name), rows, failures)


def _pick_output(session: Any, model: str) -> str:
    """Prefer the hidden state of each token to a vector already pooled; exports name and number them freely."""
    outputs = [entry for entry in session.get_outputs() if entry.type in ("tensor(float)", "tensor(float16)")]
    for rank in (3, 2):
        for entry in outputs:
            if len(entry.shape) == rank:
                return str(entry.name)
    raise EmbedderError(f"the graph of model {model} has no output of token or sentence vectors", model=model)


def _quantizes_per_batch(weights: bytes | Path) -> bool:
    """Tell whether activations are scaled by the largest value of the whole batch, so that neighbours change a vector."""
    if isinstance(weights, bytes):
        return _DYNAMIC_QUANTIZATION in weights
    with weights.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        return view.find(_DYNAMIC_QUANTIZATION) >= 0


def _failures() -> tuple[type[Exception], ...]:
    """Return the exception classes of onnxruntime, which share no parent below Exception."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state  # noqa: PLC0415 - as above

    return tuple(kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception))
