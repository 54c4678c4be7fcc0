"""A small server with OpenAI's `/embeddings` route on loopback, which answers honestly or as a script tells it to.

For tests of clients. Its vectors are those of `HashingEmbedder`, and its index order is reversed on purpose, since the
API promises none. It never waits longer than five seconds, whatever the script says.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.testing.loopback import Answer as Answer
from mnemic.testing.loopback import Loopback
from mnemic.testing.loopback import Request as Request

Script = Callable[[list[str]], Answer]


class EmbeddingServer:
    """Answers with the scripted answers in turn, then honestly; `requests` has all that came in. A context manager."""

    def __init__(self, script: Sequence[Answer | Script] = (), *, width: int = 64) -> None:
        self._script = deque(script)
        self._embedder = HashingEmbedder(width)
        self._loopback = Loopback(self._answer)
        self.requests = self._loopback.requests

    @property
    def url(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self._loopback.port}/v1"

    def honest(self, texts: list[str]) -> Answer:
        """Return the right answer for texts, in reversed order with their indices."""
        vectors = self._embedder.embed(texts).tolist()
        data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        return Answer({"object": "list", "data": data[::-1], "model": self._embedder.name})

    def __enter__(self) -> Self:
        self._loopback.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loopback.stop()

    def _answer(self, request: Request) -> Answer:
        given = request.body.get("input")
        texts = [str(text) for text in given] if isinstance(given, list) else []
        if not self._script:
            return self.honest(texts)
        scripted = self._script.popleft()
        return scripted if isinstance(scripted, Answer) else scripted(texts)
