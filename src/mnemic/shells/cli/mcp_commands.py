"""The command `mnemic mcp`: serve one user's memory to a model over the standard streams, and set clients up for it.

Once it serves, nothing but the protocol is on stdout.
"""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import Annotated, Any, Final

import typer

from mnemic import config
from mnemic.errors import InputError
from mnemic.shells.cli import logged
from mnemic.shells.cli.commands import CONTEXT
from mnemic.shells.cli.face import Face, face_of
from mnemic.shells.cli.mcp_install import install

_log = logging.getLogger(__name__)

MCP: Final = typer.Typer(
    help="Serve memory to models (Model Context Protocol) over stdin and stdout, and set clients up for it.",
    invoke_without_command=True,
    rich_markup_mode=None,
    add_completion=False,
    context_settings=CONTEXT,
)


@MCP.callback()
def mcp(
    context: typer.Context,
    *,
    cube: Annotated[str | None, typer.Option(help="Serve this cube only, by its id (default: the user's own).")] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only tools that change nothing.")] = False,
    tools: Annotated[str, typer.Option(help="Which tools: all, mnemic, or memoryos (its three).")] = "all",
) -> None:
    """Serve one user's memory (--user; default: your login name) until the client closes stdin."""
    if context.invoked_subcommand is None:
        _serve(face_of(context), cube=cube, read_only=read_only, tools=tools)


MCP.command("install")(install)


def _serve(face: Face, *, cube: str | None, read_only: bool, tools: str) -> None:
    from mnemic.shells.mcp import wire  # noqa: PLC0415 - by those who serve

    line = wire.claim()  # before anything is imported that might print
    if find_spec("mcp") is None:
        raise InputError("mcp", "the package mcp is missing: install mnemic[mcp]")
    known = config.load(face.home)
    ended = logged.serve(known, debug=face.debug)
    try:
        from mnemic.shells.mcp import stdio  # noqa: PLC0415 - the SDK is a second of imports
        from mnemic.shells.mcp.place import at_machine  # noqa: PLC0415

        given: dict[str, Any] = {"home": str(known.folder), "user": face.user, "named": face.named}
        _log.info("mcp_started", extra=given)
        session = stdio.Session(at_machine(face.user, cube=cube, read_only=read_only), tools)
        stdio.serve(line, _opener(face), session)
        _log.info("mcp_ended", extra={"user": face.user})
    finally:
        ended()


def _opener(face: Face) -> Any:
    def open_memory() -> Any:
        from mnemic.api import Memory  # noqa: PLC0415 - opened while the client gets its first answer

        return Memory(face.home)

    return open_memory
