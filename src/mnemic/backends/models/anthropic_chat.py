"""A language model at Anthropic, or at any server with its `/v1/messages` route, through the library `anthropic`.

It decides what of an answer is a reply, as `openai_chat` does. A schema is asked for as the one tool that the model has
to call: every model knows tools and any schema will do, which does not hold for structured outputs; these come second,
for models that cannot be made to call a tool, and the schema in words comes last.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal

from mnemic.backends.models.line import PLACEHOLDER, Line, Place, as_json, counted, sendable, with_schema
from mnemic.backends.models.thoughts import ThoughtFilter, without_thoughts
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.text import estimate_tokens

_ROUTE: Final = "/v1/messages"
_MODELS: Final = "/v1/models"
_OWN: Final = "https://api.anthropic.com"
_TOOL: Final = "answer"
_NOTHING: Final = "."
"""What is said by a user who has said nothing: the API wants the first word to be theirs."""
_CUT: Final = frozenset({"max_tokens", "model_context_window_exceeded"})
_WARMEST: Final = 1.0  # temperatures end here, not at 2 as elsewhere

Form = Literal["tool", "output", "words"]


@dataclass(frozen=True, slots=True)
class _Way:
    """How a server is asked: the form of a schema, and whether it takes a temperature."""

    form: Form = "tool"
    temperature: bool = True


class AnthropicChat:
    """A `LanguageModel` behind Anthropic's API. Its library is imported and its connections are opened at first use.

    A request takes at most `timeout` seconds, and passing faults are tried `tries` times with backoff. Without a
    `base_url` Anthropic itself is asked; only then the library looks for a key of its own when `api_key` is empty.
    """

    def __init__(
        self, base_url: str, api_key: str, model: str, *, timeout: float, tries: int, settings: str = "llm"
    ) -> None:
        self._place = Place(base_url, api_key, model, timeout, tries, settings)
        self._line = Line("anthropic", self._place, self._client)
        self._ways: dict[str, _Way] = {}  # by model: of one server, each may take other things

    @property
    def name(self) -> str:
        """The model's name."""
        return self._place.model

    def complete(self, prompt: Prompt) -> Reply:
        """Return the reply to a prompt."""
        with self._line.telling():
            body = as_json(self._asked(prompt, stream=False))
            if not isinstance(body, dict) or not isinstance(content := body.get("content"), list):
                raise self._line.fault(f"answered with something that is no message: {str(body)[:200]!r}", passing=True)
            written = _Written()
            written.start(body)
            written.stop(body)
            for block in content:
                written.open(block)
            return self._reply(written, prompt)

    def stream(self, prompt: Prompt) -> Generator[str | Reply, None, None]:
        """Yield the reply's text piece by piece, and at last the whole `Reply`."""
        written = _Written()
        with self._line.telling():
            events = self._asked(prompt, stream=True)
            shown = []
            try:
                for piece in self._shown(events, written, prompt):
                    shown.append(piece)
                    yield piece
            finally:
                events.close()
            if not written.finish:
                raise self._line.fault("broke off in the middle of its answer; try again", passing=True)
            reply = self._reply(written, prompt)
            said = "".join(shown)
            if reply.text.startswith(said) and (rest := reply.text[len(said) :]):
                yield rest
        yield reply

    def models(self) -> list[str]:
        """Return the names of the models that the server says it has."""
        with self._line.telling():
            return self._line.listed(_MODELS)

    def close(self) -> None:
        """End the connections; a later call opens them again."""
        self._line.close()

    def _client(self, library: Any, arguments: dict[str, Any]) -> Any:
        place = self._place
        if not place.base_url:
            return library.Anthropic(base_url=_OWN, api_key=place.api_key or None, **arguments)
        root = place.base_url.rstrip("/").removesuffix("/v1")  # the library adds the version itself
        return library.Anthropic(base_url=root, api_key=place.api_key or PLACEHOLDER, **arguments)

    def _asked(self, prompt: Prompt, *, stream: bool) -> Any:
        def post(way: _Way) -> Any:
            return self._line.post(_ROUTE, self._payload(prompt, way, stream=stream), stream=stream)

        model = prompt.model or self.name
        answer, self._ways[model] = self._line.agreed(post, self._ways.get(model, _Way()), partial(_plainer, prompt))
        return answer

    def _payload(self, prompt: Prompt, way: _Way, *, stream: bool) -> dict[str, Any]:
        turns = sendable(prompt)
        payload: dict[str, Any] = {"model": prompt.model or self.name, "max_tokens": prompt.max_tokens}
        if prompt.schema is not None:
            if way.form == "tool":
                told = "Give the answer in this form."
                payload["tools"] = [{"name": _TOOL, "description": told, "input_schema": prompt.schema}]
                payload["tool_choice"] = {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True}
            elif way.form == "output":
                payload["output_config"] = {"format": {"type": "json_schema", "schema": prompt.schema}}
            else:
                turns = with_schema(turns, prompt)
        if prompt.temperature is not None and way.temperature:
            payload["temperature"] = min(prompt.temperature, _WARMEST)
        if stream:
            payload["stream"] = True
        return payload | _told(turns)

    def _shown(self, events: Any, written: _Written, prompt: Prompt) -> Iterator[str]:
        """Yield what may be shown as it comes; what a model says before it calls the tool is not the answer."""
        thoughts = ThoughtFilter()
        for event in events:
            if not isinstance(event, dict):
                raise self._line.fault(f"answered with something that is no event: {str(event)[:200]!r}", passing=True)
            said = written.add(event)
            if prompt.schema is None:
                piece = "" if written.is_called else thoughts.feed(said)
            else:
                piece = said if written.is_called else ""
            if piece:
                yield piece

    def _reply(self, written: _Written, prompt: Prompt) -> Reply:
        """Return what was written as a reply; raises LanguageError for what is none."""
        if written.finish == "refusal":
            raise self._line.fault("refused to answer", passing=False)
        called = prompt.schema is not None and written.is_called
        text = (written.called or "{}") if called else without_thoughts(written.text)
        if not text.strip():
            why = ": it was cut before it had said anything but thoughts; raise llm_max_tokens"
            why = why if written.finish in _CUT else ": it called a tool, though none was offered" * written.is_called
            raise self._line.fault(f"gave an empty answer{why}", passing=True)
        cached = counted(written.usage.get("cache_read_input_tokens"), 0)
        fresh = counted(written.usage.get("cache_creation_input_tokens"), 0)
        asked = sum(estimate_tokens(turn.text) for turn in prompt.turns)
        return Reply(
            text=text,
            model=written.model or prompt.model or self.name,
            tokens_in=counted(written.usage.get("input_tokens"), asked) + cached + fresh,
            tokens_out=counted(written.usage.get("output_tokens"), estimate_tokens(text + written.aside)),
            tokens_cached=cached,
            cut=written.finish in _CUT,
        )


