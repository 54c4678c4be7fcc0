"""What a scripted model says, and how that is written in OpenAI's and in Anthropic's form, whole or as a stream.

The functions make the answers of a script: `says`, `says_json`, `refuses`, `fails`, `hangs`, `cuts` and so on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mnemic.testing.loopback import Answer
from mnemic.text import estimate_tokens

CHARS_OF_A_PIECE: Final = 5
"""How much of a text one event of a stream brings: little, so that tags and words are cut."""

_EVENTS: Final = {"content-type": "text/event-stream"}
_STOPS: Final = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A model's answer. `text` None is a content of null; `tool` is a name and arguments as JSON.

    `thoughts` come in a field or block of their own. `usage` False leaves the counts of tokens out, `choices` False the
    whole answer. `cut` closes the connection halfway; `chunked` lets a client see that, without it the stream just
    ends. `pause` waits so many seconds before each event of a stream.
    """

    text: str | None = ""
    thoughts: str = ""
    refusal: str = ""
    tool: tuple[str, str] | None = None
    finish: str | None = "stop"
    usage: bool = True
    cached: int = 0
    choices: bool = True
    cut: bool = False
    chunked: bool = False
    pause: float = 0.0
    model: str = ""


def says(text: str | None, *, thoughts: str = "", finish: str | None = "stop", usage: bool = True) -> Said:
    """Answer with a text; `finish` is OpenAI's reason for the end, None for a stream that tells none."""
    return Said(text=text, thoughts=thoughts, finish=finish, usage=usage)


def says_json(value: Any, *, before: str = "", after: str = "", fenced: bool = False) -> Said:
    """Answer with JSON, in a code fence or with prose around it as models like to do."""
    text = json.dumps(value, ensure_ascii=False)
    return Said(text=f"{before}```json\n{text}\n```{after}" if fenced else f"{before}{text}{after}")


def refuses(reason: str = "I'm sorry, but I can't help with that.") -> Said:
    """Refuse in the field that the API has for it; a refusal in words is `says`."""
    return Said(text=None, refusal=reason)


def calls_tool(name: str, arguments: str = "{}") -> Said:
    """Call a tool that nobody offered, instead of answering."""
    return Said(text=None, tool=(name, arguments), finish="tool_calls")


def says_nothing() -> Said:
    """Answer with a list of choices (or of content) that is empty."""
    return Said(choices=False)


def cuts(text: str = "This sentence will never come to its end.", *, chunked: bool = False) -> Said:
    """Close the connection in the middle of the answer."""
    return Said(text=text, cut=True, chunked=chunked)


def trickles(text: str, pause: float) -> Said:
    """Stream a text slowly, so many seconds before each event."""
    return Said(text=text, pause=pause)


def hangs() -> Answer:
    """Say nothing at all until the server stops, or five seconds have passed."""
    return Answer(stall=True)


def fails(
    status: int,
    message: str = "the server is not well",
    *,
    param: str | None = None,
    code: str | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """Answer with an error of OpenAI's form; `headers` may hold retry-after or retry-after-ms."""
    error = {"message": message, "type": "error", "param": param, "code": code}
    return Answer({"error": error}, status=status, headers=headers or {})


def babbles(raw: bytes = b"<html>a proxy's page</html>", content_type: str = "text/html") -> Answer:
    """Answer 200 with something that is not JSON."""
    return Answer(raw=raw, headers={"content-type": content_type})


def as_chat(said: Said, body: dict[str, Any], prompt: str) -> Answer:
    """Write an answer as `/chat/completions` does."""
    model = said.model or str(body.get("model"))
    options = body.get("stream_options")
    usage = _chat_usage(said, prompt)
    if body.get("stream"):
        told = usage if isinstance(options, dict) and options.get("include_usage") else None
        return _stream(said, [_event(chunk) for chunk in _chat_chunks(said, model, told)] + [b"data: [DONE]\n\n"])
    message: dict[str, Any] = {"role": "assistant", "content": said.text}
    if said.refusal:
        message["refusal"] = said.refusal
    if said.thoughts:
        message["reasoning_content"] = said.thoughts
    if said.tool:
        message["tool_calls"] = [_call(said.tool)]
    choices = [{"index": 0, "message": message, "finish_reason": said.finish}] if said.choices else []
    whole = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": model, "choices": choices}
    return Answer(whole | ({"usage": usage} if usage else {}), cut=said.cut)


def _chat_chunks(said: Said, model: str, usage: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": model}

    def chunk(finish: str | None = None, /, **delta: Any) -> dict[str, Any]:
        return frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    if said.choices:
        yield chunk(role="assistant", content="" if said.text is not None else None)
        for name, text in (("reasoning_content", said.thoughts), ("content", said.text), ("refusal", said.refusal)):
            for piece in _pieces(text or ""):
                yield chunk(**{name: piece})
        if said.tool:
            yield chunk(tool_calls=[{"index": 0} | _call(said.tool)])
        if said.finish:
            yield chunk(said.finish)
    if usage:
        yield frame | {"choices": [], "usage": usage}


def _chat_usage(said: Said, prompt: str) -> dict[str, Any] | None:
    if not said.usage:
        return None
    taken, given = _counts(said, prompt)
    usage = {"prompt_tokens": taken, "completion_tokens": given, "total_tokens": taken + given}
    return usage | {"prompt_tokens_details": {"cached_tokens": said.cached}}


def as_message(said: Said, body: dict[str, Any], prompt: str) -> Answer:
    """Write an answer as Anthropic's `/messages` does; one in JSON becomes a call of the tool that is asked for."""
    blocks = list(_blocks(said, _asked_tool(body)))
    stop = "refusal" if said.refusal else None if said.finish is None else _STOPS.get(said.finish, said.finish)
    if stop == "end_turn" and any(block["type"] == "tool_use" for block in blocks):
        stop = "tool_use"
    usage = _message_usage(said, prompt)
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": said.model or str(body.get("model"))}
    if not body.get("stream"):
        whole = message | {"content": blocks, "stop_reason": stop, "stop_sequence": None}
        return Answer(whole | ({"usage": usage} if usage else {}), cut=said.cut)
    return _stream(said, [_event(event, event["type"]) for event in _message_events(message, blocks, stop, usage)])


def _message_events(
    message: dict[str, Any], blocks: Sequence[dict[str, Any]], stop: str | None, usage: dict[str, Any] | None
) -> Iterator[dict[str, Any]]:
    counted = {"usage": usage | {"output_tokens": 1}} if usage else {}
    yield {"type": "message_start", "message": message | {"content": [], "stop_reason": None} | counted}
    yield {"type": "ping"}
    for index, block in enumerate(blocks):
        kind, name, text = _delta_of(block)
        yield {
            "type": "content_block_start",
            "index": index,
            "content_block": block | {name: {} if kind[0] == "i" else ""},
        }
        for piece in _pieces(text):
            delta = {"type": kind, "partial_json" if kind[0] == "i" else name: piece}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    if stop:
        told = {"usage": {"output_tokens": usage["output_tokens"]}} if usage else {}
        yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}} | told
        yield {"type": "message_stop"}


def _blocks(said: Said, asked: str | None) -> Iterator[dict[str, Any]]:
    if not said.choices:
        return
    if said.thoughts:
        yield {"type": "thinking", "thinking": said.thoughts, "signature": "s"}
    if said.tool:
        yield {"type": "tool_use", "id": "toolu_1", "name": said.tool[0], "input": json.loads(said.tool[1])}
    elif asked and (value := _object(said.text or "")) is not None:
        yield {"type": "tool_use", "id": "toolu_1", "name": asked, "input": value}
    elif said.text is not None:
        yield {"type": "text", "text": said.text}


def _asked_tool(body: dict[str, Any]) -> str | None:
    choice = body.get("tool_choice")
    return choice.get("name") if isinstance(choice, dict) and choice.get("type") == "tool" else None


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _delta_of(block: dict[str, Any]) -> tuple[str, str, str]:
    """Return a block's kind of delta, the field that it fills, and with what."""
    if block["type"] == "tool_use":
        return "input_json_delta", "input", json.dumps(block["input"], ensure_ascii=False)
    name = block["type"]
    return f"{name}_delta", name, block[name]


def _message_usage(said: Said, prompt: str) -> dict[str, Any] | None:
    if not said.usage:
        return None
    taken, given = _counts(said, prompt)
    return {"input_tokens": taken - said.cached, "cache_read_input_tokens": said.cached, "output_tokens": given}


def _counts(said: Said, prompt: str) -> tuple[int, int]:
    return estimate_tokens(prompt) + said.cached, estimate_tokens((said.text or "") + said.thoughts)


def _call(tool: tuple[str, str]) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": tool[0], "arguments": tool[1]}}


def _pieces(text: str) -> Iterator[str]:
    for at in range(0, len(text), CHARS_OF_A_PIECE):
        yield text[at : at + CHARS_OF_A_PIECE]


def _event(value: dict[str, Any], name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()  # in ASCII: a piece may be half a character


def _stream(said: Said, events: list[bytes]) -> Answer:
    headers = dict(_EVENTS)
    if said.chunked:
        headers["transfer-encoding"] = "chunked"
        events = [b"%x\r\n%s\r\n" % (len(event), event) for event in events] + [b"0\r\n\r\n"]
    return Answer(headers=headers, pieces=events, cut=said.cut, pause=said.pause)
