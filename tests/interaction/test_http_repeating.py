"""Writes that come twice and are carried out once, and updates of the version that was seen."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from mnemic import Memory
from mnemic.api import acting
from mnemic.model.caller import LOCAL
from mnemic.shells.http.app import build
from tests.interaction.http_served import PATIENCE, asking, guarded, serving


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with guarded(tmp_path, worker=False) as opened:
        yield opened


def call(memory: Memory, method: str, path: str, **given: Any) -> httpx2.Response:
    async def one() -> httpx2.Response:
        async with asking(build(memory)) as client:
            return await client.request(method, path, **given)

    return anyio.run(one)


ADD = {"user": "ann", "messages": "I like tea."}
ONCE = {"Idempotency-Key": "first"}


def test_a_write_that_comes_again_is_answered_as_before_and_not_carried_out(memory: Memory) -> None:
    first = call(memory, "POST", "/v1/messages", json=ADD, headers=ONCE)
    again = call(memory, "POST", "/v1/messages", json=ADD, headers=ONCE)
    other = call(memory, "POST", "/v1/messages", json=ADD, headers={"Idempotency-Key": "second"})
    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 201)
    assert again.content == first.content and again.headers["idempotent-replayed"] == "true"
    assert "idempotent-replayed" not in first.headers
    assert other.json()["message_ids"] != first.json()["message_ids"]
    with acting(LOCAL):
        assert memory.stats(user="ann").messages == 2


def test_a_key_stands_for_one_request(memory: Memory) -> None:
    call(memory, "POST", "/v1/messages", json=ADD, headers=ONCE)
    changed = call(memory, "POST", "/v1/messages", json={**ADD, "messages": "I like coffee."}, headers=ONCE)
    assert (changed.status_code, changed.json()["code"]) == (409, "conflict")
    elsewhere = call(memory, "POST", "/v1/chat", json={"user": "ann", "message": "Hello"}, headers=ONCE)
    assert elsewhere.status_code == 409


@pytest.mark.parametrize("token", ["", " ", "two words", "clé", "k" * 256])
def test_a_key_that_is_none_is_refused_by_name(memory: Memory, token: str) -> None:
    refused = call(memory, "POST", "/v1/messages", json=ADD, headers={"Idempotency-Key": token.encode("latin-1")})
    assert refused.status_code == 422 and refused.json()["field"] == "Idempotency-Key"
    assert call(memory, "GET", "/v1/keys", headers={"Idempotency-Key": token.encode("latin-1")}).status_code == 200
    with acting(LOCAL):
        assert not memory.stats(user="ann").messages


def test_a_call_that_failed_may_come_again(memory: Memory) -> None:
    wrong = call(memory, "POST", "/v1/messages", json={**ADD, "messages": [{"role": "wizard"}]}, headers=ONCE)
    assert wrong.status_code == 422
    assert call(memory, "POST", "/v1/messages", json=ADD, headers=ONCE).status_code == 201


def test_many_that_come_at_one_time_are_carried_out_once(memory: Memory) -> None:
    found: list[httpx2.Response] = []
    with serving(memory) as (address, _):

        def post() -> None:
            found.append(httpx2.post(f"{address}/v1/messages", json=ADD, headers=ONCE, timeout=PATIENCE))

        threads = [threading.Thread(target=post) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert {each.status_code for each in found} <= {201, 409}
        assert len({each.content for each in found if each.status_code == 201}) == 1
        assert call(memory, "POST", "/v1/messages", json=ADD, headers=ONCE).status_code == 201
    with acting(LOCAL):
        assert memory.stats(user="ann").messages == 1


@pytest.mark.parametrize("path, body", [
    ("/v1/keys", {"name": "new"}),
    ("/v1/chat/stream", {"user": "ann", "message": "Hello"}),
])  # fmt: skip
def test_where_no_reply_can_be_kept_the_header_is_refused(memory: Memory, path: str, body: dict[str, Any]) -> None:
    refused = call(memory, "POST", path, json=body, headers=ONCE)
    assert (refused.status_code, refused.json()["field"]) == (422, "Idempotency-Key")
    with acting(LOCAL):
        assert not memory.keys.list()


def test_an_update_is_made_of_the_version_that_was_seen(memory: Memory) -> None:
    with acting(LOCAL):
        memory.add("I live in Porto.", user="ann", wait=True)
        fact = memory.list(user="ann", kinds="fact")[0]
    path = f"/v1/items/{fact.id}"
    seen = call(memory, "GET", path, params={"user": "ann"})
    tag = seen.headers["etag"]
    assert tag == '"1"'
    first = call(memory, "PATCH", path, json={"user": "ann", "text": "Ann lives in Faro."}, headers={"If-Match": tag})
    assert (first.status_code, first.headers["etag"]) == (200, '"2"')
    late = call(memory, "PATCH", path, json={"user": "ann", "text": "Ann lives in Rome."}, headers={"If-Match": tag})
    assert (late.status_code, late.json()["code"]) == (412, "stale")
    given = {"user": "ann", "text": "Ann lives in Braga.", "if_version": 2}
    assert call(memory, "PATCH", path, json=given).headers["etag"] == '"3"'
    anyhow = call(memory, "PATCH", path, json={"user": "ann", "text": "Ann lives in Rome."}, headers={"If-Match": "*"})
    assert anyhow.headers["etag"] == '"4"'
    for condition in ("3", 'W/"4"', '"4", "5"', '"x"'):
        strange = call(memory, "PATCH", path, json={"user": "ann", "text": "x"}, headers={"If-Match": condition})
        assert (strange.status_code, strange.json()["field"]) == (422, "If-Match")
