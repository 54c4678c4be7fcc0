"""A small HTTP server beside a worker: `/metrics` for Prometheus, `/health` and `/ready` for who restarts or routes.

It tells no content, and binds to loopback unless another address is named. It cannot be kept busy: so many requests
are answered at one time, and each connection has some seconds.
"""

from __future__ import annotations

import json
import logging
import socketserver
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from typing import Any, ClassVar, Final

from mnemic.errors import InputError
from mnemic.runtime.exposition import CONTENT_TYPE
from mnemic.runtime.readiness import Readiness

_log = logging.getLogger(__name__)

_MOST: Final = 16  # requests at one time; others are turned away
_SECONDS: Final = 10.0  # that a connection may be silent
_JSON: Final = "application/json"


class Exposed:
    """Answers until it is closed. `address` is where."""

    def __init__(self, figures: Callable[[], str], readiness: Readiness, *, host: str, port: int) -> None:
        """Begin to answer. Raises `InputError` when the figures' package is missing or the address cannot be had."""
        figures()
        handler = type("_Bound", (_Handler,), {"figures": staticmethod(figures), "readiness": readiness})
        try:
            self._server = _Server(host, port, handler)
        except (OSError, OverflowError) as error:
            raise InputError("metrics_port", f"{host}:{port} cannot be listened on: {error}") from error
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.5}, name="mnemic-metrics", daemon=True
        )
        self._thread.start()
        _log.info("figures_exposed", extra={"address": self.address})

    @property
    def address(self) -> str:
        """The address that it listens on, such as http://127.0.0.1:9464."""
        host, port = self._server.server_address[:2]
        return f"http://[{host!s}]:{port}" if ":" in str(host) else f"http://{host!s}:{port}"

    def close(self) -> None:
        """Answer no longer."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(_SECONDS)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = AF_INET6 if ":" in host else AF_INET
        self._free = threading.Semaphore(_MOST)
        super().__init__((host, port), handler)

    def server_bind(self) -> None:
        """Bind, without asking name servers who we are as the class above does."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer on a thread of its own, or turn away."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room for the next."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - its base's signature
        """Say what went wrong in the log; a client that has left is no fault."""
        _log.debug("request_failed", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server_version = "mnemic"
    sys_version = ""
    timeout = _SECONDS
    figures: ClassVar[Callable[[], str]]
    readiness: ClassVar[Readiness]

    def do_GET(self) -> None:
        """Answer a request."""
        self._answer()

    def do_HEAD(self) -> None:
        """Answer a request without a body."""
        self._answer()

    def _answer(self) -> None:
        path = self.path.partition("?")[0].rstrip("/") or "/"
        if path == "/metrics":
            self._send(HTTPStatus.OK, CONTENT_TYPE, type(self).figures())
        elif path == "/health":
            self._send_json(HTTPStatus.OK, {"status": "alive"})
        elif path == "/ready":
            found = self.readiness.look()
            well = not any(found.values())
            told = {name: wrong or "ok" for name, wrong in found.items()}
            status = HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE
            self._send_json(status, {"status": "ready" if well else "not ready", "parts": told})
        else:
            self._send_json(HTTPStatus.NOT_FOUND, {"paths": ["/metrics", "/health", "/ready"]})

    def _send_json(self, status: HTTPStatus, body: Mapping[str, object]) -> None:
        self._send(status, _JSON, json.dumps(body) + "\n")

    def _send(self, status: HTTPStatus, content_type: str, text: str) -> None:
        body = text.encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's name for it
        """Say nothing: who watches asks every few seconds."""
