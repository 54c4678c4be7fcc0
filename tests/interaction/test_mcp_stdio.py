"""`mnemic mcp` as clients start it: a process of its own, whose stdout carries the protocol and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from mnemic.shells.cli.face import login_name
from mnemic.version import __version__
from tests.interaction.mcp_talk import MODES, talk, text_of

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip
DISCOVER = {
    "jsonrpc": "2.0", "id": 1, "method": "server/discover",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        }
    },
}  # fmt: skip
PATIENCE = 60.0  # seconds that a process may take to end


def parameters(home: Path, *options: str, user: Sequence[str] = ("--user", "ann")) -> StdioServerParameters:
    """Return how a client starts the server: it hands on little of its environment."""
    given = ["-m", "mnemic", "--home", str(home), *user, "mcp", *options]
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "MNEMIC_EMBEDDER": "hashing"}
    return StdioServerParameters(command=sys.executable, args=given, env=env)


def run(home: Path, sent: bytes, *options: str, code: str | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run the server on what a client sends, until stdin ends; `code` takes the place of `-m mnemic`."""
    start = ["-m", "mnemic"] if code is None else ["-c", code]
    command = [sys.executable, *start, "--home", str(home), "--user", "ann", "mcp", *options]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MNEMIC_EMBEDDER": "hashing"}
    return subprocess.run(command, input=sent, capture_output=True, check=False, timeout=PATIENCE, env=env)


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


@pytest.mark.parametrize("mode", MODES)
def test_a_client_starts_it_and_uses_tools_resources_and_prompts(tmp_path: Path, mode: str) -> None:
    async def say(client: Client) -> dict[str, Any]:
        tools = await client.list_tools()
        await client.call_tool("remember", {"content": "I live in Leeds. \u2603", "session": "one"})
        asked = await client.call_tool("ask", {"question": "Where do I live?"})
        recent = await client.read_resource("mnemic://recent")
        prompt = await client.get_prompt("what-do-you-know-about-me", {})
        return {
            "server": client.server_info, "tools": len(tools.tools),
            "told": str(client.instructions), "answer": asked.structured_content,
            "recent": json.loads(recent.contents[0].text), "prompt": prompt.messages,  # type: ignore[union-attr]
        }  # fmt: skip

    said = talk(parameters(tmp_path), say, mode=mode)
    assert (said["server"].name, said["server"].version, said["tools"]) == ("mnemic", __version__, 19)
    assert "'ann'" in said["told"]
    assert said["answer"]["found"] and "Leeds" in said["answer"]["answer"]
    assert "I live in Leeds. \u2603" in [item["text"] for item in said["recent"]["items"]]
    assert [each.content.type for each in said["prompt"]] == ["text", "resource"]


@pytest.mark.parametrize("hello", [HELLO, DISCOVER])
def test_when_stdin_ends_the_process_ends_well_and_stdout_held_only_the_protocol(tmp_path: Path, hello: Any) -> None:
    done = run(tmp_path, lines(hello))
    assert done.returncode == 0, done.stderr.decode()
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["jsonrpc"], each["id"]) for each in answers] == [("2.0", 1)]
    assert "result" in answers[0]
    assert b"mcp_started" in done.stderr and b"ann" in done.stderr


def test_nothing_that_is_printed_reaches_the_protocol(tmp_path: Path) -> None:
    code = """
import os, subprocess, sys
import mnemic.api.memory as api
opened = api.Memory.__init__
def noisy(self, *args, **kwargs):
    print("printed in Python")
    os.write(1, b"printed below Python\\n")
    subprocess.run(["echo", "printed by a child"], check=True)
    opened(self, *args, **kwargs)
api.Memory.__init__ = noisy
import atexit
atexit.register(lambda: print("printed at the end"))
from mnemic.shells.cli.main import run
run()
"""
    done = run(tmp_path, lines(HELLO), code=code)
    assert done.returncode == 0, done.stderr.decode()
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1]
    for told in (b"printed in Python", b"printed below Python", b"printed by a child", b"printed at the end"):
        assert told in done.stderr


def test_lines_that_are_no_protocol_are_answered_with_errors_or_left(tmp_path: Path) -> None:
    done = run(tmp_path, b"no json\n\n{}\n\xff\xfe\n" + lines(HELLO))
    assert done.returncode == 0
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each for each in found if each.get("id") == 1 and "result" in each]


def test_a_read_only_server_offers_no_tool_that_writes(tmp_path: Path) -> None:
    async def say(client: Client) -> tuple[set[str], str]:
        tools = {each.name for each in (await client.list_tools()).tools}
        return tools, text_of(await client.call_tool("remember", {"content": "x"}))

    tools, told = talk(parameters(tmp_path, "--read-only"), say)
    assert "recall" in tools and not tools & {"remember", "forget", "feedback", "add_memory"}
    assert "only read" in told


def test_the_user_is_who_is_logged_in_when_nobody_is_named_and_is_told(tmp_path: Path) -> None:
    async def say(client: Client) -> str:
        return str(client.instructions)

    assert f"'{login_name()}'" in talk(parameters(tmp_path, user=()), say)


def test_a_memory_that_cannot_be_opened_is_told_to_the_caller(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"this is no database" * 100)
    (tmp_path / "mnemic.db").write_bytes(b"this is no database" * 100)

    async def say(client: Client) -> Any:
        return await client.call_tool("recall", {"query": "x"})

    found = talk(parameters(tmp_path), say)
    assert found.is_error
    assert "store" in text_of(found) and "Traceback" not in text_of(found)


def test_wrong_options_end_before_anything_is_served(tmp_path: Path) -> None:
    done = run(tmp_path, lines(HELLO), "--tools", "some")
    assert done.returncode == 2 and done.stdout == b""
    assert b"memoryos" in done.stderr


def test_what_was_asked_before_stdin_ended_is_answered(tmp_path: Path) -> None:
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    listing = [{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(2, 12)]
    done = run(tmp_path, lines(HELLO, initialized, *listing))
    assert done.returncode == 0
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == list(range(1, 12))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to send")
def test_a_process_that_is_told_to_end_ends_well(tmp_path: Path) -> None:
    given = parameters(tmp_path)
    env = {**os.environ, **(given.env or {})}
    with subprocess.Popen(
        [given.command, *given.args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(lines(HELLO))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.terminate()
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, told.decode()
    assert b"Traceback" not in told and b"mcp_ended" in told
