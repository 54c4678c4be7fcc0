"""Runs one ONNX graph on the CPU through onnxruntime, and hides what differs between exports: input names, outputs.

onnxruntime is imported at the first load, because it costs a command that does not embed a fifth of a second. It knows
nothing of tokenizers, pooling or batches.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mnemic.backends.models.batches import BATCH_ROWS
from mnemic.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_DYNAMIC_QUANTIZATION = b"DynamicQuantize"
_ERRORS_ONLY = 3  # of onnxruntime's log, which goes to stderr past our own


@dataclass(frozen=True, slots=True)
class OnnxGraph:
    """A loaded graph: a `Network`. `failures` are the exception classes of onnxruntime, which share no parent."""

    name: str
    session: Any  # onnxruntime.InferenceSession, which has no type information
    inputs: frozenset[str]
    output: str
    rows: int
    failures: tuple[type[Exception], ...]

    def run(self, tokens: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return hidden states (rows, tokens, width), or vectors (rows, width) where the graph pools itself."""
        offered = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        feed = {name: value for name, value in offered.items() if name in self.inputs}
        try:
            (output,) = self.session.run([self.output], feed)
        except self.failures as error:
            raise EmbedderError(
                f"model {self.name} failed on a batch of {len(tokens)} texts: {error}; nothing was stored",
                model=self.name,
            ) from error
        return np.asarray(output, dtype=np.float32)


def load_graph(name: str, weights: bytes | Path, threads: int) -> OnnxGraph:
    """Load a graph from bytes or a path; raises EmbedderError when it is damaged or not a text encoder."""
    import onnxruntime  # noqa: PLC0415 - see above

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # spinning burns the cores of others
    failures = _failures()
    source = weights if isinstance(weights, bytes) else str(weights)
    try:
        session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except failures as error:
        raise EmbedderError(
            f"the graph of model {name} cannot be loaded: {error}; fetch the model again", model=name
        ) from error
    inputs = frozenset(entry.name for entry in session.get_inputs())
    if "input_ids" not in inputs or inputs - _INPUTS:
        raise EmbedderError(
            f"the graph of model {name} is no text encoder that Mnemic knows: it takes {', '.join(sorted(inputs))}",
            model=name,
            inputs=sorted(inputs),
        )
    rows = 1 if quantizes_by_batch(weights) else BATCH_ROWS
    return OnnxGraph(name, session, inputs, _pick_output(session, name), rows, failures)


def quantizes_by_batch(weights: bytes | Path) -> bool:
    """Tell whether a graph scales activations by the largest value of the batch, so that neighbours change a vector."""
    if isinstance(weights, bytes):
        return _DYNAMIC_QUANTIZATION in weights
    with weights.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        return view.find(_DYNAMIC_QUANTIZATION) >= 0


def _pick_output(session: Any, model: str) -> str:
    """Prefer the hidden state of each token to a vector already pooled; exports name and number them freely."""
    outputs = [entry for entry in session.get_outputs() if entry.type in ("tensor(float)", "tensor(float16)")]
    for rank in (3, 2):
        for entry in outputs:
            if len(entry.shape) == rank:
                return str(entry.name)
    raise EmbedderError(f"the graph of model {model} has no output of token or sentence vectors", model=model)


def _failures() -> tuple[type[Exception], ...]:
    from onnxruntime.capi import onnxruntime_pybind11_state as state  # noqa: PLC0415 - see above

    return tuple(kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception))
