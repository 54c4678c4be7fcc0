"""The scripted model server does what its script says, and nothing else."""

from __future__ import annotations

import threading
import time
from typing import Any

import httpx2
import pytest

from mnemic.testing.model_says import hangs, says
from mnemic.testing.model_server import Asked, ModelServer, Scripted

CHAT = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}


def post(server: ModelServer, route: str = "chat/completions", **body: Any) -> httpx2.Response:
    return httpx2.post(f"{server.url}/{route}", json=CHAT | body, timeout=5.0)


def said(response: httpx2.Response) -> str:
    return str(response.json()["choices"][0]["message"]["content"])


def test_a_script_is_said_in_turn_and_then_the_default() -> None:
    with ModelServer(["one", says("two")], default="again") as server:
        assert [said(post(server)) for _ in range(4)] == ["one", "two", "again", "again"]
        server.default = "changed"
        assert said(post(server)) == "changed"
        assert [request.text for request in server.requests] == ["Hi."] * 5


def test_a_function_answers_what_it_is_asked_and_may_leave_it_to_the_default() -> None:
    def answer(asked: Asked) -> Scripted | None:
        return f"{asked.model} hears {asked.turns[-1][1]}" if asked.schema is None else None

    with ModelServer(answer, default=lambda asked: f"{asked.schema}") as server:
        assert said(post(server)) == "m hears Hi."
        form = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
        assert said(post(server, response_format=form)) == "{'type': 'object'}"


def test_models_are_listed_and_unknown_routes_are_not_there() -> None:
    with ModelServer(models=["a", "b"]) as server:
        listed = httpx2.get(f"{server.url}/models").json()["data"]
        assert [each["id"] for each in listed] == ["a", "b"]
        assert post(server, "elsewhere").status_code == 404


def test_what_a_server_rejects_is_named_and_costs_nothing_of_the_script() -> None:
    with ModelServer(["one"], rejects=["temperature"], status=422) as server:
        refused = post(server, temperature=0)
        assert (refused.status_code, refused.json()["error"]["param"]) == (422, "temperature")
        assert said(post(server)) == "one"
    with pytest.raises(ValueError, match="cannot be rejected"):
        ModelServer(rejects=["humour"])


def test_documents_are_ranked_by_the_words_of_the_query() -> None:
    with ModelServer() as server:
        body = {"query": "blue bike", "documents": ["red", "blue bike", "bike"], "top_n": 2}
        results = httpx2.post(f"{server.url}/rerank", json=body).json()["results"]
    assert [(each["index"], each["relevance_score"]) for each in results] == [(1, 1.0), (2, 0.5)]


def test_a_server_that_hangs_stops_at_once_and_leaves_no_thread() -> None:
    before = threading.active_count()
    began = time.monotonic()
    with ModelServer([hangs()]) as server, pytest.raises(httpx2.ReadTimeout):
        httpx2.post(f"{server.url}/chat/completions", json=CHAT, timeout=0.1)
    assert time.monotonic() - began < 4.0
    assert threading.active_count() == before