@dataclass(slots=True)
class _Written:
    """What has come of an answer so far; `aside` are thoughts that the server keeps apart, `called` a tool's input."""

    text: str = ""
    aside: str = ""
    called: str = ""
    is_called: bool = False
    finish: str = ""
    model: str = ""
    usage: dict[str, Any] = field(default_factory=dict)

    def start(self, message: object) -> None:
        """Take in what stands at the head of a message."""
        if isinstance(message, dict):
            self.model = str(message.get("model") or "")
            self._count(message)

    def stop(self, message: Mapping[str, Any], delta: object = None) -> None:
        """Take in why a message ended."""
        said = delta if isinstance(delta, dict) else message
        self.finish = str(said.get("stop_reason") or "")
        self._count(message)

    def open(self, block: object) -> str:
        """Take in a block of content, whole or as it begins; return the text that it brought."""
        if not isinstance(block, dict):
            return ""
        if block.get("type") == "tool_use":
            self.is_called = True
            value = block.get("input")
            return self._call(json.dumps(value, ensure_ascii=False) if value else "")
        return self._say(block)

    def add(self, event: Mapping[str, Any]) -> str:
        """Take in an event of a stream; return the text that it brought."""
        delta = event.get("delta")
        match event.get("type"):
            case "message_start":
                self.start(event.get("message"))
            case "message_delta":
                self.stop(event, delta)
            case "content_block_start":
                return self.open(event.get("content_block"))
            case "content_block_delta" if isinstance(delta, dict):
                part = delta.get("partial_json")
                return self._call(part) if isinstance(part, str) else self._say(delta)
        return ""

    def _say(self, part: Mapping[str, Any]) -> str:
        thought, said = part.get("thinking"), part.get("text")
        self.aside += thought if isinstance(thought, str) else ""
        self.text += said if isinstance(said, str) else ""
        return said if isinstance(said, str) else ""

    def _call(self, part: str) -> str:
        self.called += part
        return part

    def _count(self, message: Mapping[str, Any]) -> None:
        usage = message.get("usage")
        if isinstance(usage, dict):
            self.usage.update(usage)


def _plainer(prompt: Prompt, way: _Way, said: str) -> _Way | None:
    """Return another way to ask, for a server that refused with these words; None when there is none."""
    if "temperature" in said and prompt.temperature is not None and way.temperature:
        return replace(way, temperature=False)
    if prompt.schema is None or way.form == "words":
        return None
    return replace(way, form="output" if way.form == "tool" else "words")


def _content(turn: Turn) -> str | list[dict[str, Any]]:
    """Return a turn's text, or a list of blocks when it has pictures."""
    if not turn.pictures:
        return turn.text
    sources = [{"type": "base64", "media_type": each.media, "data": each.data} for each in turn.pictures]
    return [*({"type": "image", "source": source} for source in sources), {"type": "text", "text": turn.text}]


def _told(turns: Sequence[Turn]) -> dict[str, Any]:
    """Return the turns as the API has them: the system's apart, none blank, the first the user's."""
    system = "\n\n".join(turn.text for turn in turns if turn.role == "system" and turn.text.strip())
    said = [
        {"role": turn.role, "content": _content(turn)} for turn in turns if turn.role != "system" and turn.text.strip()
    ]
    if not said:
        return {"messages": [{"role": "user", "content": system or _NOTHING}]}
    if said[0]["role"] != "user":
        said.insert(0, {"role": "user", "content": _NOTHING})
    return {"messages": said} | ({"system": system} if system else {})
