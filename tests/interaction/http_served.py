"""A served memory for tests: its app called in the same process, or a server on loopback with a thread of its own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
from fastapi import FastAPI

from mnemic import Memory
from mnemic.shells.http import running
from mnemic.shells.http.app import build
from mnemic.wire.routes import VERSION, Route

PATIENCE = 60.0  # seconds


@contextmanager
def guarded(home: Path, llm: Any = None, **settings: Any) -> Iterator[Memory]:
    given = {"embedder": "hashing", **settings}
    with Memory(home, settings=given, llm=llm, guarded=True) as memory:
        yield memory


@asynccontextmanager
async def asking(app: FastAPI, **options: Any) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client that calls the app without a socket."""
    transport = httpx2.ASGITransport(app=app, client=options.pop("client", ("127.0.0.1", 50_000)))
    options = {"base_url": "http://localhost:8765", "timeout": PATIENCE, **options}
    async with httpx2.AsyncClient(transport=transport, **options) as client:
        yield client


@contextmanager
def serving(memory: Memory, *, patience: float = running.PATIENCE) -> Iterator[tuple[str, running.Server]]:
    """Yield the address of a server on loopback, and the server, which is ended at the end."""
    listener = running.listening("127.0.0.1", 0)
    server = running.Server(build(memory), patience=patience)
    thread = threading.Thread(target=server.serve_on, args=(listener,), name="server")
    thread.start()
    try:
        until(lambda: server.started)
        yield running.address_of(listener), server
    finally:
        server.end()
        thread.join(PATIENCE)
        listener.close()
        assert not thread.is_alive()


def until(true: Any, patience: float = PATIENCE) -> None:
    """Wait until something holds; fail when it does not in time."""
    deadline = time.monotonic() + patience
    pause = threading.Event()
    while not true():
        assert time.monotonic() < deadline, "it did not come to hold"
        pause.wait(0.01)


def request_of(route: Route, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request that calls a verb with these arguments."""
    rest = dict(given)
    path = VERSION + route.path
    for name in route.in_path:
        path = path.replace(f"{{{name}}}", quote(str(rest.pop(name)), safe=""))
    if route.in_query:
        texts = {name: json.dumps(value) if isinstance(value, bool) else value for name, value in rest.items()}
        return {"method": route.method, "url": path, "params": texts}
    return {"method": route.method, "url": path, "json": rest}
