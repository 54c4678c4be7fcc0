"""As much of a model hub's protocol as its own client needs for one small public repository, on loopback."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit


class Hub(BaseHTTPRequestHandler):
    """Answers for the repository org/mini, which is the folder `root`; with `wrong`, its sums are of other files."""

    def __init__(self, root: Path, wrong: bool, *args: object) -> None:
        self.root, self.wrong = root, wrong
        super().__init__(*args)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self._serve(with_body=True)

    def do_HEAD(self) -> None:
        self._serve(with_body=False)

    def _serve(self, *, with_body: bool) -> None:
        path = urlsplit(self.path).path
        if path.startswith("/api/models/org/mini/tree/"):
            self._send(
                [{"type": "file", "path": name, "size": 1, "oid": "0" * 40} for name in self._files()], with_body
            )
        elif path.startswith("/api/models/org/mini"):
            listed = [{"rfilename": name, **self._stored(name)} for name in self._files()]
            self._send({"id": "org/mini", "sha": "c" * 40, "siblings": listed}, with_body)
        elif path.startswith("/org/mini/resolve/"):
            self._bytes((self.root / path.split("/", 5)[5]).read_bytes(), with_body)
        else:
            self._bytes(b"{}", with_body, 404, {"x-error-code": "RepoNotFound"})

    def _files(self) -> list[str]:
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file())

    def _stored(self, name: str) -> dict[str, object]:
        content = (self.root / name).read_bytes()
        told: dict[str, object] = {"size": len(content)}
        if name.endswith(".gguf"):  # kept apart from the repository, with a sum
            sha256 = hashlib.sha256(b"other" if self.wrong else content).hexdigest()
            told["lfs"] = {"size": len(content), "sha256": sha256, "pointerSize": 134}
        return told

    def _send(self, body: object, with_body: bool) -> None:
        self._bytes(json.dumps(body).encode(), with_body)

    def _bytes(self, body: bytes, with_body: bool, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        tag = hashlib.sha256(body).hexdigest()
        for name, value in {"etag": f'"{tag}"', "x-repo-commit": "c" * 40, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's name for it
        """Say nothing."""


@contextmanager
def loopback_hub(root: Path, *, wrong: bool = False) -> Iterator[str]:
    """Run a hub that has the folder; hand out its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, root, wrong))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join(5)
