"""MCP over HTTP, as `mnemic serve` serves it: one path, keys decide, and nobody reaches what is not theirs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from mnemic.acting import acting
from mnemic.api import Memory
from mnemic.config import Settings
from mnemic.model.caller import LOCAL
from mnemic.model.key import NewKey
from mnemic.shells.cli.serving import composed
from mnemic.shells.http import running
from tests.interaction.mcp_talk import MODES, PATIENCE, Told, talk, text_of
from tests.services.opened import Clock, new_store

ACCEPT = "application/json, text/event-stream"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@contextmanager
def serving(memory: Memory) -> Iterator[str]:
    """Serve a memory on a free port; yield the address."""
    server = running.Server(composed(memory), patience=1.0)
    with running.listening("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.serve_on, args=(listener,))
        thread.start()
        try:
            yield running.address_of(listener)
        finally:
            server.end()
            thread.join(PATIENCE)
            assert not thread.is_alive()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    embedder = new_store(tmp_path)
    settings = Settings(home=str(tmp_path), worker=False)
    with Memory(settings=settings, embedder=embedder, clock=Clock(), guarded=True) as opened:
        yield opened


def made(memory: Memory, name: str, **reach: Any) -> NewKey:
    """Make a key, as somebody at the machine."""
    with acting(LOCAL):
        return memory.keys.create(name, **reach)


def revoke(memory: Memory, new: NewKey) -> None:
    with acting(LOCAL):
        memory.keys.revoke(new.key.id)


def first_of(error: BaseException) -> BaseException:
    """Return the first of what task groups have gathered."""
    return first_of(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def keyed(address: str, secret: str, say: Told[Any], *, mode: str = "auto", **headers: str) -> Any:
    """Return what comes of a conversation with a key."""

    async def conversation() -> Any:
        with anyio.fail_after(PATIENCE):
            sent = {"Authorization": f"Bearer {secret}", **{name.replace("_", "-"): v for name, v in headers.items()}}
            async with httpx2.AsyncClient(headers=sent) as http:
                transport = streamable_http_client(f"{address}/mcp", http_client=http)
                async with Client(transport, mode=mode) as client:
                    return await say(client)

    return anyio.run(conversation)


def sent(address: str, body: Any, **headers: str) -> httpx2.Response:
    """Return the answer to one POST without a client of the protocol."""
    given = {"Accept": ACCEPT, "Content-Type": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.post(f"{address}/mcp", content=json.dumps(body).encode(), headers=given, timeout=PATIENCE)


@pytest.mark.parametrize("mode", MODES)
def test_a_client_on_this_machine_needs_no_key_and_names_the_user(memory: Memory, mode: str) -> None:
    async def say(client: Client) -> Any:
        tools = (await client.list_tools()).tools
        await client.call_tool("remember", {"content": "I live in Leeds.", "user": "ann"})
        return tools, (
            await client.call_tool("ask", {"question": "Where do I live?", "user": "ann"})
        ).structured_content

    with serving(memory) as address:
        tools, answer = talk(f"{address}/mcp", say, mode=mode)
    assert all("user" in each.input_schema["required"] for each in tools)
    assert answer["found"] and "Leeds" in answer["answer"]


@pytest.mark.parametrize("mode", MODES)
def test_a_key_for_one_user_reaches_that_user_and_nobody_else(memory: Memory, mode: str) -> None:
    keys = {user: made(memory, user, users=[user]).secret for user in ("ann", "bob")}

    async def say(client: Client) -> Any:
        tools = (await client.list_tools()).tools
        stored = await client.call_tool("remember", {"content": "I live in Leeds."})
        return tools, stored.structured_content

    async def look(client: Client) -> Any:
        found = await client.call_tool("recall", {"query": "Where do I live?"})
        item = await client.call_tool("read", {"id": stored["message_ids"][0]})
        other = await client.call_tool("recall", {"query": "Where do I live?", "user": "ann"})
        cube = await client.call_tool("recall", {"query": "Where do I live?", "cubes": [stored["cube"]]})
        with pytest.raises(MCPError, match="user"):
            await client.read_resource("mnemic://users/ann/recent")
        return found.structured_content, [text_of(each) for each in (item, other, cube) if each.is_error]

    with serving(memory) as address:
        tools, stored = keyed(address, keys["ann"], say, mode=mode)
        hits, refusals = keyed(address, keys["bob"], look, mode=mode)
    assert all("user" not in each.input_schema.get("properties", {}) for each in tools)
    assert stored["stored"] == 1 and hits["hits"] == []
    assert len(refusals) == 3


def test_a_read_only_key_lists_and_calls_only_what_reads(memory: Memory) -> None:
    writer = made(memory, "w", users=["ann"]).secret
    reader = made(memory, "r", users=["ann"], powers=["read"]).secret

    async def write(client: Client) -> Any:
        return await client.call_tool("remember", {"content": "I live in Leeds."})

    async def look(client: Client) -> Any:
        names = {each.name for each in (await client.list_tools()).tools}
        tried = await client.call_tool("forget", {"about": "Leeds"})
        return names, tried, (await client.call_tool("ask", {"question": "Where do I live?"})).structured_content

    with serving(memory) as address:
        assert not keyed(address, writer, write).is_error
        names, tried, answer = keyed(address, reader, look)
    assert names == {
        "recall", "context", "ask", "profile", "read", "history", "list_documents", "list_knowledge", "jobs",
        "retrieve_memory", "get_user_profile",
    }  # fmt: skip
    assert tried.is_error and "only read" in text_of(tried)
    assert answer["found"]


def test_a_key_for_several_users_can_name_one_in_a_header(memory: Memory) -> None:
    secret = made(memory, "both", users=["ann", "bob"]).secret

    async def say(client: Client) -> Any:
        tools = (await client.list_tools()).tools
        return tools, await client.call_tool("remember", {"content": "I live in Leeds."})

    with serving(memory) as address:
        tools, stored = keyed(address, secret, say, X_Mnemic_User="bob")
        assert "user" not in tools[0].input_schema["properties"] and not stored.is_error
        refused = sent(address, LIST, Authorization=f"Bearer {secret}", X_Mnemic_User="eve")
        assert refused.status_code == 403 and "eve" in refused.json()["error"]["message"]

    async def nobody(client: Client) -> Any:
        return await client.call_tool("remember", {"content": "I live in Leeds."})

    with serving(memory) as address:
        told = keyed(address, secret, nobody)
    assert told.is_error and "user" in text_of(told)


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer mn_wrong_wrong", "Basic abc"])
@pytest.mark.parametrize("mode", MODES)
def test_without_a_good_key_a_client_is_told_so(memory: Memory, header: str | None, mode: str) -> None:
    made(memory, "ann", users=["ann"])

    async def conversation(address: str) -> str:
        given = {} if header is None else {"Authorization": header}
        with anyio.fail_after(PATIENCE):
            async with httpx2.AsyncClient(headers=given) as http:
                told = "let in"
                try:
                    async with Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client:
                        await client.list_tools()
                except* MCPError as group:
                    told = str(first_of(group))
        return told

    with serving(memory) as address:
        told = anyio.run(conversation, address)
        answer = sent(address, LIST, **({} if header is None else {"Authorization": header}))
    assert "unauthenticated" in told
    assert answer.status_code == 401 and answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body["jsonrpc"] == "2.0" and body["id"] is None and body["error"]["data"]["code"] == "unauthenticated"


def test_a_revoked_key_is_refused_in_the_middle_of_a_conversation(memory: Memory) -> None:
    new = made(memory, "ann", users=["ann"])
    made(memory, "other", users=["bob"])  # without any key, this machine would be served

    async def say(client: Client) -> str:
        await client.list_tools()
        await anyio.to_thread.run_sync(lambda: revoke(memory, new))
        with pytest.raises(MCPError) as refused:
            await client.call_tool("recall", {"query": "x"})
        return str(refused.value)

    with serving(memory) as address:
        assert "unauthenticated" in keyed(address, new.secret, say)


@pytest.mark.parametrize(
    "headers, status",
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Content_Type": "text/plain"}, 400),
        ({"Accept": "text/html"}, 406),
    ],
)
def test_what_a_page_of_another_site_sends_is_refused(memory: Memory, headers: dict[str, str], status: int) -> None:
    with serving(memory) as address:
        answer = sent(address, LIST, **headers)
    assert answer.status_code == status
    assert memory.keys.any() is False


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_the_path_is_there_without_a_redirect_and_takes_post_only(memory: Memory, method: str) -> None:
    with serving(memory) as address:
        answer = httpx2.request(method, f"{address}/mcp", headers={"Accept": ACCEPT}, follow_redirects=False)
    assert answer.status_code == 405 and answer.headers["allow"] == "POST"
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"no json", b"[]", b"{}", b"\xff"])
def test_what_is_no_request_is_answered_with_an_error(memory: Memory, body: bytes) -> None:
    with serving(memory) as address:
        given = {"Accept": ACCEPT, "Content-Type": "application/json"}
        answer = httpx2.post(f"{address}/mcp", content=body, headers=given, timeout=PATIENCE)
    assert 400 <= answer.status_code < 500


def test_calls_of_many_clients_run_side_by_side(memory: Memory) -> None:
    secret = made(memory, "ann", users=["ann"]).secret

    async def say(client: Client) -> int:
        async def one(number: int) -> None:
            told = await client.call_tool("remember", {"content": f"Note {number}.", "session": f"s{number % 4}"})
            assert not told.is_error

        async with anyio.create_task_group() as group:
            for number in range(24):
                group.start_soon(one, number)
        return 24

    with serving(memory) as address:
        stored = keyed(address, secret, say)
    with acting(LOCAL):
        assert len(memory.list(user="ann", kinds="message")) == stored
