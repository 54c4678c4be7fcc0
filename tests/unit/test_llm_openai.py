"""A chat behind OpenAI's API: what is sent, what counts as a reply, and what servers do instead."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from mnemic.backends.models import openai_chat
from mnemic.backends.models.openai_chat import OpenAIChat
from mnemic.errors import InputError, LanguageError
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.testing.llm_contract import SCHEMA
from mnemic.testing.loopback import Answer
from mnemic.testing.model_says import (
    Said,
    babbles,
    calls_tool,
    cuts,
    fails,
    hangs,
    refuses,
    says,
    says_json,
    says_nothing,
    trickles,
)
from mnemic.testing.model_server import ModelServer, Script

SOON = {"retry-after-ms": "1"}


def ask(text: str = "Where?", **changes: Any) -> Prompt:
    return Prompt((Turn("system", "Be brief."), Turn("user", text)), **changes)


class Remote:
    """Starts a scripted server and a chat over it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start(
        self, script: Script = (), *, model: str = "fake-model", timeout: float = 5.0, tries: int = 2, **options: Any
    ) -> tuple[OpenAIChat, ModelServer]:
        server = self._stack.enter_context(ModelServer(script, **options))
        chat = OpenAIChat(server.url, "sk-secret", model, timeout=timeout, tries=tries)
        self._stack.callback(chat.close)
        return chat, server


@pytest.fixture
def remote() -> Iterator[Remote]:
    with ExitStack() as stack:
        yield Remote(stack)


def fault(chat: OpenAIChat, prompt: Prompt | None = None) -> LanguageError:
    with pytest.raises(LanguageError) as caught:
        chat.complete(prompt or ask())
    assert "sk-secret" not in f"{caught.value} {caught.value.fields}"
    assert {"passing", "retry_after", "status"} <= set(caught.value.fields)
    return caught.value


def streamed(chat: OpenAIChat, prompt: Prompt | None = None) -> tuple[list[str], Reply]:
    *pieces, reply = chat.stream(prompt or ask())
    assert isinstance(reply, Reply)
    return [piece for piece in pieces if isinstance(piece, str)], reply


def test_a_prompt_is_sent_as_it_is_and_the_answer_is_the_reply(remote: Remote) -> None:
    chat, server = remote.start([Said(text="Paris.", cached=3, model="fake-model-2026")])
    reply = chat.complete(ask(max_tokens=7, temperature=0.5))
    assert reply == Reply("Paris.", "fake-model-2026", tokens_in=7, tokens_out=2, tokens_cached=3)
    (request,) = server.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/chat/completions", "Bearer sk-secret")
    assert request.body == {
        "model": "fake-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where?"}],
        "max_tokens": 7,
        "temperature": 0.5,
    }


def test_a_prompt_may_name_its_model_and_leave_the_temperature_to_it(remote: Remote) -> None:
    chat, server = remote.start()
    assert chat.complete(ask(model="other", temperature=None)).model == "other"
    assert server.requests[0].model == "other"
    assert "temperature" not in server.requests[0].body
    assert chat.name == "fake-model"


def test_a_stream_comes_in_pieces_and_ends_with_the_whole(remote: Remote) -> None:
    chat, server = remote.start([Said(text="Paris is the capital.", cached=2)])
    pieces, reply = streamed(chat)
    assert len(pieces) == 5 and "".join(pieces) == reply.text == "Paris is the capital."
    assert (reply.tokens_in, reply.tokens_out, reply.tokens_cached, reply.cut) == (6, 6, 2, False)
    assert server.requests[0].body["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize(
    "said",
    [
        says("<think>They want Paris.</think>\n\nParis."),
        says("They want Paris.\n</think>\n\nParis."),
        says("Paris.", thoughts="They want Paris."),
        says("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Paris."),
    ],
)
@pytest.mark.parametrize("model", ["fake-model", "deepseek-r1"])
def test_thoughts_are_never_part_of_a_reply(remote: Remote, said: Said, model: str) -> None:
    chat, _ = remote.start([said, said, said], model=model)
    assert chat.complete(ask()).text == "Paris."
    assert streamed(chat)[1].text == "Paris."
    pieces, reply = streamed(chat)  # by now it is known how this model thinks
    assert ("".join(pieces), reply.text) == ("Paris.", "Paris.")


