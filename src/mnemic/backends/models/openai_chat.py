"""A language model at any server with OpenAI's `/chat/completions` route, through the library `openai`.

It decides what of an answer is a reply: text without thoughts, not empty, not refused, not cut off. Servers differ in
what they take; what one refuses is asked for in plainer ways, down to a schema in the prompt, and remembered.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal

from mnemic.backends.models.http_json import is_passing
from mnemic.backends.models.line import (
    PLACEHOLDER,
    Line,
    Place,
    as_json,
    counted,
    sendable,
    with_schema,
)
from mnemic.backends.models.thoughts import ThoughtFilter, without_thoughts
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.text import estimate_tokens

_ROUTE: Final = "/chat/completions"
_MODELS: Final = "/models"
_OWN: Final = "https://api.openai.com/v1"
_THOUGHTS: Final = ("reasoning_content", "reasoning")
_THINKS: Final = re.compile(r"\br1\b|qwq|think|reason", re.IGNORECASE)
"""Names of models that are known to think, and whose servers may leave out the tag that opens their thoughts."""

Form = Literal["json_schema", "json_object", "words"]
Limit = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True)
class _Way:
    """How a server is asked: the form of a schema, the name of the limit, and whether it takes the rest."""

    form: Form = "json_schema"
    limit: Limit = "max_tokens"
    swapped: bool = False
    temperature: bool = True
    counts: bool = True


class OpenAIChat:
    """A `LanguageModel` behind OpenAI's API. Its library is imported and its connections are opened at first use.

    A request takes at most `timeout` seconds, and passing faults are tried `tries` times with backoff. Without a
    `base_url` OpenAI itself is asked; only then the library looks for a key of its own when `api_key` is empty.
    """

    def __init__(
        self, base_url: str, api_key: str, model: str, *, timeout: float, tries: int, settings: str = "llm"
    ) -> None:
        self._place = Place(base_url, api_key, model, timeout, tries, settings)
        self._line = Line("openai", self._place, self._client)
        self._first = _Way() if base_url else _Way(limit="max_completion_tokens")
        self._ways: dict[str, _Way] = {}  # by model: of one server, each may take other things
        self._inside = set[str]()  # models seen to leave out the tag that opens their thoughts

    @property
    def name(self) -> str:
        """The model's name."""
        return self._place.model

    def complete(self, prompt: Prompt) -> Reply:
        """Return the reply to a prompt."""
        with self._line.telling():
            body = as_json(self._asked(prompt, stream=False))
            return self._reply(_Written.of(body, self._line), prompt)

    def stream(self, prompt: Prompt) -> Generator[str | Reply, None, None]:
        """Yield the reply's text piece by piece, and at last the whole `Reply`.

        Should thoughts come without the tag that opens them from a model that is not known to do so, then the pieces
        hold them; the `Reply` does not, and the next stream of the model holds back what may be a thought.
        """
        model = prompt.model or self.name
        thoughts = ThoughtFilter(wary=model in self._inside or _THINKS.search(model) is not None)
        written = _Written()
        shown = []
        with self._line.telling():
            events = self._asked(prompt, stream=True)
            try:
                for event in events:
                    said = written.add(event, self._line)
                    if written.aside:
                        thoughts.trust()
                    if piece := thoughts.feed(said):
                        shown.append(piece)
                        yield piece
            finally:
                events.close()
            if not written.finish:
                raise self._line.fault("broke off in the middle of its answer; try again", passing=True)
            if piece := thoughts.end():
                shown.append(piece)
                yield piece
            reply = self._reply(written, prompt)
        if reply.text != "".join(shown):
            self._inside.add(model)
        yield reply

    def relay(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the server's answer to a request as a caller wrote it."""
        with self._line.telling():
            body = as_json(self._line.post(_ROUTE, {**request, "stream": False}, stream=False))
            if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
                _Written().add(body, self._line, part="message")  # tells an error that came with a status of 200
                raise self._line.fault(
                    f"answered with something that is no completion: {str(body)[:200]!r}", passing=True
                )
            return body

    def relay_stream(self, request: Mapping[str, Any]) -> Generator[Mapping[str, Any], None, None]:
        """Yield the server's events as they come.

        Its counts of tokens are asked for, as what is spent is accounted; a server that knows no such wish is asked
        without.
        """
        wished = request.get("stream_options")
        counting = {**(wished if isinstance(wished, Mapping) else {}), "include_usage": True}
        finished = False
        with self._line.telling():
            events, _ = self._line.agreed(
                lambda options: self._line.post(_ROUTE, _streamed(request, options), stream=True),
                counting,
                lambda options, said: wished if options is counting and "stream_options" in said else None,
            )
            try:
                for event in events:
                    if not isinstance(event, dict) or isinstance(event.get("error"), dict):
                        _Written().add(event, self._line)
                    finished = finished or _ends(event)
                    yield event
            finally:
                events.close()
            if not finished:
                raise self._line.fault("broke off in the middle of its answer; try again", passing=True)

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
            return library.OpenAI(base_url=_OWN, api_key=place.api_key or None, **arguments)
        client = library.OpenAI(base_url=place.base_url, api_key=place.api_key or PLACEHOLDER, **arguments)
        client.organization = client.project = None  # what the environment says of OpenAI is not for other servers
        return client

    def _asked(self, prompt: Prompt, *, stream: bool) -> Any:
        def post(way: _Way) -> Any:
            return self._line.post(_ROUTE, self._payload(prompt, way, stream=stream), stream=stream)

        model = prompt.model or self.name
        known = self._ways.get(model, self._first)
        answer, self._ways[model] = self._line.agreed(post, known, partial(_plainer, prompt, stream=stream))
        return answer

    def _payload(self, prompt: Prompt, way: _Way, *, stream: bool) -> dict[str, Any]:
        turns = sendable(prompt)
        payload: dict[str, Any] = {"model": prompt.model or self.name, way.limit: prompt.max_tokens}
        if prompt.schema is not None:
            if way.form == "json_schema":
                schema = {"name": "answer", "schema": prompt.schema, "strict": _is_strict(prompt.schema)}
                payload["response_format"] = {"type": "json_schema", "json_schema": schema}
            else:
                turns = with_schema(turns, prompt)
                if way.form == "json_object":
                    payload["response_format"] = {"type": "json_object"}
        if prompt.temperature is not None and way.temperature:
            payload["temperature"] = prompt.temperature
        if stream:
            payload["stream"] = True
            if way.counts:
                payload["stream_options"] = {"include_usage": True}
        payload["messages"] = [{"role": turn.role, "content": _content(turn)} for turn in turns]
        return payload

    def _reply(self, written: _Written, prompt: Prompt) -> Reply:
        """Return what was written as a reply; raises LanguageError for what is none."""
        if written.finish == "content_filter" or written.refusal.strip():
            why = " ".join((written.refusal or "its content filter stopped the answer").split())[:300]
            raise self._line.fault(f"refused to answer: {why}", passing=False)
        if written.finish == "error":
            raise self._line.fault("broke off with an error; try again later", passing=True)
        text = without_thoughts(written.text)
        if not text.strip():
            raise self._line.fault(f"gave an empty answer{_why_empty(written)}", passing=True)
        usage = written.usage
        details = usage.get("prompt_tokens_details")
        asked = sum(estimate_tokens(turn.text) for turn in prompt.turns)
        return Reply(
            text=text,
            model=written.model or prompt.model or self.name,
            tokens_in=counted(usage.get("prompt_tokens"), asked),
            tokens_out=counted(usage.get("completion_tokens"), estimate_tokens(written.text + written.aside)),
            tokens_cached=counted(details.get("cached_tokens"), 0) if isinstance(details, dict) else 0,
            cut=written.finish == "length",
        )


@dataclass(slots=True)
class _Written:
    """What has come of an answer so far; `aside` are thoughts that the server keeps apart."""

    text: str = ""
    aside: str = ""
    refusal: str = ""
    finish: str = ""
    model: str = ""
    tools: bool = False
    usage: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, body: Any, line: Line) -> _Written:
        """Read a whole answer."""
        written = cls()
        written.add(body, line, part="message")
        return written

    def add(self, body: Any, line: Line, *, part: str = "delta") -> str:
        """Take a whole answer or an event of a stream in; return the text that it brought."""
        if not isinstance(body, dict):
            raise line.fault(f"answered with something that is no completion: {str(body)[:200]!r}", passing=True)
        if isinstance(error := body.get("error"), dict):  # some gateways tell their errors with a status of 200
            status = error.get("code") if isinstance(error.get("code"), int) else None
            told = str(error.get("message"))[:300]
            passing = status is None or is_passing(status)
            raise line.fault(f"answered with an error: {told}", passing=passing, status=status)
        if isinstance(model := body.get("model"), str):
            self.model = model
        if isinstance(usage := body.get("usage"), dict):
            self.usage = usage
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return ""
        self.finish = str(choice.get("finish_reason") or self.finish)
        message = choice.get(part)
        return self._take(message) if isinstance(message, dict) else ""

    def _take(self, message: Mapping[str, Any]) -> str:
        said = _text(message.get("content"))
        self.text += said
        self.refusal += _text(message.get("refusal"))
        self.aside += next((text for name in _THOUGHTS if (text := _text(message.get(name)))), "")
        self.tools = self.tools or bool(message.get("tool_calls"))
        return said


def _streamed(request: Mapping[str, Any], options: object) -> dict[str, Any]:
    """Return a request for a stream; None for the options leaves them out."""
    left = {name: value for name, value in request.items() if name != "stream_options"}
    return {**left, "stream": True} | ({} if options is None else {"stream_options": options})


def _ends(event: Mapping[str, Any]) -> bool:
    """Tell whether an event says that an answer has come to its end."""
    choices = event.get("choices")
    return isinstance(choices, list) and any(isinstance(each, dict) and each.get("finish_reason") for each in choices)


def _content(turn: Turn) -> str | list[dict[str, Any]]:
    """Return a turn's text; with pictures a list of parts, as servers that know none take only strings."""
    if not turn.pictures:
        return turn.text
    urls = [f"data:{picture.media};base64,{picture.data}" for picture in turn.pictures]
    return [*({"type": "image_url", "image_url": {"url": url}} for url in urls), {"type": "text", "text": turn.text}]


def _text(content: object) -> str:
    """Return a content's text: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _why_empty(written: _Written) -> str:
    if written.finish == "length":
        return ": it was cut before it had said anything but thoughts; raise llm_max_tokens"
    if written.tools:
        return ": it called a tool instead, though none was offered"
    return " (only thoughts)" if written.text.strip() or written.aside.strip() else ""


def _plainer(prompt: Prompt, way: _Way, said: str, *, stream: bool) -> _Way | None:
    """Return another way to ask, for a server that refused with these words; None when there is none."""
    if "stream_options" in said and stream and way.counts:
        return replace(way, counts=False)
    if "temperature" in said and prompt.temperature is not None and way.temperature:
        return replace(way, temperature=False)
    if way.limit in said and not way.swapped:
        other: Limit = "max_tokens" if way.limit == "max_completion_tokens" else "max_completion_tokens"
        return replace(way, limit=other, swapped=True)
    if prompt.schema is None or way.form == "words":
        return None
    return replace(way, form="json_object" if way.form == "json_schema" else "words")


def _is_strict(schema: object) -> bool:
    """Tell whether a schema keeps the rules of OpenAI's strict mode: objects closed, and all they have required."""
    if isinstance(schema, list):
        return all(map(_is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if isinstance(properties, Mapping) or schema.get("type") == "object":
        names = set(properties or ())
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != names:
            return False
    return all(map(_is_strict, schema.values()))
