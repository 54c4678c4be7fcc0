"""What Mnemic needs from a language model: a prompt in, a reply out, whole or as it is written.

Mnemic stores and searches without one. What a model says is never trusted: its callers check it, and an outage is an
error, never content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from mnemic.model.language import Prompt, Reply


class LanguageModel(Protocol):
    """Answers prompts.

    Guarantees: the text of a reply is free of the model's thoughts (think blocks); `complete` and `stream` raise
    `mnemic.errors.LanguageError` for everything that keeps them from a reply (an empty one included) and nothing
    else; they end within the configured time; calls from several threads are safe. Passing faults were tried again
    before that, a bounded number of times.
    """

    @property
    def name(self) -> str:
        """The name of the model that answers, as it is shown and stored."""
        ...

    def complete(self, prompt: Prompt) -> Reply:
        """Return the reply to a prompt."""
        ...

    def stream(self, prompt: Prompt) -> Iterator[str | Reply]:
        """Yield the reply's text piece by piece, and at last the whole `Reply`; ending without one is an error.

        Only what comes before the first piece is tried again. Closing the iterator ends the call.
        """
        ...

    def close(self) -> None:
        """End connections and processes of its own; a later call may open them again."""
        ...


@runtime_checkable
class ListsModels(Protocol):
    """What a `LanguageModel` has besides when a server answers for it, which can be asked without spending tokens."""

    def models(self) -> Sequence[str]:
        """Return the names of the models that the server says it has. Raises `mnemic.errors.LanguageError`."""
        ...


@runtime_checkable
class Relays(Protocol):
    """What a `LanguageModel` has besides when its server takes requests of OpenAI's chat API as callers write them.

    A request reaches the server whole, and what the server answers comes back whole. Faults are `LanguageError`, as
    everywhere; its `status` is the server's. Calls from several threads are safe.
    """

    def relay(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the server's answer to a request (`chat.completion`)."""
        ...

    def relay_stream(self, request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield the server's events (`chat.completion.chunk`) to the last; breaking off before it is an error.

        Only what comes before the first event is tried again. Closing the iterator ends the call.
        """
        ...
