"""A small server with OpenAI's `/embeddings` route on loopback, which answers honestly or as a script tells it to.

For tests of clients. Its vectors are those of `HashingEmbedder`, and its index order is reversed on purpose, since the
API promises none. It never waits longer than five seconds, whatever the script says.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from mnemic.backends.models.hashing import HashingEmbedder

_LONGEST_STALL = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: `cut` closes the connection halfway through the body, `stall` keeps silent until the server stops."""

    body: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    cut: bool = False
    stall: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, object]


Script = Callable[[list[str]], Answer]


class EmbeddingServer:
    """Answers with the scripted answers in turn, then honestly; `requests` has all that came in. A context manager."""

    def __init__(self, script: Sequence[Answer | Script] = (), *, width: int = 64) -> None:
        self.requests: list[Request] = []
        self._script = deque(script)
        self._embedder = HashingEmbedder(width)
        self._stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False  # closing waits for them: no thread outlives the server
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def honest(self, texts: list[str]) -> Answer:
        """Return the right answer for texts, in reversed order with their indices."""
        vectors = self._embedder.embed(texts).tolist()
        data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        return Answer({"object": "list", "data": data[::-1], "model": self._embedder.name})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(_LONGEST_STALL)

    def _answer(self, request: Request) -> Answer:
        self.requests.append(request)
        given = request.body.get("input")
        texts = [str(text) for text in given] if isinstance(given, list) else []
        if not self._script:
            return self.honest(texts)
        scripted = self._script.popleft()
        return scripted if isinstance(scripted, Answer) else scripted(texts)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = owner._answer(Request(self.path, headers, json.loads(body)))
                if answer.stall:
                    owner._stopping.wait(_LONGEST_STALL)
                    return
                self._send(answer)

            def _send(self, answer: Answer) -> None:
                content = json.dumps(answer.body).encode() if answer.raw is None else answer.raw
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if answer.cut else content)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's name for it
                """Say nothing: a test's output is its own."""

        return Handler