def test_what_a_thinking_model_says_comes_in_pieces_when_its_thoughts_are_kept_apart(remote: Remote) -> None:
    chat, _ = remote.start([says("Paris is the capital.", thoughts="hm")], model="deepseek-r1")
    assert len(streamed(chat)[0]) == 5


@pytest.mark.parametrize(
    "text",
    [
        'Sure! Here it is:\n{"city": "Paris"}\nAnything else?',
        '```json\n{"city": "Paris"}\n```',
        '[{"city": "Paris"}]',
        '"Paris"',
        '{"city": "Paris", "evidence": ["m999"]}',
        "\u5df4\u9ece\u662f\u9996\u90fd\u3002",
        "I'm sorry, but I can't help with that.",
        "Write <think> and </think> as `tags`.",
        '{"city": "a </think> b"}',
        "{curly} \\_ | ``` <|endoftext|> </s>",
    ],
)
def test_what_a_model_says_is_handed_on_as_it_is_for_its_caller_to_check(remote: Remote, text: str) -> None:
    chat, _ = remote.start([text, text])
    assert chat.complete(ask(schema=SCHEMA)).text == text
    assert streamed(chat, ask(schema=SCHEMA))[1].text == text


@pytest.mark.parametrize(
    "said, passing, tells",
    [
        (says(""), True, "empty answer"),
        (says(" \n"), True, "empty answer"),
        (says(None), True, "empty answer"),
        (says_nothing(), True, "empty answer"),
        (says("<think>only this"), True, "only thoughts"),
        (says("", thoughts="only this"), True, "only thoughts"),
        (says("<think>so long", finish="length"), True, "raise llm_max_tokens"),
        (calls_tool("search"), True, "called a tool"),
        (refuses("Not this."), False, "refused to answer: Not this."),
        (says("Par", finish="content_filter"), False, "content filter"),
        (says("Par", finish="error"), True, "broke off"),
    ],
)
def test_what_is_no_reply_is_an_error_whole_and_streamed(remote: Remote, said: Said, passing: bool, tells: str) -> None:
    chat, _ = remote.start([said, said])
    assert (error := fault(chat)).fields["passing"] is passing
    assert tells in str(error)
    with pytest.raises(LanguageError, match=tells if said.choices else "in the middle") as caught:
        streamed(chat)
    assert caught.value.fields["passing"] is passing


def test_a_reply_that_was_cut_at_its_limit_says_so(remote: Remote) -> None:
    chat, _ = remote.start([says("Par", finish="length"), says("Par", finish="length")])
    assert chat.complete(ask()).cut
    assert streamed(chat)[1].cut


def test_tokens_are_estimated_when_the_server_counts_none(remote: Remote) -> None:
    chat, _ = remote.start([says("Paris.", usage=False, thoughts="hm"), says("Paris.", usage=False)])
    reply = chat.complete(ask())
    assert (reply.tokens_in, reply.tokens_out) == (5, 2)
    assert streamed(chat)[1].tokens_out == 2


