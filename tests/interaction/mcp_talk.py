"""Talking to a server of the Model Context Protocol with the SDK's own client, from tests without an event loop."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp import Client
from mcp.server.lowlevel.server import Server

from mnemic.api import Memory, Threads
from mnemic.shells.mcp.place import Place, at_machine
from mnemic.shells.mcp.server import build

T = TypeVar("T")
PATIENCE = 60.0  # seconds that a conversation may take
MODES = ("auto", "legacy")
"""How a client begins: with `server/discover`, or with the handshake of older protocols."""

Told = Callable[[Client], Awaitable[T]]


def talk(to: Any, say: Told[T], *, mode: str = "auto") -> T:
    """Return what comes of a conversation with a server."""

    async def conversation() -> T:
        with anyio.fail_after(PATIENCE):
            async with Client(to, mode=mode) as client:
                return await say(client)

    return anyio.run(conversation)


def served(memory: Memory, place: Place | None = None, *, tools: str = "all") -> Any:
    """Return a function that makes a server in the loop that uses it."""
    here = at_machine("ann") if place is None else place

    def make() -> Server[Any]:
        return build(lambda: memory, Threads(), place_of=lambda _request: here, tools=tools)

    return make


def said_to(memory: Memory, say: Told[T], place: Place | None = None, *, mode: str = "auto", tools: str = "all") -> T:
    """Return what comes of a conversation with a server in this process."""

    async def conversation() -> T:
        with anyio.fail_after(PATIENCE):
            async with Client(served(memory, place, tools=tools)(), mode=mode) as client:
                return await say(client)

    return anyio.run(conversation)


def called(memory: Memory, tool: str, place: Place | None = None, **arguments: Any) -> Any:
    """Return the structured result of a tool that must succeed; the client holds it against the tool's schema."""

    async def say(client: Client) -> types.CallToolResult:
        await client.list_tools()
        return await client.call_tool(tool, arguments)

    found = said_to(memory, say, place)
    assert not found.is_error, found.content
    assert json.loads(text_of(found)) == found.structured_content
    return found.structured_content


def refused(memory: Memory, tool: str, place: Place | None = None, **arguments: Any) -> str:
    """Return the text of a tool's error."""

    async def say(client: Client) -> types.CallToolResult:
        return await client.call_tool(tool, arguments)

    found = said_to(memory, say, place)
    assert found.is_error
    return text_of(found)


def text_of(result: types.CallToolResult) -> str:
    """Return the text of a result."""
    first = result.content[0]
    assert isinstance(first, types.TextContent)
    return first.text
