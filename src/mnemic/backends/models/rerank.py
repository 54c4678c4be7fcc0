"""A reranker at any server with a `/rerank` route: Jina, Cohere, Voyage, vLLM, llama.cpp, LiteLLM.

It decides what of an answer is believed: a finite score for every text, each once; sending and trying again is
`http_json`. It does not look at the texts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from mnemic.backends.models.http_json import JsonPoster, Patience, Terms
from mnemic.errors import ModelError
from mnemic.text import clean

_BLANK: Final = "."  # what is sent for a text without a visible character: servers refuse an empty one
_NAMES: Final = ("relevance_score", "score")

PATIENCE: Final = Patience(timeout=10.0, tries=2, first_wait=0.2, longest_wait=2.0)
"""Somebody waits for a search: 22 seconds at worst."""


class ServedReranker:
    """A `Reranker` over HTTP. Without a model's name the server has one only."""

    def __init__(self, base_url: str, api_key: str, model: str, *, patience: Patience = PATIENCE) -> None:
        terms = Terms(error=ModelError, kept="the ranking stays as it was", settings="rerank_")
        self._poster = JsonPoster(base_url, api_key, patience=patience, terms=terms)
        self._model = model

    @property
    def name(self) -> str:
        """The model's name on the server."""
        return self._model or "reranker"

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score for each text; ModelError names what was wrong with the answer."""
        if not texts:
            return []
        documents = [clean(text) if text.strip() else _BLANK for text in texts]
        payload: dict[str, object] = {"query": clean(question), "documents": documents, "top_n": len(documents)}
        if self._model:
            payload["model"] = self._model
        return self._read(self._poster.post("rerank", payload), len(documents))

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        self._poster.close()

    def _read(self, body: object, count: int) -> list[float]:
        results = body.get("results", body.get("data")) if isinstance(body, dict) else None
        if not isinstance(results, list):
            raise self._fault("an answer without a list named results")
        scores: dict[int, float] = {}
        for each in results:
            entry = each if isinstance(each, dict) else {}
            index = entry.get("index")
            if type(index) is not int or not 0 <= index < count or index in scores:
                raise self._fault(f"an index that is missing, repeated or out of range: {index!r}")
            score = next((entry[name] for name in _NAMES if name in entry), None)
            if isinstance(score, bool) or not isinstance(score, (int, float)) or not math.isfinite(score):
                raise self._fault(f"no finite score for text {index}: {score!r}")
            scores[index] = float(score)
        if len(scores) != count:
            raise self._fault(f"{len(scores)} scores for {count} texts")
        return [scores[index] for index in range(count)]

    def _fault(self, what: str) -> ModelError:
        return ModelError(
            f"the reranking server answered for model {self.name} with {what}; the ranking stays as it was: check that "
            "it is a reranker",
            model=self.name,
        )
