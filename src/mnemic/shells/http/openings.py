"""What the server tells of itself: that it lives, whether it is ready, its figures, its description, a first page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from mnemic.api import Memory
from mnemic.api.threads import Threads
from mnemic.shells.http.bodies import JSON
from mnemic.shells.http.draining import Draining
from mnemic.version import __version__

_FIGURES: Final = "text/plain; version=0.0.4; charset=utf-8"
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mnemic</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1.2rem; }}
pre {{ padding: .9rem 1rem; overflow-x: auto; border: 1px solid #8885; border-radius: .4rem; }}
code {{ font: .92em ui-monospace, monospace; }} h1 {{ font-weight: 600; }} h2 {{ font-size: 1.1rem; margin-top: 2rem; }}
</style></head><body>
<h1>Mnemic {version}</h1>
<p>A long-term memory for assistants and agents. It runs; this is how to use it.</p>
<h2>Remember</h2>
<pre><code>curl {address}/v1/messages --json '{{"user": "ann", "messages": "I moved to Porto last week."}}'</code></pre>
<h2>Recall</h2>
<pre><code>curl {address}/v1/search --json '{{"user": "ann", "query": "Where does Ann live?"}}'</code></pre>
<h2>In Python</h2>
<pre><code>from mnemic import Client

with Client("{address}") as memory:
    memory.add("I moved to Porto last week.", user="ann")
    print(memory.search("Where does Ann live?", user="ann")[0].text)</code></pre>
<h2>Look further</h2>
<ul>
<li><a href="/openapi.json">/openapi.json</a>: every call, with an example of each</li>
<li><a href="/health">/health</a>, <a href="/ready">/ready</a>, <a href="/metrics">/metrics</a>: for who watches it</li>
</ul>
<p>Once a key exists (<code>mnemic keys create</code>), send it as <code>Authorization: Bearer KEY</code>.</p>
</body></html>
"""


def add_openings(app: FastAPI, memory: Memory, threads: Threads, draining: Draining) -> None:
    """Give the app its first page, and what who watches it asks for."""

    async def health(_: Request) -> Response:
        return _json(200, {"status": "alive"})

    async def ready(_: Request) -> Response:
        found = dict(await threads.call(memory.ready))
        found["process"] = "it is being drained" if draining.begun else ""
        well = not any(found.values())
        told = {name: wrong or "ok" for name, wrong in found.items()}
        return _json(200 if well else 503, {"status": "ready" if well else "not ready", "parts": told})

    async def metrics(request: Request) -> Response:
        told = await threads.call(memory.metrics, who=request.state.caller)
        return Response(told, headers={"Content-Type": _FIGURES})

    async def page(request: Request) -> Response:
        told = _PAGE.format(version=escape(__version__), address=escape(str(request.base_url).rstrip("/")))
        return HTMLResponse(told, headers={"Content-Security-Policy": _POLICY})

    async def description(request: Request) -> Response:
        told = await threads.call(lambda: json.dumps(request.app.openapi()))
        return Response(told, media_type=JSON)

    async def icon(_: Request) -> Response:
        return Response(None, 204)

    openings: Mapping[str, Callable[[Request], Any]] = {
        "/health": health, "/ready": ready, "/metrics": metrics, "/": page, "/favicon.ico": icon,
        "/openapi.json": description,
    }  # fmt: skip
    for path, endpoint in openings.items():
        app.router.add_route(path, endpoint, methods=["GET"], include_in_schema=False)


def _json(status: int, body: Mapping[str, object]) -> Response:
    return Response(json.dumps(body) + "\n", status, media_type=JSON)