def test_content_in_parts_is_read_and_its_thoughts_are_left_out(remote: Remote) -> None:
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Paris."}]
    whole = {"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}
    chat, _ = remote.start([Answer(whole)])
    assert chat.complete(ask()).text == "Paris."


@pytest.mark.parametrize(
    "status, passing, tells",
    [
        (400, False, "check the model's name"),
        (401, False, "check the API key"),
        (402, False, "no credit left"),
        (403, False, "may not use"),
        (404, False, "usually ends in /v1"),
        (302, False, "check llm_base_url"),
        (429, True, "asks to wait 0.001 s"),
        (500, True, "asks to wait"),
        (503, True, "asks to wait"),
        (529, True, "asks to wait"),
    ],
)
def test_a_status_is_told_with_what_to_do(remote: Remote, status: int, passing: bool, tells: str) -> None:
    chat, server = remote.start(default=fails(status, "sk-secret is bad", headers=SOON))
    error = fault(chat)
    assert tells in str(error) and "[key] is bad" in str(error)
    assert (error.fields["status"], error.fields["passing"]) == (status, passing)
    assert len(server.requests) == (2 if passing else 1)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again_and_then_answered(remote: Remote, status: int) -> None:
    chat, server = remote.start([fails(status, headers=SOON), "Paris.", fails(status, headers=SOON), "Rome."])
    assert chat.complete(ask()).text == "Paris."
    assert streamed(chat)[1].text == "Rome."
    assert len(server.requests) == 4


def test_a_wait_longer_than_a_request_may_take_is_not_waited_for(remote: Remote) -> None:
    chat, server = remote.start([fails(429, headers={"retry-after": "30"})])
    error = fault(chat)
    assert (error.fields["retry_after"], error.fields["passing"], len(server.requests)) == (30.0, True, 1)


def test_a_quota_that_is_used_up_does_not_pass_by_itself(remote: Remote) -> None:
    chat, _ = remote.start(tries=1, default=fails(429, "You exceeded your quota", code="insufficient_quota"))
    error = fault(chat)
    assert error.fields["passing"] is False and "no credit left" in str(error)


def test_a_silent_server_is_a_timeout(remote: Remote) -> None:
    chat, _ = remote.start([hangs(), hangs()], timeout=0.2, tries=1)
    assert "did not answer within 0.2 s; raise llm_timeout" in str(fault(chat))
    with pytest.raises(LanguageError, match=r"within 0\.2 s"):
        streamed(chat)


def test_a_server_that_trickles_is_timed_out_altogether(remote: Remote) -> None:
    slow = trickles("word " * 100, 0.05)
    chat, _ = remote.start([slow], timeout=0.3, tries=1)
    with pytest.raises(LanguageError, match=r"within 0\.3 s") as caught:
        streamed(chat)
    assert caught.value.fields["passing"] is True


def test_a_whole_answer_that_trickles_is_timed_out_too(remote: Remote) -> None:
    chat, server = remote.start([Answer(pieces=[b" "] * 100, pause=0.05)], timeout=0.3, tries=1)
    assert "within 0.3 s" in str(fault(chat))
    assert server.saw_leave(5.0)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_stream_that_is_cut_is_an_error_and_never_a_reply(remote: Remote, chunked: bool) -> None:
    chat, server = remote.start([cuts(chunked=chunked)])
    pieces = chat.stream(ask())
    assert next(pieces) == "This "
    with pytest.raises(LanguageError) as caught:
        list(pieces)
    assert caught.value.fields["passing"] is True
    assert len(server.requests) == 1


def test_a_stream_that_tells_no_end_is_cut(remote: Remote) -> None:
    chat, _ = remote.start([says("Paris.", finish=None)])
    with pytest.raises(LanguageError, match="in the middle of its answer"):
        streamed(chat)


def test_a_whole_answer_that_is_cut_is_asked_for_again(remote: Remote) -> None:
    chat, server = remote.start([cuts(), "Paris."])
    assert chat.complete(ask()).text == "Paris."
    assert len(server.requests) == 2


def test_an_error_in_the_middle_of_a_stream_is_told(remote: Remote) -> None:
    told = b'data: {"error": {"message": "overloaded"}}\n\n'
    chat, _ = remote.start([Answer(headers={"content-type": "text/event-stream"}, pieces=[told])])
    with pytest.raises(LanguageError, match="overloaded") as caught:
        streamed(chat)
    assert caught.value.fields["passing"] is True


def test_an_error_with_a_status_of_200_is_told(remote: Remote) -> None:
    chat, _ = remote.start([Answer({"error": {"message": "no such model", "code": 404}})])
    error = fault(chat)
    assert (error.fields["status"], error.fields["passing"]) == (404, False)


@pytest.mark.parametrize(
    "garbage",
    [
        babbles(),
        babbles(b"<html>", "application/json"),
        babbles(b"", "application/json"),
        babbles(b"\xff\xfe\x00", "application/json"),
        babbles(b"[1, 2]", "application/json"),
        babbles(b"null", "application/json"),
        babbles(b'"ok"', "application/json"),
        babbles(b"[" * 100_000, "application/json"),
    ],
)
def test_garbage_is_an_error(remote: Remote, garbage: Answer) -> None:
    chat, _ = remote.start([garbage])
    error = fault(chat)
    assert "answered with something that is no" in str(error) and error.fields["passing"] is True


@pytest.mark.parametrize("garbage", [b"data: {broken\n\n", b"data: [1]\n\n", b"<html>", b"", b"data: \xff\n\n"])
def test_garbage_in_a_stream_is_an_error(remote: Remote, garbage: bytes) -> None:
    chat, _ = remote.start([Answer(headers={"content-type": "text/event-stream"}, pieces=[garbage])])
    with pytest.raises(LanguageError):
        streamed(chat)


def test_json_with_another_content_type_is_read_all_the_same(remote: Remote) -> None:
    raw = b'{"choices": [{"message": {"content": "Paris."}, "finish_reason": "stop"}]}'
    chat, _ = remote.start([babbles(raw, "text/plain")])
    assert chat.complete(ask()).text == "Paris."


def test_a_schema_is_asked_for_in_the_servers_way(remote: Remote) -> None:
    chat, server = remote.start([says_json({"city": "Paris"})])
    chat.complete(ask(schema=SCHEMA))
    assert server.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
    }


