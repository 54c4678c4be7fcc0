"""An HTTP server on loopback for tests of clients: one function answers every request, or breaks as it is told to.

It keeps what came in, never waits longer than five seconds, and leaves no thread behind.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, Final

LONGEST_STALL: Final = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: a body written as JSON, or `raw` bytes, or `pieces` that are sent one by one as they are.

    `cut` closes the connection halfway, `stall` keeps silent until the server stops, `pause` waits so many seconds
    before each piece.
    """

    body: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    cut: bool = False
    stall: bool = False
    pieces: Sequence[bytes] | None = None
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent; a form with files is one text, each byte a character, as `form` of the body."""

    path: str
    headers: dict[str, str]
    body: dict[str, object]


class Loopback:
    """Serves `respond` on a free port between `start` and `stop`."""

    def __init__(self, respond: Callable[[Request], Answer]) -> None:
        self.requests: list[Request] = []
        self.respond = respond
        self.stopping = threading.Event()
        self.left = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("_Bound", (_Handler,), {"owner": self}))
        self._server.daemon_threads = False  # closing waits for them: no thread outlives the server
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """End what is being answered, and the threads."""
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(LONGEST_STALL)


class _Handler(BaseHTTPRequestHandler):
    owner: ClassVar[Loopback]

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers["content-length"])))

    def do_GET(self) -> None:
        self._serve(b"{}")

    def _serve(self, content: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        is_form = headers.get("content-type", "").startswith("multipart/")
        request = Request(self.path, headers, {"form": content.decode("latin-1")} if is_form else json.loads(content))
        self.owner.requests.append(request)
        answer = self.owner.respond(request)
        if answer.stall:
            self.owner.stopping.wait(LONGEST_STALL)
            return
        try:
            self._send(answer)
        except ConnectionError:  # the client has left: what it wanted is not sent
            self.owner.left.set()

    def _send(self, answer: Answer) -> None:
        content = json.dumps(answer.body).encode() if answer.raw is None else answer.raw
        self.send_response(answer.status)
        headers = {"content-type": "application/json", **answer.headers}
        if answer.pieces is None:
            headers["content-length"] = str(len(content))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if answer.pieces is None:
            self.wfile.write(content[: len(content) // 2] if answer.cut else content)
        else:
            self._send_pieces(answer, answer.pieces)

    def _send_pieces(self, answer: Answer, pieces: Sequence[bytes]) -> None:
        """Send an answer without a length: the closed connection is its end. A cut one ends within a piece."""
        whole = len(pieces) // 2
        cut = [*pieces[:whole], *(piece[: len(piece) // 2] for piece in pieces[whole : whole + 1])]
        for piece in cut if answer.cut else pieces:
            if answer.pause and self.owner.stopping.wait(min(answer.pause, LONGEST_STALL)):
                return
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's name for it
        """Say nothing: a test's output is its own."""
