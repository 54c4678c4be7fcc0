"""What comes in over HTTP and should not: each ends in a problem that names the place, and disturbs nothing."""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import httpx2
import pytest

from mnemic import Memory
from mnemic.shells.http.app import build
from tests.interaction.http_served import asking, guarded

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with guarded(tmp_path_factory.mktemp("hostile"), worker=False, serve_max_megabytes=1) as opened:
        yield opened


def call(memory: Memory, method: str, path: str, **given: Any) -> httpx2.Response:
    async def one() -> httpx2.Response:
        async with asking(build(memory)) as client:
            return await client.request(method, path, **given)

    return anyio.run(one)


def problem(response: httpx2.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    told: dict[str, Any] = response.json()
    assert told["status"] == status and told["request"] == response.headers["x-request-id"]
    return told


@pytest.mark.parametrize("body, told", [
    (b"{", "is not JSON"),
    (b"[1]", "needs a JSON object, got list"),
    (b'{"user": "ann", "query": "x", "threshold": NaN}', "holds NaN"),
    (b'{"user": "ann", "query": "x", "threshold": -Infinity}', "holds -Infinity"),
    (b'{"user": "ann", "query": "x", "threshold": 1e999}', "too large"),
    (b'{"user": "ann", "query": "x", "limit": ' + b"9" * 5_000 + b"}", "too many digits"),
    (b'{"user": "ann", "query": "\xff"}', "is not UTF-8"),
    (b'{"user": "ann", "query": "x", "where": ' + b'{"and": [' * 200 + b"]}" * 200 + b"}", "deeper than 100"),
    (b"[" * 100_000, "deeper than 100"),
    (b"\xef\xbb\xbf{", "is not JSON"),
])  # fmt: skip
def test_a_body_that_is_no_json_object_is_told_as_such(memory: Memory, body: bytes, told: str) -> None:
    found = problem(call(memory, "POST", "/v1/search", content=body, headers=JSON), 422)
    assert found["field"] == "body" and told in found["detail"]


@pytest.mark.parametrize("given, field", [
    ({"query": "x"}, "user"),
    ({"user": "ann"}, "query"),
    ({"user": "ann", "query": "x", "qury": "y"}, "qury"),
    ({"user": "ann", "query": 3}, "query"),
    ({"user": True, "query": "x"}, "user"),
    ({"user": "", "query": "x"}, "user"),
    ({"user": "a\0b", "query": "x"}, "user"),
    ({"user": "a\ud800", "query": "x"}, "user"),
    ({"user": 10**300, "query": "x"}, "user"),
    ({"user": "ann", "query": "   \n\t"}, "query"),
    ({"user": "ann", "query": "x", "limit": 0}, "limit"),
    ({"user": "ann", "query": "x", "limit": -1}, "limit"),
    ({"user": "ann", "query": "x", "limit": 1.5}, "limit"),
    ({"user": "ann", "query": "x", "limit": True}, "limit"),
    ({"user": "ann", "query": "x", "limit": 10**400}, "limit"),
    ({"user": "ann", "query": "x", "threshold": 10**400}, "threshold"),
    ({"user": "ann", "query": "x", "threshold": 2}, "threshold"),
    ({"user": "ann", "query": "x", "kinds": [1]}, "kinds[0]"),
    ({"user": "ann", "query": "x", "kinds": ["nothing"]}, "kinds"),
    ({"user": "ann", "query": "x", "where": {"sayd_at": 1}}, "where.sayd_at"),
    ({"user": "ann", "query": "x", "where": []}, "where"),
    ({"user": "ann", "query": "x", "explain": "yes"}, "explain"),
    ({"user": "ann", "query": "x", "as_of": "yesterday"}, "as_of"),
    ({"user": "ann", "query": "x", "cubes": []}, "cubes"),
])  # fmt: skip
def test_a_field_that_cannot_be_used_is_named(memory: Memory, given: dict[str, Any], field: str) -> None:
    found = problem(call(memory, "POST", "/v1/search", content=json.dumps(given), headers=JSON), 422)
    assert (found["code"], found["field"]) == ("invalid_input", field)


def test_faults_in_bulk_input_come_with_their_places(memory: Memory) -> None:
    messages = [{"role": "user", "content": "fine"}, {"role": "wizard", "content": "x"}, {"content": None}]
    found = problem(call(memory, "POST", "/v1/messages", json={"user": "ann", "messages": messages}), 422)
    assert [fault["field"] for fault in found["faults"]] == ["messages[1].role", "messages[2].content"]


def test_fields_inside_an_object_are_read_strictly_too(memory: Memory) -> None:
    prompt = {"turns": [{"role": "robot", "text": "x"}]}
    found = problem(call(memory, "POST", "/v1/llm/complete", json={"user": "ann", "prompt": prompt}), 422)
    assert found["field"] == "prompt.turns[0].role"
    misspelt = {"turns": [], "max_token": 3}
    found = problem(call(memory, "POST", "/v1/llm/complete", json={"user": "ann", "prompt": misspelt}), 422)
    assert found["field"] == "prompt.max_token"


@pytest.mark.parametrize("query, field", [
    ("limit=5", "user"),
    ("user=ann&limit=five", "limit"),
    ("user=ann&limit=5&limit=6", "limit"),
    ("user=ann&limit=", "limit"),
    ("user=ann&limit=0", "limit"),
    ("user=ann&page=2", "page"),
    ("user=", "user"),
    ("user=%00", "user"),
    ("user=%ff", "query"),
    ("user=ann&user=bob", "user"),
    ("user=ann&kinds=message&kinds=nothing", "kinds"),
])  # fmt: skip
def test_a_query_is_read_as_strictly(memory: Memory, query: str, field: str) -> None:
    assert problem(call(memory, "GET", f"/v1/items?{query}"), 422)["field"] == field


@pytest.mark.parametrize(
    "name", ["a/b", "a?b", "a#b", "a%b", "a&b=c d", "../x", "..", "é", "'\";--", "\U0001f600", " x "]
)
def test_an_id_in_the_path_may_hold_anything(memory: Memory, name: str) -> None:
    added = call(memory, "POST", "/v1/messages", json={"user": "ann", "messages": "Hello there.", "task": name})
    assert added.status_code == 201, added.text
    found = call(memory, "GET", f"/v1/jobs/tasks/{_encoded(name)}", params={"user": "ann"})
    assert found.status_code == 200, found.text
    assert found.json()["id"] == name
    missing = problem(call(memory, "GET", f"/v1/items/{_encoded(name)}", params={"user": "ann"}), 404)
    assert name.strip() in missing["detail"] or repr(name) in missing["detail"]


def _encoded(name: str) -> str:
    return "".join(f"%{byte:02X}" for byte in name.encode())


def test_an_empty_id_in_the_path_is_nothing_that_there_is(memory: Memory) -> None:
    problem(call(memory, "GET", "/v1/items/", params={"user": "ann"}), 404)
    assert problem(call(memory, "GET", "/v1/items/%20", params={"user": "ann"}), 422)["field"] == "id"
    assert problem(call(memory, "GET", "/v1/items/%00", params={"user": "ann"}), 422)["field"] == "id"
    assert problem(call(memory, "GET", "/v1/items/%FF", params={"user": "ann"}), 422)["field"] == "id"


def test_other_paths_and_methods_are_told_as_problems(memory: Memory) -> None:
    assert problem(call(memory, "GET", "/v1/nothing"), 404)["code"] == "not_found"
    assert problem(call(memory, "GET", "/v2/items"), 404)["code"] == "not_found"
    response = call(memory, "DELETE", "/v1/items/x")
    assert problem(response, 405)["field"] == "method"
    assert response.headers["allow"] == "GET, PATCH"
    assert call(memory, "OPTIONS", "/v1/items").headers["allow"] == "GET"
    problem(call(memory, "TRACE", "/v1/search"), 405)


def test_a_body_of_another_type_is_not_guessed_at(memory: Memory) -> None:
    found = problem(call(memory, "POST", "/v1/search", data={"user": "ann", "query": "x"}), 415)
    assert found["field"] == "Content-Type" and "application/json" in found["detail"]
    found = problem(call(memory, "POST", "/v1/search", content=b"{}"), 415)
    assert "is missing" in found["detail"]
    assert call(memory, "POST", "/v1/search", json={"user": "ann", "query": "x"}).status_code == 200


def test_what_belongs_into_the_body_is_not_taken_from_the_query(memory: Memory) -> None:
    found = problem(call(memory, "POST", "/v1/search?user=ann", json={"query": "x"}), 422)
    assert found["field"] == "user" and "JSON" in found["detail"]


def test_a_body_beyond_the_limit_is_refused_by_its_length_and_by_its_size(memory: Memory) -> None:
    response = call(memory, "POST", "/v1/messages", content=b" " * 1_000_001, headers=JSON)
    assert problem(response, 413)["code"] == "too_large"

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 100_000

    async def streamed() -> httpx2.Response:
        async with asking(build(memory)) as client:
            return await client.post("/v1/messages", content=endless(), headers=JSON)

    assert problem(anyio.run(streamed), 413)["code"] == "too_large"


@pytest.mark.parametrize("text", [
    "\0", "a\0b", "\ud800", "\udc00\ud800", "a\u2028b", "\ufeff", "\u202e", "I\u0307", "```", "</s>", "<think>", "{}",
    "|", "\\_", "\U0001f600" * 50, "2024-01-01", "中文没有空格", "ไทย",
])  # fmt: skip
def test_content_comes_back_as_it_was_given(memory: Memory, text: str) -> None:
    added = call(memory, "POST", "/v1/messages", content=json.dumps({"user": "bob", "messages": text}), headers=JSON)
    assert added.status_code == 201, added.text
    got = call(memory, "GET", f"/v1/items/{added.json()['message_ids'][0]}", params={"user": "bob"})
    assert got.status_code == 200
    assert json.loads(got.content)["content"] == text
    got.content.decode("ascii")


def test_an_error_that_nobody_foresaw_tells_only_the_request(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    @functools.wraps(type(memory).stats)
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr(type(memory), "stats", fails, raising=True)
    told = problem(call(memory, "GET", "/v1/stats", params={"user": "ann"}), 500)
    assert "secret" not in json.dumps(told) and told["code"] == "error"
    assert [each.message for each in caplog.records if each.exc_info] == ["request_failed"]


def test_the_log_has_no_content_and_no_query(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="mnemic.shells.http")
    call(memory, "POST", "/v1/search", json={"user": "ann", "query": "a very private question"})
    call(memory, "GET", "/v1/items/private-id", params={"user": "private-user"})
    call(memory, "GET", "/v1/private-path")
    told = [vars(each) for each in caplog.records]
    assert "private" not in json.dumps(told, default=str)
    answered = [each for each in told if each["msg"] == "answered"]
    assert [(each["method"], each["route"], each["status"]) for each in answered] == [
        ("POST", "/search", 200), ("GET", "/items/{id}", 404), ("GET", "none", 404)
    ]  # fmt: skip