def test_a_schema_that_strict_mode_would_refuse_is_not_called_strict(remote: Remote) -> None:
    chat, server = remote.start()
    chat.complete(ask(schema={"type": "object", "properties": {"city": {"type": "string"}}}))
    assert server.requests[0].body["response_format"]["json_schema"]["strict"] is False


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_without_schemas_is_asked_for_an_object_and_told_the_schema(remote: Remote, status: int) -> None:
    chat, server = remote.start(rejects=["json_schema"], status=status)
    for _ in range(2):
        chat.complete(ask(schema=SCHEMA))
    forms = [request.body["response_format"]["type"] for request in server.requests]
    assert forms == ["json_schema", "json_object", "json_object"]
    role, text = server.requests[-1].turns[0]
    assert role == "system" and text.startswith("Be brief.\n\nAnswer with one JSON object") and '"city"' in text


def test_a_server_without_any_form_is_told_the_schema_only(remote: Remote) -> None:
    chat, server = remote.start(rejects=["json_schema", "json_object"])
    for _ in range(2):
        chat.complete(Prompt((Turn("user", "Where?"),), schema=SCHEMA))
    assert [("response_format" in request.body) for request in server.requests] == [True, True, False, False]
    assert [role for role, _ in server.requests[-1].turns] == ["system", "user"]


@pytest.mark.parametrize(
    "rejects, gone, instead",
    [
        ("max_tokens", "max_tokens", "max_completion_tokens"),
        ("temperature", "temperature", "max_tokens"),
        ("stream_options", "stream_options", "max_tokens"),
    ],
)
def test_what_a_server_does_not_know_is_left_out_from_then_on(
    remote: Remote, rejects: str, gone: str, instead: str
) -> None:
    chat, server = remote.start(rejects=[rejects])
    assert streamed(chat)[1].text == streamed(chat)[1].text == "ok"
    assert [gone in request.body for request in server.requests] == [True, False, False]
    assert instead in server.requests[-1].body


def test_a_server_that_knows_next_to_nothing_is_asked_in_the_plainest_way(remote: Remote) -> None:
    rejects = ["json_schema", "json_object", "temperature", "max_tokens", "stream_options"]
    chat, server = remote.start(rejects=rejects)
    assert streamed(chat, ask(schema=SCHEMA))[1].text == "ok"
    assert set(server.requests[-1].body) == {"model", "messages", "max_completion_tokens", "stream"}


def test_one_model_of_a_server_does_not_decide_for_another(remote: Remote) -> None:
    refusal = fails(400, "'temperature' is not supported", param="temperature")
    chat, server = remote.start([refusal, "ok", "ok"])
    chat.complete(ask(model="o9"))
    chat.complete(ask())
    assert ["temperature" in request.body for request in server.requests] == [True, False, True]


def test_a_refusal_for_another_reason_ends_and_changes_nothing(remote: Remote) -> None:
    long = fails(400, "'max_tokens' or 'max_completion_tokens' is too large: the context length is 4096 tokens")
    chat, server = remote.start([long, long, long, long, "ok"])
    assert "too large" in str(fault(chat, ask(schema=SCHEMA)))
    assert len(server.requests) == 4
    chat.complete(ask(schema=SCHEMA))
    assert server.requests[-1].body["response_format"]["type"] == "json_schema"


