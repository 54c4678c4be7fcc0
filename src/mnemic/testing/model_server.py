"""A small server of language models on loopback, which says what a script tells it to: for tests of whoever asks one.

It speaks OpenAI's `/chat/completions` and `/models`, Anthropic's `/messages`, and `/rerank` as Jina, Cohere and vLLM
have it. It can fail in every way that such servers do. Nothing about it is random, it never waits longer than five
seconds, and no thread outlives it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

from mnemic.testing.loopback import Answer, Loopback, Request
from mnemic.testing.model_says import Said, as_chat, as_message, fails, says
from mnemic.text import words


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as a script sees it."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def model(self) -> str:
        """The model that is asked for."""
        return str(self.body.get("model", ""))

    @property
    def streams(self) -> bool:
        """Whether the answer is wanted as a stream."""
        return bool(self.body.get("stream"))

    @property
    def turns(self) -> list[tuple[str, str]]:
        """Role and text of each turn, the system's first."""
        told = self.body.get("system")
        turns = [("system", _text(told))] if told else []
        return turns + [(str(turn.get("role")), _text(turn.get("content"))) for turn in self.body.get("messages", [])]

    @property
    def text(self) -> str:
        """All that is said in the prompt."""
        return "\n".join(text for _, text in self.turns)

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema that the answer is to fit, in whichever way it is asked for; None for free text."""
        form = self.body.get("response_format") or (self.body.get("output_config") or {}).get("format") or {}
        found = form.get("schema") or (form.get("json_schema") or {}).get("schema")
        tools = self.body.get("tools") or [{}]
        schema: dict[str, Any] | None = found or tools[0].get("input_schema")
        return schema


Scripted = Said | Answer | str
Reaction = Callable[[Asked], Scripted | None]
Script = Sequence[Scripted | Reaction] | Reaction

REJECTIONS: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "json_schema": lambda body: (body.get("response_format") or {}).get("type") == "json_schema",
    "json_object": lambda body: (body.get("response_format") or {}).get("type") == "json_object",
    "temperature": lambda body: "temperature" in body,
    "max_tokens": lambda body: "max_tokens" in body,
    "max_completion_tokens": lambda body: "max_completion_tokens" in body,
    "stream_options": lambda body: "stream_options" in body,
    "tool_choice": lambda body: "tool_choice" in body,
    "output_config": lambda body: "output_config" in body,
}
"""What a server can be told not to know, and how to see that it is asked for."""


class ModelServer:
    """Answers with the scripted answers in turn, then with `default`. A context manager.

    A script is a list of answers, or of functions from a request to an answer, or one function for all requests; a
    function that returns None leaves the answer to the default. What `rejects` names is answered with `status` before
    the script is asked. `requests` has all that came in.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        default: Scripted | Reaction = "ok",
        rejects: Iterable[str] = (),
        status: int = 400,
        models: Sequence[str] = ("fake-model",),
    ) -> None:
        self.requests: list[Asked] = []
        self.default = default
        self.rejects = frozenset(rejects)
        if unknown := self.rejects - set(REJECTIONS):
            raise ValueError(f"{sorted(unknown)} cannot be rejected, only {sorted(REJECTIONS)}")
        self._status = status
        self._models = models
        self._all = script if callable(script) else None
        self._script = deque(() if callable(script) else script)
        self._loopback = Loopback(self._answer)

    @property
    def url(self) -> str:
        """The address to give to a client of OpenAI's API."""
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        """The address to give to a client of Anthropic's API, which adds the version itself."""
        return f"http://127.0.0.1:{self._loopback.port}"

    def saw_leave(self, timeout: float) -> bool:
        """Tell whether a client closed its connection before it had all, waiting up to `timeout` seconds for it."""
        return self._loopback.left.wait(timeout)

    def __enter__(self) -> Self:
        self._loopback.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loopback.stop()

    def _answer(self, request: Request) -> Answer:
        asked = Asked(request.path, request.headers, request.body)
        self.requests.append(asked)
        route = request.path.partition("?")[0].rsplit("/v1/", 1)[-1]
        if route == "models":
            return Answer({"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]})
        for name in sorted(self.rejects):
            if REJECTIONS[name](request.body):
                return self._rejected(name)
        scripted = self._scripted(asked)
        if isinstance(scripted, Answer):
            return scripted
        if route == "rerank":
            return reranked(request.body)
        told = self._told(scripted, asked)
        if route == "chat/completions":
            return as_chat(told, request.body, asked.text) if isinstance(told, Said) else told
        if route == "messages":
            return as_message(told, request.body, asked.text) if isinstance(told, Said) else told
        return fails(404, f"no route {request.path}")

    def _scripted(self, asked: Asked) -> Scripted | None:
        if self._all is not None:
            return self._all(asked)
        if not self._script:
            return None
        scripted = self._script.popleft()
        return scripted(asked) if callable(scripted) else scripted

    def _told(self, scripted: Scripted | None, asked: Asked) -> Said | Answer:
        if scripted is None:
            scripted = self.default(asked) if callable(self.default) else self.default
        if scripted is None:
            return says("ok")
        return says(scripted) if isinstance(scripted, str) else scripted

    def _rejected(self, name: str) -> Answer:
        instead = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
        message = f"Unsupported parameter: '{name}' is not supported with this model.{instead}"
        return fails(self._status, message, param=name, code="unsupported_parameter")


def reranked(body: Mapping[str, Any]) -> Answer:
    """Score documents by the share of the query's words that they hold, the best first."""
    wanted = set(words(str(body.get("query"))))
    documents = [str(each) for each in body.get("documents", [])]
    scores = [len(wanted & set(words(text))) / max(len(wanted), 1) for text in documents]
    order = sorted(range(len(documents)), key=lambda at: -scores[at])
    results = [{"index": at, "relevance_score": scores[at]} for at in order[: body.get("top_n") or len(order)]]
    return Answer({"model": body.get("model"), "results": results})


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in content)
    return content if isinstance(content, str) else json.dumps(content)
