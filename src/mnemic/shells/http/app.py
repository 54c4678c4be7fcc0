"""Puts the server together: the verbs below /v1, the doors for clients of other systems, and what is around them all.

It opens no port and no memory: `mnemic.shells.http.running` does the one, its caller the other.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, Final

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route as Place

from mnemic.api import Memory
from mnemic.api.threads import Threads
from mnemic.shells.doors import cloud, openai, product
from mnemic.shells.http import telling
from mnemic.shells.http.bodies import JSON
from mnemic.shells.http.calls import Calls, Endpoint, by_method_of
from mnemic.shells.http.draining import Draining
from mnemic.shells.http.forms import form_of
from mnemic.shells.http.framing import Framing, Sizes
from mnemic.shells.http.gate import Gate
from mnemic.shells.http.openings import add_openings
from mnemic.shells.http.operations import Description
from mnemic.shells.http.verbs import ADDS_FILES, verbs_of
from mnemic.version import __version__
from mnemic.wire.forms import FormLimits
from mnemic.wire.routes import BY_VERB, VERSION

MEGABYTE: Final = 1_000_000
WAITING: Final = 16
"""Calls that may wait for each thread that makes calls; one more is told to come again."""

DOORS: Final = (cloud, product, openai)
"""Doors for clients that were written for other systems."""

_DOCUMENTS: Final = re.compile(VERSION + re.sub(r"\{\w+\}", "[^/]+", BY_VERB[ADDS_FILES].path))

_WORDS: Final = (
    "A long-term memory for assistants and agents. Each operation is a verb of the Python library, with the same "
    "names, arguments and results. Errors are problem details (RFC 9457). docs/server.md tells the rest."
)


def build(memory: Memory, *, threads: Threads | None = None, draining: Draining | None = None) -> FastAPI:
    """Return the app that serves a memory, which should be guarded. The limits are those of the memory's settings.

    Who shuts it down begins `draining` first.
    """
    settings = memory.settings
    threads = threads or threads_of(memory)
    draining = draining or Draining()
    around = [
        Middleware(Framing, draining=draining),
        Middleware(GZipMiddleware, minimum_size=1_000, compresslevel=5),
        Middleware(
            Gate,
            caller_of=memory.keys.caller_of,
            threads=threads,
            draining=draining,
            origins=origins_of(settings.serve_origins),
        ),
        Middleware(
            Sizes,
            most=settings.serve_max_megabytes * MEGABYTE,
            most_lines=settings.serve_max_load_megabytes * MEGABYTE,
            most_files=settings.serve_max_upload_megabytes * MEGABYTE,
            takes_files=takes_files,
        ),
    ]
    app = FastAPI(
        title="Mnemic", version=__version__, description=_WORDS, docs_url=None, redoc_url=None, openapi_url=None,
        redirect_slashes=False, middleware=around,
    )  # fmt: skip
    app.state.memory, app.state.threads, app.state.draining = memory, threads, draining
    telling.install(app)
    add_openings(app, memory, threads, draining)
    add_verbs(app, memory, threads, draining)
    limits = limits_of(memory)
    app.include_router(cloud.router(memory, threads, limits, lambda request: form_of(request, threads, limits)))
    app.include_router(product.router(memory, threads))
    app.include_router(openai.router(memory, threads))
    for door in DOORS:
        for prefix in door.PREFIXES:
            telling.register(app, prefix, door.tell)
    return app


def threads_of(memory: Memory) -> Threads:
    """Return the threads that the settings ask for."""
    settings = memory.settings
    calls = settings.serve_threads
    return Threads(calls=calls, streams=settings.serve_streams, waiting=calls * WAITING)


def limits_of(memory: Memory) -> FormLimits:
    """Return the limits of forms with files that the settings say."""
    settings = memory.settings
    return FormLimits(settings.serve_max_files, settings.file_megabytes * MEGABYTE)


def takes_files(path: str) -> bool:
    """Tell whether forms with files are taken at a path."""
    return path in cloud.FORMS or _DOCUMENTS.fullmatch(path) is not None


def add_verbs(app: FastAPI, memory: Memory, threads: Threads, draining: Draining) -> None:
    """Give the app an endpoint for each verb, and the description of all."""
    verbs = verbs_of(memory)
    calls = Calls(memory, threads, draining, limits_of(memory))
    by_path: dict[str, dict[str, Endpoint]] = {}
    for verb in verbs:
        by_path.setdefault(VERSION + verb.route.path, {})[verb.route.method] = calls.endpoint(verb)
    for path, by_method in by_path.items():
        place = Place(path, by_method_of(by_method))
        place.methods = None  # a path is found before the method is looked at: `/jobs/share` is never `/jobs/{id}`
        app.router.routes.append(place)
    own = app.openapi

    @functools.cache
    def openapi() -> dict[str, Any]:
        told = Description(verbs)  # a second of work, for those who ask
        found = own()
        components = found.setdefault("components", {})
        components["schemas"] = {**components.get("schemas", {}), **told.schemas}
        components["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer", "description": "A key of `mnemic keys create`."},
            "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }
        doors = found.get("paths", {})
        for path, operations in doors.items():
            for operation in operations.values():
                _tell_what_doors_do(path, operation)
        found["paths"] = {**told.paths, **doors}
        return found

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's way of extending it


def _tell_what_doors_do(path: str, operation: dict[str, Any]) -> None:
    """Say of an operation of a door that it tells errors in a way of its own, and that chats may come as events."""
    responses = operation.setdefault("responses", {})
    responses.pop("422", None)  # FastAPI's own form, which no door uses
    for statuses in ("4XX", "5XX"):
        told = {"description": "An error, as clients of this door expect it.", "content": {JSON: {"schema": {}}}}
        responses.setdefault(statuses, told)
    if "chat" in path or path.endswith("/stream"):
        responses.setdefault("200", {}).setdefault("content", {})["text/event-stream"] = {"schema": {}}


def origins_of(setting: str) -> Sequence[str]:
    """Return the origins that the setting names."""
    return [each.strip().rstrip("/") for each in setting.split(",") if each.strip()]
