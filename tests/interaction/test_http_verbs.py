"""Every verb over HTTP, called as its example in the description says, in an order that makes sense."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from mnemic import Memory
from mnemic.shells.http import examples
from mnemic.shells.http.app import build
from mnemic.shells.http.examples import EXAMPLES
from mnemic.testing.scripted_model import ScriptedModel
from mnemic.wire.routes import BY_VERB, ROUTES, Route
from tests.interaction.http_served import asking, guarded, request_of
from tests.permissions import PICTURE


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with guarded(tmp_path) as opened:
        yield opened


def test_every_verb_has_an_operation_with_an_example(memory: Memory) -> None:
    told = build(memory).openapi()
    found = {
        each["operationId"]: each for path in told["paths"].values() for each in path.values() if "x-power" in each
    }
    assert set(found) == {route.verb for route in ROUTES}
    assert set(EXAMPLES) == set(found)
    for route in ROUTES:
        operation = found[route.verb]
        assert operation["summary"] and operation["x-power"] == route.power
        shown = {each["name"] for each in operation["parameters"] if "example" in each}
        if "requestBody" in operation:
            shown |= set(operation["requestBody"]["content"]["application/json"]["example"])
        assert shown == set(EXAMPLES[route.verb])


def test_every_example_works(tmp_path: Path) -> None:
    with guarded(tmp_path, llm=ScriptedModel(lambda _: "Hello."), refine=False, worker=False) as memory:
        anyio.run(_walk, memory)


async def _walk(memory: Memory) -> None:
    ids: dict[str, Any] = {}
    async with asking(build(memory)) as client:
        for verb in EXAMPLES:
            response = await _call(client, BY_VERB[verb], _meant(verb, ids))
            assert response.status_code == BY_VERB[verb].status, (verb, response.text)
            await _note(client, verb, response, ids)


def _meant(verb: str, ids: Mapping[str, Any]) -> dict[str, Any]:
    """Return an example with ids that there are in the place of those that are made up."""
    return {name: ids["export"] if name == "lines" else _real(value, ids) for name, value in EXAMPLES[verb].items()}


def _real(value: Any, ids: Mapping[str, Any]) -> Any:
    return ids.get(value, value) if isinstance(value, str) else value


_IDS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "add": (examples.MESSAGE, lambda told: told["message_ids"][0]),
    "list": (examples.MEMORY, lambda told: next(each["id"] for each in told["data"] if "versions" in each)),
    "changes": (examples.CHANGE, lambda told: told["data"][0]["id"]),
    "cubes.create": (examples.CUBE, lambda told: told["id"]),
    "knowledge.create": (examples.BASE, lambda told: told["cube"]["id"]),
    "knowledge.add": (examples.DOCUMENT, lambda told: told["id"]),
    "keys.create": (examples.KEY, lambda told: told["key"]["id"]),
}
"""The ids that calls give and later ones need."""


async def _note(client: httpx2.AsyncClient, verb: str, response: httpx2.Response, ids: dict[str, Any]) -> None:
    """Keep the ids that later calls need, and see to it that what they need is there."""
    if verb in _IDS:
        name, found = _IDS[verb]
        ids[name] = found(response.json())
    elif verb == "export":
        ids["export"] = response.text.split("\n")[:-1]
    elif verb == "knowledge.delete":
        ids[examples.MESSAGE], ids[examples.ATTACHMENT] = await _picture(client)
    elif verb == "jobs.events":
        ids[examples.JOB] = await _waiting_job(client)
    elif verb == "jobs.retry":  # it waits again, and only what has ended can be dropped
        await client.post(f"/v1/jobs/{ids[examples.JOB]}/cancel", json={"user": "ann"})
    elif verb == "forget":  # from the first key on, each call needs one
        admin = await client.post("/v1/keys", json={"name": "root", "powers": ["read", "write", "admin"]})
        assert admin.status_code == 201
        client.headers["Authorization"] = f"Bearer {admin.json()['secret']}"


async def _waiting_job(client: httpx2.AsyncClient) -> str:
    added = await client.post("/v1/messages", json={"user": "ann", "messages": "I like chess."})
    return str(added.json()["job"])


async def _picture(client: httpx2.AsyncClient) -> tuple[str, str]:
    message = {"role": "user", "content": [PICTURE]}
    added = await client.post("/v1/messages", json={"user": "ann", "messages": [message]})
    name = str(added.json()["message_ids"][0])
    found = await client.get("/v1/attachments", params={"user": "ann", "message": name})
    return name, str(found.json()["data"][0]["id"])


async def _call(client: httpx2.AsyncClient, route: Route, given: dict[str, Any]) -> httpx2.Response:
    return await client.request(**request_of(route, given))
