"""A request of OpenAI's chat API read for what it says, and the answer for what it took; neither is changed here.

What a request holds besides text (images, tools, formats) is its caller's and the model's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.model.language import Prompt, Reply, Turn, TurnRole
from mnemic.text import estimate_tokens

LEADING: Final = ("system", "developer")
"""Roles of what stands before a conversation."""

_ROLES: Final[Mapping[str, TurnRole]] = {"system": "system", "developer": "system", "assistant": "assistant"}


def prompt_of(request: Mapping[str, Any]) -> Prompt:
    """Return a request as a prompt, for knowing what it takes. Raises `InputError` for what is no request."""
    turns = tuple(
        Turn(_ROLES.get(str(message.get("role")), "user"), text_of(message.get("content")))
        for message in messages_in(request)
    )
    model = request.get("model")
    return Prompt(turns, model=model if isinstance(model, str) else "")


def messages_in(request: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the messages of a request. Raises `InputError` when there are none."""
    messages = request.get("messages")
    if not isinstance(messages, Sequence) or isinstance(messages, str) or not messages:
        raise InputError("messages", "needs a list with at least one message")
    for at, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise InputError(f"messages[{at}]", "needs an object with a role")
    return messages


def text_of(content: object) -> str:
    """Return the text of a content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    return "\n".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))


@dataclass(slots=True)
class Heard:
    """What has been heard of an answer, whole or event by event: the text of its first choice, and how it ended."""

    text: str = ""
    finish: str = ""
    model: str = ""
    calls_tools: bool = False
    choices: int = 0
    usage: Mapping[str, Any] = field(default_factory=dict)

    def add(self, body: Mapping[str, Any], *, part: str = "delta") -> str:
        """Take a whole answer (`part` message) or an event in; return the text that it brought."""
        if isinstance(model := body.get("model"), str):
            self.model = model
        if isinstance(usage := body.get("usage"), Mapping):
            self.usage = usage
        said = ""
        choices = body.get("choices")
        for choice in choices if isinstance(choices, Sequence) else ():
            if isinstance(choice, Mapping):
                said += self._choice(choice, part)
        return said

    def reply(self, prompt: Prompt) -> Reply:
        """Return what was heard as a reply with what it took: counted by the server, else estimated."""
        asked = sum(estimate_tokens(turn.text) for turn in prompt.turns)
        taken, given = self.usage.get("prompt_tokens"), self.usage.get("completion_tokens")
        return Reply(
            text=self.text,
            model=self.model or prompt.model,
            tokens_in=_count(taken, asked),
            tokens_out=_count(given, estimate_tokens(self.text)),
            cut=self.finish == "length",
        )

    def _choice(self, choice: Mapping[str, Any], part: str) -> str:
        index = choice.get("index", 0)
        if isinstance(index, int):
            self.choices = max(self.choices, index + 1)
        message = choice.get(part)
        if index not in (0, None) or not isinstance(message, Mapping):
            return ""
        said = text_of(message.get("content"))
        self.text += said
        self.finish = str(choice.get("finish_reason") or self.finish)
        self.calls_tools = self.calls_tools or bool(message.get("tool_calls") or message.get("function_call"))
        return said


def _count(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise
