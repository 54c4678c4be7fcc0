"""An embedder over any server with OpenAI's `/embeddings` route: hosted ones, vLLM, llama.cpp, Ollama, TEI.

It decides how texts are cut into requests and what of an answer is believed; sending and trying again is
`http_json`. A batch whose answer does not fit is an error: half an answer is never stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.backends.models.batches import unit_rows
from mnemic.backends.models.http_json import JsonPoster
from mnemic.backends.models.prefixes import Prefixes
from mnemic.errors import EmbedderError, InputError
from mnemic.text import clean

if TYPE_CHECKING:
    from numpy.typing import NDArray

BATCH_TEXTS: Final = 128
BATCH_CHARS: Final = 200_000
"""Hosted servers take some 300,000 tokens a request, and a character is at most about one token."""

_HUGE = 1e18  # its square still fits float32: no embedding has such a component
_NONE = Prefixes()
_BLANK = "."  # what is sent for a text without a visible character: hosted servers refuse an empty one


class OpenAIEmbedder:
    """An `Embedder` over HTTP. Its width is that of the first answer, or `dimensions`, which the server is asked for.

    Texts are read up to `max_chars` characters. That a text has one vector in any batch is up to the server.
    """

    def __init__(
        self,
        poster: JsonPoster,
        model: str,
        *,
        dimensions: int | None = None,
        max_chars: int = 8_000,
        prefixes: Prefixes = _NONE,
        queries: bool = False,
    ) -> None:
        if not model.strip():
            raise InputError("model", "must name an embedding model of the server")
        if dimensions is not None and dimensions < 1:
            raise InputError("dimensions", "must be 1 or more")
        self._poster = poster
        self._model = model
        self._asked = dimensions
        self._width = dimensions
        self._max_chars = max_chars
        self._prefixes = prefixes
        self._prefix = prefixes.query if queries else prefixes.passage

    def for_queries(self) -> OpenAIEmbedder:
        """Return an embedder of questions at the same server: only a query prefix makes it differ."""
        return OpenAIEmbedder(
            self._poster,
            self._model,
            dimensions=self._asked,
            max_chars=self._max_chars,
            prefixes=self._prefixes,
            queries=True,
        )

    @property
    def name(self) -> str:
        """The model's name on the server, with the passage prefix: another address does not change its vectors."""
        return self._model + (f" after {self._prefixes.passage!r}" if self._prefixes.passage else "")

    @property
    def width(self) -> int:
        """The number of components; asks the server once when no answer has told it yet."""
        if self._width is None:
            self._request(["width"])
        if self._width is None:
            raise EmbedderError(f"model {self._model} told no width", model=self._model)
        return self._width

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 of shape (len(texts), width); EmbedderError names what was wrong with the answer."""
        if len(texts) == 0:
            return np.zeros((0, self.width), dtype=np.float32)
        sent = [clean(text[: self._max_chars]) for text in texts]
        sent = [self._prefix + (text if text.strip() else _BLANK) for text in sent]
        return np.concatenate([self._request(batch) for batch in split(sent)])

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        self._poster.close()

    def _request(self, texts: list[str]) -> NDArray[np.float32]:
        payload: dict[str, object] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._asked is not None:
            payload["dimensions"] = self._asked
        body = self._poster.post("embeddings", payload)
        vectors = read_vectors(body, len(texts), self._model)
        if self._width is None:
            self._width = vectors.shape[1]
        if vectors.shape[1] != self._width:
            raise EmbedderError(
                f"model {self._model} answered with vectors {vectors.shape[1]} wide, expected {self._width}; "
                "nothing was stored: the model behind this name has changed, choose it anew and run `mnemic reindex`",
                model=self._model,
                width=self._width,
                found=int(vectors.shape[1]),
            )
        return unit_rows(vectors, self._model)


def split(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in order, at most 128 texts and 200,000 characters at a time, one longer text alone."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or size + len(text) > BATCH_CHARS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def read_vectors(body: object, count: int, model: str) -> NDArray[np.float32]:
    """Return the vectors of an answer in the order of the texts; raises EmbedderError that names the first fault."""
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list):
        raise _fault(model, "an answer without a list named data")
    if len(data) != count:
        raise _fault(model, f"{len(data)} vectors for {count} texts", expected=count, found=len(data))
    rows: dict[int, list[float]] = {}
    for entry in data:
        index, vector = (entry.get("index"), entry.get("embedding")) if isinstance(entry, dict) else (None, None)
        if type(index) is not int or not 0 <= index < count or index in rows:
            raise _fault(model, f"an index that is missing, repeated or out of range: {index!r}")
        rows[index] = _numbers(vector, index, model)
    widths = {len(vector) for vector in rows.values()}
    if len(widths) != 1:
        raise _fault(model, f"vectors of different widths: {sorted(widths)}")
    return np.array([rows[index] for index in range(count)], dtype=np.float32)


def _numbers(vector: object, index: int, model: str) -> list[float]:
    if not isinstance(vector, list) or not vector:
        raise _fault(model, f"no list of numbers for text {index}")
    for value in vector:
        if type(value) not in {int, float} or not abs(value) < _HUGE:  # nor is NaN below it
            raise _fault(model, f"a component that is not a finite number for text {index}: {value!r}")
    return vector


def _fault(model: str, what: str, **fields: object) -> EmbedderError:
    return EmbedderError(
        f"the embedding server answered for model {model} with {what}; nothing was stored: check that it is an "
        "embedding model",
        model=model,
        **fields,
    )
