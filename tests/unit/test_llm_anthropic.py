"""A chat behind Anthropic's API: what is sent, and what its forms of an answer mean."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from mnemic.backends.models.anthropic_chat import AnthropicChat
from mnemic.errors import InputError, LanguageError
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.testing.llm_contract import SCHEMA
from mnemic.testing.loopback import Answer
from mnemic.testing.model_says import Said, cuts, fails, says, says_json
from mnemic.testing.model_server import ModelServer, Script


class Remote:
    """Starts a scripted server and a chat over it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start(self, script: Script = (), *, suffix: str = "", **options: Any) -> tuple[AnthropicChat, ModelServer]:
        server = self._stack.enter_context(ModelServer(script, **options))
        chat = AnthropicChat(server.root + suffix, "sk-secret", "fake-model", timeout=5.0, tries=2)
        self._stack.callback(chat.close)
        return chat, server


@pytest.fixture
def remote() -> Iterator[Remote]:
    with ExitStack() as stack:
        yield Remote(stack)


def ask(*turns: Turn, **changes: Any) -> Prompt:
    return Prompt(turns or (Turn("system", "Be brief."), Turn("user", "Where?")), **changes)


def streamed(chat: AnthropicChat, prompt: Prompt) -> tuple[list[str], Reply]:
    *pieces, reply = chat.stream(prompt)
    assert isinstance(reply, Reply)
    return [piece for piece in pieces if isinstance(piece, str)], reply


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_a_prompt_is_sent_as_it_is_with_the_systems_word_apart(remote: Remote, suffix: str) -> None:
    chat, server = remote.start([Said(text="Paris.", cached=3, model="fake-2026")], suffix=suffix)
    reply = chat.complete(ask(Turn("system", "Be brief."), Turn("user", "Where?"), Turn("system", "Be kind.")))
    assert reply == Reply("Paris.", "fake-2026", tokens_in=10, tokens_out=2, tokens_cached=3)
    (request,) = server.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/messages", "Bearer sk-secret")
    assert request.body == {
        "model": "fake-model",
        "max_tokens": 1024,
        "temperature": 0.0,
        "system": "Be brief.\n\nBe kind.",
        "messages": [{"role": "user", "content": "Where?"}],
    }


def test_the_user_always_speaks_first_and_nobody_says_nothing(remote: Remote) -> None:
    chat, server = remote.start()
    chat.complete(ask(Turn("system", "Say hello.")))
    chat.complete(ask(Turn("assistant", "Hello."), Turn("user", " "), Turn("user", "Bye.")))
    chat.complete(ask(Turn("user", "")))
    assert [request.body["messages"] for request in server.requests] == [
        [{"role": "user", "content": "Say hello."}],
        [{"role": "user", "content": "."}, {"role": "assistant", "content": "Hello."},
         {"role": "user", "content": "Bye."}],
        [{"role": "user", "content": "."}],
    ]  # fmt: skip


def test_a_temperature_above_the_warmest_is_the_warmest(remote: Remote) -> None:
    chat, server = remote.start()
    chat.complete(ask(temperature=1.7))
    chat.complete(ask(temperature=None))
    assert [request.body.get("temperature") for request in server.requests] == [1.0, None]


def test_a_schema_is_asked_for_as_the_tool_to_call_and_its_input_is_the_reply(remote: Remote) -> None:
    said = Said(text='{"city": "Paris"}', thoughts="hm")
    chat, server = remote.start([said, said])
    assert chat.complete(ask(schema=SCHEMA)).text == '{"city": "Paris"}'
    pieces, reply = streamed(chat, ask(schema=SCHEMA))
    assert len(pieces) > 2 and reply.text == '{"city": "Paris"}'
    assert server.requests[0].body["tool_choice"] == {
        "type": "tool", "name": "answer", "disable_parallel_tool_use": True,
    }  # fmt: skip


def test_what_is_said_before_the_tool_is_called_is_not_the_answer(remote: Remote) -> None:
    tool = {"type": "tool_use", "name": "answer", "input": {}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Let me see."}},
        {"type": "content_block_start", "index": 1, "content_block": tool},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"city":'}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '"Rome"}'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]  # fmt: skip
    chat, _ = remote.start([sent(events)])
    pieces, reply = streamed(chat, ask(schema=SCHEMA))
    assert (pieces, reply) == (['{"city":', '"Rome"}'], Reply('{"city":"Rome"}', "m", 3, 9))


def sent(events: list[dict[str, Any]]) -> Answer:
    written = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return Answer(headers={"content-type": "text/event-stream"}, pieces=[text.encode() for text in written])


def test_a_tool_called_without_input_is_an_empty_object(remote: Remote) -> None:
    chat, _ = remote.start(["{}", "{}"])
    assert chat.complete(ask(schema=SCHEMA)).text == "{}"
    assert streamed(chat, ask(schema=SCHEMA)) == (["{}"], chat_reply("{}"))


def chat_reply(text: str) -> Reply:
    return Reply(text, "fake-model", tokens_in=4, tokens_out=1)


