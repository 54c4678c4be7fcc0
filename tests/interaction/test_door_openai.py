"""The proxy with memory, through the real `openai` library, against a running server and a scripted model behind it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from mnemic.acting import acting
from mnemic.api import Memory
from mnemic.model.caller import LOCAL
from mnemic.model.message import StoredMessage
from mnemic.testing.loopback import Answer
from mnemic.testing.model_says import calls_tool, cuts, fails, says
from mnemic.testing.model_server import ModelServer, Scripted
from tests.interaction.doors_served import new_key, new_memory, served

ASKED: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Where do I live?"}]


@dataclass(frozen=True, slots=True)
class Proxy:
    """A server with a scripted model behind it."""

    memory: Memory
    model: ModelServer
    address: str
    key: str

    def client(self, **more: Any) -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.address}/v1", api_key=self.key, max_retries=0, **more)

    def said(self, user: str = "ann", session: str = "default") -> list[tuple[str, Any]]:
        with acting(LOCAL):
            found = self.memory.list(user=user, kinds="message", session=session)
        return [(item.role.value, item.content) for item in found if isinstance(item, StoredMessage)]

    def tell(self, text: str, user: str = "ann") -> None:
        with acting(LOCAL):
            self.memory.add(text, user=user, session="earlier")


@contextmanager
def proxied(folder: Path, model: ModelServer | None = None, **settings: Any) -> Iterator[Proxy]:
    with ExitStack() as stack:
        server = stack.enter_context(model or ModelServer(default="You live in Porto."))
        given = {"llm": "openai", "llm_base_url": server.url, "llm_api_key": "secret-of-the-server", "refine": False,
                 "llm_model": "fake-model", "llm_tries": 1}  # fmt: skip
        memory = stack.enter_context(new_memory(folder, **{**given, **settings}))
        address = stack.enter_context(served(memory))
        yield Proxy(memory, server, address, new_key(memory))


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with proxied(tmp_path_factory.mktemp("proxy")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def fresh(proxy: Proxy) -> None:
    """Let each test script the model and count its requests anew."""
    proxy.model.requests.clear()
    proxy.model.default = "You live in Porto."


def _script(proxy: Proxy, answer: Any) -> None:
    proxy.model.default = answer


def test_memory_is_added_behind_the_leading_system_messages_and_the_turn_is_stored(proxy: Proxy) -> None:
    proxy.tell("I moved to Porto in May.", "amy")
    messages: list[ChatCompletionMessageParam] = [{"role": "system", "content": "Be kind."}, *ASKED]
    with proxy.client() as client:
        answer = client.chat.completions.with_raw_response.create(model="fake-model", messages=messages, user="amy")
    given = answer.parse()
    assert given.choices[0].message.content == "You live in Porto."
    assert given.choices[0].finish_reason == "stop"
    assert given.usage is not None
    assert given.usage.total_tokens == given.usage.prompt_tokens + given.usage.completion_tokens > 0
    sent = proxy.model.requests[-1].body["messages"]
    assert [each["role"] for each in sent] == ["system", "system", "user"]
    assert sent[0]["content"] == "Be kind."
    assert "I moved to Porto in May." in sent[1]["content"]
    assert proxy.said("amy") == [("user", "Where do I live?"), ("assistant", "You live in Porto.")]
    assert int(answer.headers["x-mnemic-memories"]) >= 1
    assert answer.headers["x-mnemic-message"]


def test_a_first_message_is_no_evidence_for_itself(proxy: Proxy) -> None:
    with proxy.client() as client:
        client.chat.completions.create(model="fake-model", messages=ASKED, user="new")
    assert [each["role"] for each in proxy.model.requests[-1].body["messages"]] == ["user"]


def test_user_and_session_come_by_header_key_and_metadata(proxy: Proxy) -> None:
    with proxy.client(default_headers={"X-Mnemic-User": "ben", "X-Mnemic-Session": "s1"}) as client:
        client.chat.completions.create(model="fake-model", messages=ASKED)
        client.chat.completions.create(
            model="fake-model", messages=ASKED, metadata={"mnemic_session": "s2", "trip": "7"},
            extra_headers={"X-Mnemic-Session": ""}, store=True,
        )  # fmt: skip
    assert len(proxy.said("ben", "s1")) == len(proxy.said("ben", "s2")) == 2
    assert proxy.model.requests[-1].body["metadata"] == {"trip": "7"}
    own = openai.OpenAI(base_url=f"{proxy.address}/v1", api_key=new_key(proxy.memory, users=["cas"]), max_retries=0)
    with own:
        own.chat.completions.create(model="fake-model", messages=ASKED)
        with pytest.raises(openai.PermissionDeniedError):
            own.chat.completions.create(model="fake-model", messages=ASKED, user="ann")
    assert len(proxy.said("cas")) == 2


def test_nothing_is_stored_when_the_header_says_so(proxy: Proxy) -> None:
    with proxy.client(default_headers={"X-Mnemic-Store": "false"}) as client:
        client.chat.completions.create(model="fake-model", messages=ASKED, user="quiet")
    assert proxy.said("quiet") == []


def test_every_field_of_a_request_reaches_the_model(proxy: Proxy) -> None:
    tools: Any = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    wished: dict[str, Any] = {
        "temperature": 0.3, "top_p": 0.4, "n": 2, "stop": ["x"], "seed": 7, "logprobs": True, "top_logprobs": 2,
        "tools": tools, "tool_choice": "none", "response_format": {"type": "json_object"}, "max_completion_tokens": 9,
        "presence_penalty": 0.1, "frequency_penalty": 0.2, "logit_bias": {"5": 1}, "parallel_tool_calls": False,
        "reasoning_effort": "low", "service_tier": "auto", "user": "all",
    }  # fmt: skip
    content: Any = [{"type": "text", "text": "What is this?"}, picture]
    with proxy.client() as client:
        client.chat.completions.create(
            model="m2",
            messages=[{"role": "user", "content": content}],
            extra_body={"top_k": 5, "guided": {"a": 1}},
            **wished,
        )
    body = proxy.model.requests[-1].body
    assert {name: body[name] for name in wished} == wished
    assert (body["model"], body["top_k"], body["guided"]) == ("m2", 5, {"a": 1})
    assert body["messages"][-1]["content"] == content
    [(role, said)] = proxy.said("all")
    assert (role, said[0], said[1]["blob"]["media"]) == (
        "user",
        content[0],
        "image/png",
    )  # of several answers nobody knows which one counts


def test_a_stream_comes_in_pieces_with_one_id_and_is_stored_when_it_is_whole(proxy: Proxy) -> None:
    odd = "Crème\u2028brûlée\x85花."
    _script(proxy, odd)
    with proxy.client() as client:
        chunks = list(client.chat.completions.create(model="fake-model", messages=ASKED, user="str", stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == odd
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert all(chunk.choices and chunk.usage is None for chunk in chunks)
    assert proxy.said("str") == [("user", "Where do I live?"), ("assistant", odd)]


def test_a_stream_gives_counts_when_they_are_asked_for_and_they_are_accounted_anyhow(proxy: Proxy) -> None:
    with proxy.client() as client:
        for options in ({"include_usage": True}, {}):
            more: Any = {"stream_options": options} if options else {}
            chunks = list(
                client.chat.completions.create(model="fake-model", messages=ASKED, user="cnt", stream=True, **more)
            )
            counted = [chunk.usage for chunk in chunks if chunk.usage is not None]
            assert len(counted) == bool(options)
            assert (chunks[-1].choices == []) is bool(options)
    with acting(LOCAL):
        calls = proxy.memory.llm.calls(user="cnt")
    assert [(call.purpose, call.outcome, call.tokens_out > 0) for call in calls] == [("relay", "ok", True)] * 2
    assert calls[0].tokens_in == calls[1].tokens_in or calls[0].tokens_in > 0


def test_tools_are_called_and_only_the_words_of_the_last_answer_are_stored(proxy: Proxy) -> None:
    _script(proxy, calls_tool("weather", '{"city": "Porto"}'))
    tools: Any = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    question: Any = {"role": "user", "content": "What is the weather at my place?"}
    with proxy.client() as client:
        first = client.chat.completions.create(model="fake-model", messages=[question], tools=tools, user="tol")
        call = first.choices[0].message
        assert first.choices[0].finish_reason == "tool_calls"
        assert call.tool_calls is not None
        assert call.tool_calls[0].function.name == "weather"  # type: ignore[union-attr]
        assert proxy.said("tol") == [("user", question["content"])]
        _script(proxy, "It rains in Porto.")
        result: Any = {"role": "tool", "tool_call_id": call.tool_calls[0].id, "content": "rain"}
        history: Any = [question, call.model_dump(exclude_none=True), result]
        client.chat.completions.create(model="fake-model", messages=history, tools=tools, user="tol")
    sent = proxy.model.requests[-1].body["messages"]
    assert [each for each in sent if each["role"] != "system"] == history
    assert proxy.said("tol") == [("user", question["content"])]


def test_the_async_client_is_answered_as_well_whole_and_streamed(proxy: Proxy) -> None:
    async def run() -> tuple[str | None, str]:
        async with openai.AsyncOpenAI(base_url=f"{proxy.address}/v1", api_key=proxy.key, max_retries=0) as client:
            whole = await client.chat.completions.create(model="fake-model", messages=ASKED, user="asy")
            stream = await client.chat.completions.create(model="fake-model", messages=ASKED, user="asy", stream=True)
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
            return whole.choices[0].message.content, text

    assert asyncio.run(run()) == ("You live in Porto.", "You live in Porto.")
    assert len(proxy.said("asy")) == 4


def test_the_models_are_listed(proxy: Proxy) -> None:
    with proxy.client() as client:
        assert [each.id for each in client.models.list()] == ["fake-model"]


OUTAGES: Mapping[int, type[openai.APIStatusError]] = {
    400: openai.BadRequestError,
    404: openai.NotFoundError,
    422: openai.UnprocessableEntityError,
    429: openai.RateLimitError,
    500: openai.InternalServerError,
    503: openai.InternalServerError,
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", OUTAGES)
def test_what_the_models_server_says_is_passed_on_with_its_status(
    proxy: Proxy, tmp_path: Path, status: int, stream: bool
) -> None:
    with proxied(tmp_path, ModelServer(default=fails(status, "the model is not well", code="odd"))) as failing:
        with failing.client() as client, pytest.raises(OUTAGES[status]) as caught:
            client.chat.completions.create(model="fake-model", messages=ASKED, user="out", stream=stream)
        assert caught.value.status_code == status
        body: Any = caught.value.body
        assert "the model is not well" in body["message"]
        assert "your message is stored" in body["message"]
        assert failing.said("out") == [("user", "Where do I live?")]
        assert body["mnemic"]["stored"]


@pytest.mark.parametrize("status", [401, 403])
def test_that_the_servers_own_key_is_refused_is_not_told_as_the_clients(tmp_path: Path, status: int) -> None:
    with proxied(tmp_path, ModelServer(default=fails(status, "bad key secret-of-the-server"))) as failing:
        with failing.client() as client, pytest.raises(openai.InternalServerError) as caught:
            client.chat.completions.create(model="fake-model", messages=ASKED, user="out")
        assert caught.value.status_code == 502
        assert "secret-of-the-server" not in str(caught.value.body)


def test_a_server_that_cannot_be_reached_is_told_and_the_message_kept(tmp_path: Path) -> None:
    with proxied(tmp_path, llm_base_url="http://127.0.0.1:9/v1") as failing:
        with failing.client() as client, pytest.raises(openai.InternalServerError) as caught:
            client.chat.completions.create(model="fake-model", messages=ASKED, user="out")
        assert caught.value.status_code == 502
        assert failing.said("out") == [("user", "Where do I live?")]


def test_a_stream_that_breaks_off_raises_and_no_reply_is_stored(tmp_path: Path) -> None:
    with proxied(tmp_path, ModelServer(default=cuts("This sentence will never end."))) as failing:
        heard = []
        with failing.client() as client, pytest.raises(openai.APIError):  # noqa: PT012 - it raises in the middle
            for chunk in client.chat.completions.create(model="fake-model", messages=ASKED, user="cut", stream=True):
                heard.append(chunk)  # noqa: PERF402 - what comes before the error is looked at
        assert heard
        assert failing.said("cut") == [("user", "Where do I live?")]


def test_a_client_that_tries_again_is_stored_once(tmp_path: Path) -> None:
    script: list[Scripted] = [
        fails(503, headers={"retry-after-ms": "1"}),
        fails(503, headers={"retry-after-ms": "1"}),
        says("Porto."),
    ]
    with proxied(tmp_path, ModelServer(script)) as failing:
        with openai.OpenAI(base_url=f"{failing.address}/v1", api_key=failing.key, max_retries=2) as client:
            given = client.chat.completions.create(model="fake-model", messages=ASKED, user="try")
        assert given.choices[0].message.content == "Porto."
        assert failing.said("try") == [("user", "Where do I live?"), ("assistant", "Porto.")]


def test_without_a_model_it_is_said_what_to_set(tmp_path: Path) -> None:
    with proxied(tmp_path, llm="none", llm_base_url="", llm_model="") as bare, bare.client() as client:
        with pytest.raises(openai.BadRequestError) as caught:
            client.chat.completions.create(model="fake-model", messages=ASKED, user="ann")
        assert "MNEMIC_LLM_MODEL" in str(caught.value)
        assert list(client.models.list()) == []
        assert bare.said("ann") == []


def test_a_spent_budget_is_told_as_a_limit(tmp_path: Path) -> None:
    with proxied(tmp_path, llm_daily_calls=1) as bounded, bounded.client() as client:
        client.chat.completions.create(model="fake-model", messages=ASKED, user="bud")
        for stream in (False, True):
            with pytest.raises(openai.RateLimitError):
                client.chat.completions.create(model="fake-model", messages=ASKED, user="bud", stream=stream)
        assert len(bounded.model.requests) == 1


BAD: list[tuple[dict[str, Any], str]] = [
    ({"messages": []}, "messages"),
    ({"messages": "hello"}, "messages"),
    ({"messages": [{"content": "x"}]}, "messages[0]"),
    ({"messages": ASKED, "user": 5}, "user"),
    ({"messages": ASKED, "stream": "yes"}, "stream"),
    ({"messages": ASKED, "user": None}, "user"),
    ({"messages": ASKED, "metadata": {"mnemic_session": 5}}, "metadata.mnemic_session"),
]


@pytest.mark.parametrize("body,param", BAD)
def test_bad_requests_name_what_is_wrong(proxy: Proxy, body: dict[str, Any], param: str) -> None:
    with proxy.client() as client, pytest.raises(openai.BadRequestError) as caught:
        client.post("/chat/completions", body={"model": "m", "user": "bad", **body}, cast_to=object)
    assert caught.value.param == param
    assert caught.value.type == "invalid_request_error"
    assert proxy.model.requests == []


def test_keys_are_asked_for_in_the_words_of_the_library(proxy: Proxy) -> None:
    with openai.OpenAI(base_url=f"{proxy.address}/v1", api_key="wrong", max_retries=0) as client:
        for call in (client.models.list, lambda: client.chat.completions.create(model="m", messages=ASKED)):
            with pytest.raises(openai.AuthenticationError) as caught:
                call()
            body: Any = caught.value.body
            assert body["type"] == "authentication_error"
            assert body["message"]


def test_a_reply_that_may_tell_of_what_was_forgotten_meanwhile_is_not_stored(tmp_path: Path) -> None:
    server = ModelServer()
    with proxied(tmp_path, server) as racing:
        racing.tell("My code word is plum.", "rac")

        def forgets(_: Any) -> str:
            with acting(LOCAL):
                racing.memory.forget(user="rac", session="earlier")
            return "Your code word is plum."

        server.default = forgets
        with racing.client() as client:
            client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "What is my code word?"}], user="rac"
            )
        assert racing.said("rac") == [("user", "What is my code word?")]


def test_an_answer_that_is_none_is_an_error(tmp_path: Path) -> None:
    told: list[Any] = [Answer({"detail": "hello"}), Answer({"error": {"message": "no room", "code": 503}})]
    with proxied(tmp_path, ModelServer(told)) as odd, odd.client() as client:
        for status in (502, 503):
            with pytest.raises(openai.InternalServerError) as caught:
                client.chat.completions.create(model="m", messages=ASKED, user="odd")
            assert caught.value.status_code == status, json.dumps(caught.value.body)


POINT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_a_picture_goes_to_the_model_and_is_remembered_once_however_often_it_is_tried(tmp_path: Path) -> None:
    address = f"data:image/png;base64,{POINT}"
    shown: list[Any] = [
        {"type": "text", "text": "What is the colour of this point?"},
        {"type": "image_url", "image_url": {"url": address, "detail": "low"}},
    ]
    server = ModelServer(script=[fails(503, headers={"retry-after-ms": "1"}), says("It is red.")])
    with proxied(tmp_path, server) as proxy:
        client = openai.OpenAI(base_url=f"{proxy.address}/v1", api_key=proxy.key, max_retries=2)
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": shown}], user="ann")
        client.close()
        assert [request.body["messages"][-1]["content"] for request in server.requests] == [shown, shown]
        with acting(LOCAL):
            (message, _) = proxy.memory.list(user="ann", kinds="message")
            kept = proxy.memory.attachments.list(message.id, user="ann")
            content = proxy.memory.attachments.file(kept[0].id, user="ann")
        assert POINT not in str(message)
        assert len(kept) == 1 and kept[0].media == "image/png" and content.startswith(b"\x89PNG")
