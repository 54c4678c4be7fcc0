"""Static embeddings from a folder (model2vec, such as potion, and sentence-transformers' StaticEmbedding): a vector a
token, averaged. No network is run, so that a text takes a fraction of a millisecond; order and context do not count.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from mnemic.backends.models import folder
from mnemic.backends.models.batches import unit_rows
from mnemic.backends.models.tensors import read_tensors
from mnemic.errors import EmbedderError
from mnemic.text import clean

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

MAX_TOKENS: Final = 2_048
_MAX_CHARS: Final = MAX_TOKENS * 16
_PLACES: Final = ("", "0_StaticEmbedding")
_TABLES: Final = ("embeddings", "embedding.weight")


def is_static(path: Path) -> bool:
    """Tell whether a folder holds a static model, by what its JSON files say."""
    config, modules = (_json(path / name) for name in ("config.json", "modules.json"))
    if isinstance(config, dict) and config.get("model_type") == "model2vec":
        return True
    first = modules[0] if isinstance(modules, list) and modules and isinstance(modules[0], dict) else {}
    return str(first.get("type")).endswith("StaticEmbedding")


@dataclass(frozen=True, slots=True)
class _Table:
    """What a static model is: its tokenizer, the vector of each token, the weight and the row of a token if told."""

    tokenizer: Tokenizer
    vectors: NDArray[Any]
    weights: NDArray[np.float32] | None
    rows: NDArray[np.int64] | None

    def mean(self, ids: Sequence[int], width: int) -> NDArray[np.float32]:
        """Return the weighted sum of the tokens' vectors; its length does not count."""
        tokens = np.array(ids[:MAX_TOKENS], dtype=np.int64)
        places = tokens if self.rows is None else self.rows[tokens]
        found = self.vectors[places].astype(np.float32)
        if self.weights is not None:
            found *= self.weights[tokens][:, None]
        total: NDArray[np.float32] = found.sum(axis=0)
        if not total.any():  # nothing that the model knows: any direction, always the same
            total = np.zeros(width, dtype=np.float32)
            total[0] = 1.0
        return total


class StaticEmbedder:
    """An `Embedder` that looks tokens up; it reads the first 2,048 tokens of a text."""

    def __init__(self, name: str, width: int, place: Path) -> None:
        self._name = name
        self._width = width
        self._place = place
        self._lock = threading.Lock()
        self._table: _Table | None = None

    @classmethod
    def from_folder(cls, path: Path) -> Self:
        """Return the embedder of a folder; raises EmbedderError that names the missing or unusable file."""
        place = next((path / name for name in _PLACES if (path / name / folder.SAFETENSORS).is_file()), None)
        if place is None:
            raise EmbedderError(f"{path} has no {folder.SAFETENSORS}; fetch the model again", folder=str(path))
        if not (place / folder.TOKENIZER).is_file():
            raise EmbedderError(f"{place} has no {folder.TOKENIZER}; fetch the model again", folder=str(place))
        weights = place / folder.SAFETENSORS
        width = int(_vectors(read_tensors(weights), weights).shape[1])
        return cls(f"{path.resolve().name}-{folder.fingerprint(place, weights)}", width, place)

    @property
    def name(self) -> str:
        """The folder's name and marks of its contents."""
        return self._name

    @property
    def width(self) -> int:
        """The number of components."""
        return self._width

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 of shape (len(texts), width), rows of length 1."""
        vectors = np.zeros((len(texts), self._width), dtype=np.float32)
        if len(texts) == 0:
            return vectors
        table = self._loaded()
        for row, text in enumerate(texts):
            ids = table.tokenizer.encode(clean(text[:_MAX_CHARS]), add_special_tokens=False).ids
            vectors[row] = table.mean(ids, self._width)
        return unit_rows(vectors, self._name)

    def _loaded(self) -> _Table:
        with self._lock:
            if self._table is None:
                self._table = _read_table(self._place)
            return self._table


def _read_table(place: Path) -> _Table:
    path = place / folder.SAFETENSORS
    tensors = read_tensors(path)
    tokenizer = folder.load_tokenizer(place / folder.TOKENIZER, MAX_TOKENS)
    vectors, weights, rows = _vectors(tensors, path), tensors.get("weights"), tensors.get("mapping")
    known = len(vectors) if rows is None else len(rows)
    if known < tokenizer.get_vocab_size() or (rows is not None and rows.size and int(rows.max()) >= len(vectors)):
        raise EmbedderError(f"{path} has no vector for each token of its tokenizer: fetch the model again")
    return _Table(
        tokenizer,
        vectors,
        None if weights is None else np.asarray(weights, dtype=np.float32).ravel(),
        None if rows is None else np.asarray(rows, dtype=np.int64).ravel(),
    )


def _vectors(tensors: dict[str, NDArray[Any]], path: Path) -> NDArray[Any]:
    found = next((tensors[name] for name in _TABLES if name in tensors), None)
    if found is None or found.ndim != 2 or not found.size:
        raise EmbedderError(f"{path} holds no table of token vectors ({', '.join(_TABLES)})", file=str(path))
    return found


def _json(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, ValueError) as error:
        raise EmbedderError(
            f"{path} cannot be read as JSON ({error}); fetch the model again", file=str(path)
        ) from error
