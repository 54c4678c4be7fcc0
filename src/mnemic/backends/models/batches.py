"""How token lists become batches, and hidden states become unit vectors: pure array work for every model backend.

Batches are small on purpose. On a CPU the time per text is least near 512 padded tokens and grows past 1,024
(measured with MiniLM-L6: 72 texts a CPU-second at 512, 56 at 2,048, 42 at 8,192), because larger ones leave the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from mnemic.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH_TOKENS: Final = 512
BATCH_ROWS: Final = 32

Pooling = Literal["mean", "cls"]


def plan_batches(lengths: Sequence[int], *, tokens: int = BATCH_TOKENS, rows: int = BATCH_ROWS) -> list[list[int]]:
    """Group positions by length so that rows x longest stays within `tokens`; one long text may exceed it alone."""
    batches: list[list[int]] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        batch = batches[-1] if batches else []
        if batch and len(batch) < rows and lengths[position] * (len(batch) + 1) <= tokens:
            batch.append(position)
        else:
            batches.append([position])
    return batches


def pad(ids: Sequence[Sequence[int]], filler: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return token ids and attention mask, both int64 of shape (rows, longest), padded on the right."""
    shape = (len(ids), max(map(len, ids), default=0))
    tokens = np.full(shape, filler, dtype=np.int64)
    mask = np.zeros(shape, dtype=np.int64)
    for row, line in enumerate(ids):
        tokens[row, : len(line)] = line
        mask[row, : len(line)] = 1
    return tokens, mask


def pool(hidden: NDArray[np.float32], mask: NDArray[np.int64], how: Pooling) -> NDArray[np.float32]:
    """Reduce hidden states (rows, tokens, width) to (rows, width): the mean over real tokens, or the first token."""
    if how == "cls":
        return hidden[:, 0, :]
    weights = mask[:, :, None].astype(np.float32)
    counts = np.maximum(weights.sum(axis=1), 1.0)
    return np.asarray((hidden * weights).sum(axis=1) / counts, dtype=np.float32)


def unit_rows(vectors: NDArray[np.float32], model: str) -> NDArray[np.float32]:
    """Return the rows divided by their length; raises EmbedderError when one has no direction or is not finite."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    bad = np.flatnonzero(~(np.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0)))
    if bad.size:
        raise EmbedderError(
            f"model {model} gave a vector that is zero or not finite for {bad.size} of {len(vectors)} texts; "
            "nothing was stored: check the model, or choose another",
            model=model,
            rows=bad[:20].tolist(),
        )
    return np.asarray(vectors / lengths, dtype=np.float32)