def test_odd_text_reaches_the_server_as_text_it_can_take(remote: Remote) -> None:
    chat, server = remote.start()
    chat.complete(ask("a \ud800 b \0 c \U0001f600 e\u0301"))
    assert server.requests[0].turns[1][1] == "a \ufffd b \ufffd c \U0001f600 e\u0301"


def test_closing_a_stream_closes_its_connection(remote: Remote) -> None:
    chat, server = remote.start([trickles("word " * 200, 0.02)])
    with closing(chat.stream(ask())) as pieces:
        assert next(pieces) == "word "
    assert server.saw_leave(5.0)


def test_a_closed_chat_opens_again_when_it_is_asked(remote: Remote) -> None:
    chat, _ = remote.start()
    chat.close()
    assert chat.complete(ask()).text == "ok"
    chat.close()
    assert chat.complete(ask()).text == "ok"


def test_a_server_that_is_not_there_is_an_error_that_says_what_to_check() -> None:
    with ModelServer() as server:
        gone = server.url
    chat = OpenAIChat(gone, "", "fake-model", timeout=1.0, tries=1)
    error = fault(chat)
    chat.close()
    assert "check that the server runs and that llm_base_url is right" in str(error)
    assert error.fields["passing"] is True


def test_a_server_without_keys_is_asked_without_ours(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-user")
    _, server = remote.start()
    chat = OpenAIChat(server.url, "", "fake-model", timeout=5.0, tries=1)
    chat.complete(ask())
    chat.close()
    assert "of-the-user" not in str(server.requests[0].headers)


def test_no_key_for_openai_itself_is_an_error_that_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    error = fault(OpenAIChat("", "", "gpt-9", timeout=1.0, tries=1))
    assert "without an API key; set llm_api_key" in str(error) and error.fields["passing"] is False


def test_a_library_that_is_not_there_is_an_error_that_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    error = fault(OpenAIChat("http://127.0.0.1:9/v1", "", "m", timeout=1.0, tries=1))
    assert "pip install 'mnemic[openai]'" in str(error) and error.fields["passing"] is False


@pytest.mark.parametrize(
    "url, key, model, field",
    [
        ("127.0.0.1:11434", "", "m", "llm_base_url"),
        ("ftp://host", "", "m", "llm_base_url"),
        ("http://host", "key\n", "m", "llm_api_key"),
        ("http://host", "k\u00e9y", "m", "llm_api_key"),
        ("http://host", "", " ", "llm_model"),
    ],
)
def test_settings_that_cannot_be_are_named(url: str, key: str, model: str, field: str) -> None:
    with pytest.raises(InputError) as caught:
        OpenAIChat(url, key, model, timeout=1.0, tries=1)
    assert caught.value.field == field
    with pytest.raises(InputError) as judged:
        OpenAIChat(url, key, model, timeout=1.0, tries=1, settings="judge")
    assert judged.value.field == field.replace("llm", "judge")


def test_a_password_in_the_address_is_not_shown() -> None:
    chat = OpenAIChat("http://ann:pw@127.0.0.1:9/v1", "", "m", timeout=1.0, tries=1)
    assert "pw@" not in str(fault(chat))
    chat.close()


def test_the_key_is_not_in_the_causes_of_an_error_which_logs_and_jobs_show(remote: Remote) -> None:
    chat, _ = remote.start(default=fails(401, "sk-secret is bad", headers=SOON))
    error = fault(chat)
    assert error.__cause__ is not None
    assert "sk-secret" not in "".join(traceback.format_exception(error))


def test_a_key_of_the_environment_is_hidden_too(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    _, server = remote.start(default=fails(401, "sk-of-the-user is bad"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user")
    monkeypatch.setattr(openai_chat, "_OWN", server.url)
    with closing(OpenAIChat("", "", "gpt-9", timeout=1.0, tries=1)) as chat:
        error = fault(chat)
    assert "[key] is bad" in str(error)
    assert "sk-of-the-user" not in "".join(traceback.format_exception(error))