def test_words_instead_of_the_tool_are_handed_on_for_the_caller_to_check(remote: Remote) -> None:
    said = says_json({"city": "Paris"}, before="Sure: ")
    chat, _ = remote.start([said, said])
    assert chat.complete(ask(schema=SCHEMA)).text == 'Sure: {"city": "Paris"}'
    assert streamed(chat, ask(schema=SCHEMA))[1].text == 'Sure: {"city": "Paris"}'


def test_a_model_that_cannot_be_made_to_call_a_tool_is_asked_for_structured_output(remote: Remote) -> None:
    chat, server = remote.start(rejects=["tool_choice"], default='{"city": "Paris"}')
    for _ in range(2):
        assert chat.complete(ask(schema=SCHEMA)).text == '{"city": "Paris"}'
    assert ["output_config" in request.body for request in server.requests] == [False, True, True]
    assert server.requests[-1].schema == SCHEMA


def test_a_model_that_knows_no_schema_is_told_it_in_words(remote: Remote) -> None:
    rejects = ["tool_choice", "output_config", "temperature"]
    chat, server = remote.start(rejects=rejects, default='{"city": "Paris"}')
    assert chat.complete(ask(schema=SCHEMA)).text == streamed(chat, ask(schema=SCHEMA))[1].text
    assert "must fit this JSON Schema" in server.requests[-1].turns[0][1]
    assert set(server.requests[-1].body) == {"model", "max_tokens", "messages", "system", "stream"}
    assert len(server.requests) == 5


def test_thinking_and_tags_are_no_part_of_the_reply(remote: Remote) -> None:
    chat, _ = remote.start([says("<think>hm</think>Paris.", thoughts="They want Paris.")] * 2)
    assert chat.complete(ask()).text == "Paris."
    assert "".join(streamed(chat, ask())[0]) == "Paris."


@pytest.mark.parametrize(
    "stop, cut", [("max_tokens", True), ("model_context_window_exceeded", True), ("end_turn", False)]
)
def test_a_reply_that_was_cut_says_so(remote: Remote, stop: str, cut: bool) -> None:
    whole = {"content": [{"type": "text", "text": "Par"}], "stop_reason": stop}
    chat, _ = remote.start([Answer(whole)])
    assert chat.complete(ask()).cut is cut


def test_an_answer_that_was_cut_among_its_thoughts_says_what_to_raise(remote: Remote) -> None:
    chat, _ = remote.start([says("", thoughts="so long", finish="length")])
    with pytest.raises(LanguageError, match="raise llm_max_tokens"):
        chat.complete(ask())


def test_blocks_of_unknown_kinds_are_passed_over(remote: Remote) -> None:
    blocks = [{"type": "redacted_thinking", "data": "x"}, {"type": "new"}, "odd", {"type": "text", "text": "Paris."}]
    chat, _ = remote.start([Answer({"content": blocks, "stop_reason": "end_turn"})])
    assert chat.complete(ask()).text == "Paris."


def test_an_error_in_the_middle_of_a_stream_passes(remote: Remote) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    chat, _ = remote.start([sent([error])])
    with pytest.raises(LanguageError, match="Overloaded") as caught:
        streamed(chat, ask())
    assert caught.value.fields["passing"] is True


def test_a_whole_answer_that_is_cut_is_asked_for_again(remote: Remote) -> None:
    chat, server = remote.start([cuts(), "Paris."])
    assert chat.complete(ask()).text == "Paris."
    assert len(server.requests) == 2


def test_a_refusal_for_another_reason_is_told(remote: Remote) -> None:
    chat, server = remote.start(default=fails(400, "prompt is too long"))
    with pytest.raises(LanguageError, match="prompt is too long") as caught:
        chat.complete(ask())
    assert (caught.value.fields["passing"], len(server.requests)) == (False, 1)


def test_a_server_without_keys_is_asked_without_ours(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-user")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-user")
    _, server = remote.start()
    chat = AnthropicChat(server.root, "", "fake-model", timeout=5.0, tries=1)
    chat.complete(ask())
    chat.close()
    assert "of-the-user" not in str(server.requests[0].headers)


def test_no_key_for_anthropic_itself_is_an_error_that_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_IDENTITY_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path_factory.mktemp("none")))
    chat = AnthropicChat("", "", "claude-9", timeout=1.0, tries=1)
    with pytest.raises(LanguageError, match="set llm_api_key") as caught:
        chat.complete(ask())
    assert caught.value.fields["passing"] is False


def test_a_library_that_is_not_there_is_an_error_that_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(LanguageError, match=r"pip install 'mnemic\[anthropic\]'"):
        AnthropicChat("http://127.0.0.1:9", "", "m", timeout=1.0, tries=1).complete(ask())


def test_settings_that_cannot_be_are_named() -> None:
    with pytest.raises(InputError) as caught:
        AnthropicChat("host", "", "m", timeout=1.0, tries=1)
    assert caught.value.field == "llm_base_url"
