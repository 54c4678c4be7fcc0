"""A server on loopback that answers HTTP by a script, byte for byte: for clients that meet bad servers."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

PATIENCE: Final = 30.0  # seconds


@dataclass
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Step = bytes | Sequence[bytes] | Callable[["ScriptedHttp", socket.socket], None]
"""What is done with a request: bytes are sent and the connection is closed, or something is done with the socket."""


@dataclass
class ScriptedHttp:
    """Takes one step of its script for each request; when the script has ended, the last one again and again."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def hang(self, seconds: float = PATIENCE) -> None:
        """Say nothing until the test is over."""
        self.over.wait(seconds)


def reply(status: int, body: Any = None, kind: str = "application/json", **headers: str) -> bytes:
    """Return a whole response."""
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(data)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


def problem(status: int, code: str, detail: str = "no", *, after: str = "", **more: Any) -> bytes:
    """Return a problem as a whole response."""
    told = {"type": f"urn:mnemic:error:{code}", "status": status, "code": code, "detail": detail, **more}
    headers = {"Retry_After": after} if after else {}
    return reply(status, told, "application/problem+json", **headers)


def begun(kind: str = "text/event-stream; charset=utf-8") -> bytes:
    """Return the beginning of a chunked response."""
    return f"HTTP/1.1 200 X\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()


def chunk(data: bytes) -> bytes:
    """Return a chunk of it; an empty one is its end."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(name: str, data: Any, event_id: str = "") -> bytes:
    """Return an event as a chunk."""
    told = f"id: {event_id}\n" if event_id else ""
    return chunk(f"{told}event: {name}\ndata: {json.dumps(data)}\n\n".encode())


@contextmanager
def answering(*script: Step) -> Iterator[ScriptedHttp]:
    """Serve a script."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        server = ScriptedHttp(f"http://127.0.0.1:{listener.getsockname()[1]}")
        ended = threading.Event()
        threads: list[threading.Thread] = []

        def accept() -> None:
            while not ended.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                thread = threading.Thread(target=_serve, args=(server, connection, script))
                threads.append(thread)
                thread.start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield server
        finally:
            ended.set()
            server.over.set()
            accepting.join(PATIENCE)
            for thread in threads:
                thread.join(PATIENCE)


def _serve(server: ScriptedHttp, connection: socket.socket, script: Sequence[Step]) -> None:
    with connection:
        connection.settimeout(PATIENCE)
        asked = _request(connection)
        if asked is None:
            return
        server.asked.append(asked)
        step = script[min(len(server.asked), len(script)) - 1]
        try:
            if callable(step):
                step(server, connection)
                return
            for part in [step] if isinstance(step, bytes) else step:
                connection.sendall(part)
        except OSError:  # the client has left
            return


def _request(connection: socket.socket) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65_536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("ascii").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    method, path, _ = first.split(" ")
    chunked = headers.get("transfer-encoding") == "chunked"
    while (chunked and not body.endswith(b"0\r\n\r\n")) or len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65_536)
    return Asked(method, path, headers, body)
