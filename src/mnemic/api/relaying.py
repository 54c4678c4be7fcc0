"""Requests of OpenAI's chat API for the language model: `memory.relay`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mnemic import wiring
from mnemic.api.calls import watched


@watched("relay")
class Relay:
    """The language model's server, asked as OpenAI's chat API is, within the cube's budget: `memory.relay`.

    A server's door has it, not its clients: who is far away asks the door `/v1/chat/completions`.
    """

    def __init__(self, parts: wiring.Parts) -> None:
        self._parts = parts

    def check(self) -> None:
        """Raise `InputError` when there is no model, or one that is not asked through OpenAI's API."""
        self._parts.accounts.check()

    def send(self, request: Mapping[str, Any], *, user: str | int, cube: str | None = None) -> Mapping[str, Any]:
        """Return the answer (`chat.completion`) to a request, which reaches the server as it is.

        Nothing is stored, and memory adds nothing. Raises `InputError` without a model or with one that is not asked
        through OpenAI's API, `BudgetError`, and `LanguageError`, whose `status` is the server's.
        """
        return self._parts.accounts.relay(request, user=user, cube=cube)

    def stream(
        self, request: Mapping[str, Any], *, user: str | int, cube: str | None = None
    ) -> Iterator[Mapping[str, Any]]:
        """Yield the events (`chat.completion.chunk`) of an answer as they come, with the server's counts of tokens."""
        return self._parts.accounts.relay_stream(request, user=user, cube=cube)

    @property
    def model(self) -> str | None:
        """The name of the model that is configured; None when there is none."""
        return None if self._parts.language is None else self._parts.language.name
