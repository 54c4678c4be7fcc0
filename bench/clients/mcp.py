"""The official MCP SDK's own client at `mnemic mcp` over the standard streams, and at `mnemic serve` with keys.

Both forms of the protocol are spoken: `server/discover` of 2026-07-28, and the handshake of older clients.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from bench.clients.transcript import Transcript
from mnemic.acting import acting
from mnemic.api import Memory
from mnemic.model.caller import LOCAL
from mnemic.shells.cli.serving import composed
from mnemic.shells.http import running

TALK = [
    {"role": "user", "content": "I'm Ann. I live in Leeds and I have a dog named Rex.", "at": "2025-01-10T10:00:00Z"},
    {"role": "user", "content": "I moved to Porto.", "at": "2025-06-01T10:00:00Z"},
    {"role": "user", "content": "My sister Noor keeps bees.", "at": "2025-06-02T10:00:00Z"},
]
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("remember", {"messages": TALK, "session": "talk", "wait": True}),
    ("ask", {"question": "Where do I live?"}),
    ("ask", {"question": "Who is my dentist?"}),
    ("recall", {"query": "Who keeps bees?", "limit": 1}),
    ("context", {"query": "Where does Ann live?", "budget": 400}),
    ("profile", {"budget": 700}),
    ("feedback", {"text": "My dog is called Max, not Rex", "dry_run": True}),
    ("forget", {"about": "bees"}),
    ("recall", {"query": "Who keeps bees?", "limt": 1}),
    ("add_memory", {"user_input": "I like tea.", "agent_response": "Noted.", "timestamp": "2025-06-03 10:00:00"}),
    ("get_user_profile", {"include_knowledge": False}),
)
DAYS = ("2025-01-10", "2025-06-01", "2025-06-02", "2025-06-03")
FORMS = ("T10:00:00Z", "T10:00:00+00:00", " 10:00:00", " 10:00")


async def over_stdio(told: Transcript, home: Path, mode: str) -> None:
    """Start the server as a client does, and use all that it has."""
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(home)}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "mnemic", "--home", str(home), "--user", "ann", "mcp"], env=env
    )
    told.part(f"`mnemic --user ann mcp`, standard streams, mode {mode}")
    began = time.perf_counter()
    with (home / "stderr.txt").open("w") as errors:
        async with Client(stdio_client(command, errlog=errors), mode=mode) as client:
            print(f"first answer after {time.perf_counter() - began:.2f} s", file=sys.stderr)
            told.say(f"protocol {client.protocol_version}, server {client.server_info and client.server_info.name}")
            if mode == "legacy":
                await _one(told, client, "recall", {"query": "Where does Ann live?", "limit": 1})
                return
            await _everything(told, client)


async def _everything(told: Transcript, client: Client) -> None:
    told.asked("tools/list")
    for tool in (await client.list_tools()).tools:
        hints = tool.annotations
        marks = [name for name in ("read_only", "destructive", "idempotent") if getattr(hints, f"{name}_hint")]
        told.answered(f"{tool.name:17} {', '.join(marks)}")
    for name, given in CALLS:
        await _one(told, client, name, given)
    told.asked("resources/list")
    for resource in (await client.list_resources()).resources:
        told.answered(f"{resource.uri:18} {resource.description}")
    told.asked("resources/read", "mnemic://recent")
    text = (await client.read_resource("mnemic://recent")).contents[0].text  # type: ignore[union-attr]
    told.answered(f"{text[:200]} \u2026")
    told.asked("prompts/list")
    for prompt in (await client.list_prompts()).prompts:
        told.answered(f"{prompt.name:27} {[each.name for each in prompt.arguments or ()]}")
    told.asked("prompts/get", {"name": "prepare-for-meeting", "arguments": {"with": "Noor"}})
    for message in (await client.get_prompt("prepare-for-meeting", {"with": "Noor"})).messages:
        content = message.content
        told.answered(content.text if content.type == "text" else f"[resource {content.resource.uri}]")  # type: ignore[union-attr]


async def _one(told: Transcript, client: Client, name: str, given: dict[str, Any]) -> None:
    told.asked(f"tools/call {name}", given)
    found = await client.call_tool(name, given)
    told.answered(("ERROR " + found.content[0].text) if found.is_error else found.structured_content)  # type: ignore[union-attr]


async def over_http(told: Transcript, address: str, secrets: dict[str, str]) -> None:
    """Call with the keys of two users, one of them for reading only, and with none."""
    for who in ("ann", "bob", "ann, read only"):
        told.part(f"`mnemic serve`, streamable HTTP, the key of {who}")
        headers = {"Authorization": f"Bearer {secrets[who]}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            tools = (await client.list_tools()).tools
            told.say(f"protocol {client.protocol_version}, {len(tools)} tools")
            if who != "bob":
                await _one(told, client, "remember", {"content": "I live in Leeds.", "wait": True})
            await _one(told, client, "ask", {"question": "Where do I live?"})
            await _one(told, client, "recall", {"query": "Where?", "user": "eve"})
    told.part("`mnemic serve`, no key")
    try:
        async with Client(f"{address}/mcp") as client:
            await client.list_tools()
    except* MCPError as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        told.answered(f"ERROR {error}")


@contextmanager
def serving(memory: Memory) -> Iterator[str]:
    """Serve a memory on a free port, as `mnemic serve` does."""
    server = running.Server(composed(memory))
    with running.listening("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.serve_on, args=(listener,))
        thread.start()
        try:
            yield running.address_of(listener)
        finally:
            server.end()
            thread.join(60)


def main() -> int:
    """Run the client over both transports and keep the transcript."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        told = Transcript("The client of the MCP SDK (mcp 2.x) and Mnemic", hidden={folder: "<home>"})
        told.keep(*(day + form for day in DAYS for form in FORMS))
        anyio.run(over_stdio, told, home, "auto")
        anyio.run(over_stdio, told, home, "legacy")
        with Memory(home / "served", guarded=True) as memory:
            with acting(LOCAL):
                new = {
                    "ann": memory.keys.create("ann", users=["ann"]),
                    "bob": memory.keys.create("bob", users=["bob"]),
                    "ann, read only": memory.keys.create("reader", users=["ann"], powers=["read"]),
                }
            with serving(memory) as address:
                anyio.run(over_http, told, address, {who: key.secret for who, key in new.items()})
    told.write(Path(__file__).with_suffix(".txt"))
    return 0
