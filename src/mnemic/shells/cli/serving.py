"""`mnemic serve`: the HTTP server with its worker, on loopback unless a key exists.

It says what to open and what to try. SIGTERM and SIGINT drain: it is no longer ready, calls that run end, streams are
told, the worker ends its present step; a second one ends it at once. Its log goes to stderr as `log_format` says.
"""

from __future__ import annotations

import logging
import os
import shlex
import sys
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mnemic import config
from mnemic.errors import InputError
from mnemic.model.caller import LOCAL
from mnemic.shells.cli import logged
from mnemic.shells.cli.face import Face, face_of

if TYPE_CHECKING:
    from fastapi import FastAPI

    from mnemic.api import Memory

_log = logging.getLogger(__name__)

_LINGER: Final = 5.0  # seconds that threads have to end which nobody waits for any more


def serve(
    context: typer.Context,
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on (default: the settings').")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 is any free one (default: the settings').")] = None,
    with_worker: Annotated[
        bool, typer.Option("--worker/--no-worker", help="Do background work in this process, too.")
    ] = True,
) -> None:
    """Serve the memory over HTTP until SIGTERM or Ctrl-C, which drain: what runs ends, nothing is lost."""
    face = face_of(context)
    given: dict[str, Any] = {}
    if host is not None:
        given["serve_host"] = host
    if port is not None:
        given["serve_port"] = port
    if not with_worker:
        given["worker"] = False
    known = config.load(face.home, given)
    with ExitStack() as last:
        last.callback(logged.serve(known, debug=face.debug))
        _serve(face, known)
    _leave()


def _serve(face: Face, settings: config.Settings) -> None:
    try:
        from mnemic.api import Memory, acting  # noqa: PLC0415
        from mnemic.shells.http import running  # noqa: PLC0415 - what a server needs, only for one
        from mnemic.shells.http.gate import is_loopback  # noqa: PLC0415
    except ImportError as error:
        raise InputError("serve", "needs further packages; pip install 'mnemic[server]'") from error
    running.share_heaps()
    listener = running.listening(settings.serve_host, settings.serve_port)
    with listener, Memory(settings=settings, guarded=True) as memory:
        with acting(LOCAL):
            were_keys = bool(memory.keys.list())
        with_keys = memory.keys.any()
        if not with_keys and not is_loopback(str(listener.getsockname()[0])):
            raise InputError(
                "host",
                f"{settings.serve_host} can be reached from other machines, and no key exists; make one with "
                "`mnemic keys create NAME`, or listen on 127.0.0.1",
            )
        server = running.Server(composed(memory))
        address = running.address_of(listener)
        _greet(face, address, with_keys=with_keys, were_keys=were_keys)
        _log.info("server_started", extra={"pid": os.getpid(), "address": address})
        server.serve_on(listener)
        _log.info("server_closing", extra={"pid": os.getpid()})
    _log.info("server_ended", extra={"pid": os.getpid()})


def composed(memory: Memory) -> FastAPI:
    """Return the whole server of a memory: all doors in one app."""
    from mnemic.shells.http.app import build  # noqa: PLC0415

    app = build(memory)
    _add_protocol(app, memory)
    return app


def _add_protocol(app: FastAPI, memory: Memory) -> None:
    """Let models speak to it over the Model Context Protocol, when its package is there."""
    try:
        from mnemic.shells.mcp import http  # noqa: PLC0415
    except ImportError:
        _log.info("protocol_missing", extra={"package": "mnemic[mcp]"})
        return
    from starlette.routing import Route  # noqa: PLC0415

    from mnemic.shells.http import telling  # noqa: PLC0415

    inside = http.mounted(memory, app.state.threads, hosts=None)  # the server around has looked at the host
    app.router.routes.append(Route("/mcp", inside))
    telling.register(app, "/mcp", lambda error, status, _request: http.refusal(error, status))


def _greet(face: Face, address: str, *, with_keys: bool, were_keys: bool) -> None:
    """Say what to open, and what to try: lines that work when they are copied."""
    if face.json:
        face.print_json({"address": address, "openapi": f"{address}/openapi.json", "keys": with_keys})
        return
    if face.quiet:
        return
    key = """ -H "Authorization: Bearer $KEY\"""" if with_keys else ""
    in_python = ', os.environ["KEY"]' if with_keys else ""
    python = shlex.quote(sys.executable)
    told = f"""Mnemic is served at {address}   (Ctrl-C ends it)

  open   {address}/   {address}/openapi.json
  add    curl {address}/v1/messages{key} --json '{{"user": "ann", "messages": "I moved to Porto last week."}}'
  find   curl {address}/v1/search{key} --json '{{"user": "ann", "query": "Where does Ann live?"}}'
  python {python} -c 'import os, mnemic; print(mnemic.Client("{address}"{in_python}).stats(user="ann"))'
"""
    if with_keys:
        told += "  key    export KEY=… with one of yours; `mnemic keys list` shows which there are\n"
    elif were_keys:
        told += "  keys   all are over, and every call is refused; `mnemic keys create NAME` makes one\n"
    else:
        told += "  keys   none yet: only this machine is served; `mnemic keys create NAME` makes one\n"
    typer.echo(told)
    sys.stdout.flush()


def _leave() -> None:
    """End the process although calls that nobody waits for may still wait on a model: their threads are left."""
    until = time.monotonic() + _LINGER
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join(max(0.0, until - time.monotonic()))
    if any(not each.daemon for each in threading.enumerate() if each is not threading.current_thread()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
