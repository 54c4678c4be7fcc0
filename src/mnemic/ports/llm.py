"""What Mnemic needs from a language model: a prompt in, a reply out, whole or as it is written.

Mnemic stores and searches without one. What a model says is never trusted: its callers check it, and an outage is an
error, never content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

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
