"""A language model that says what it was told to: for tests, in process, with every prompt on record.

It keeps the promises of its port: an empty reply is an error, and so is what a script calls one.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.errors import LanguageError
from mnemic.model.language import Prompt, Reply
from mnemic.text import estimate_tokens

_PIECES: Final = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class Broken:
    """A reply that breaks off: a stream gives the text and then fails, a whole call fails."""

    text: str
    error: Exception


Scripted = str | Reply | Broken | Exception
"""One reply of a script; an exception is raised."""


class ScriptedModel:
    """Answers with one reply of a sequence after another, or with what a function makes of the prompt.

    `prompts` are those it was given, in order. A sequence that has ended is an `AssertionError`: the code asked more
    often than the test said. Streams come in words, with the space behind them. Threads may share it.
    """

    def __init__(
        self, replies: Sequence[Scripted] | Callable[[Prompt], Scripted] = (), *, name: str = "scripted"
    ) -> None:
        self._replies = replies
        self._lock = threading.Lock()
        self.name = name
        self.prompts: list[Prompt] = []
        self.closed = False

    def complete(self, prompt: Prompt) -> Reply:
        """Return the script's next reply."""
        said = self._next(prompt)
        if isinstance(said, Broken):
            raise said.error
        return self._reply(prompt, said)

    def stream(self, prompt: Prompt) -> Iterator[str | Reply]:
        """Yield the script's next reply word by word, then whole."""
        said = self._next(prompt)
        if isinstance(said, Broken):
            yield from _PIECES.findall(said.text)
            raise said.error
        reply = self._reply(prompt, said)
        yield from _PIECES.findall(reply.text)
        yield reply

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True

    def _next(self, prompt: Prompt) -> Scripted:
        with self._lock:
            self.prompts.append(prompt)
            if callable(self._replies):
                return self._replies(prompt)
            if len(self.prompts) > len(self._replies):
                raise AssertionError(
                    f"the script has ended: {len(self._replies)} replies, then {prompt.turns[-1].text[:200]!r}"
                )
            return self._replies[len(self.prompts) - 1]

    def _reply(self, prompt: Prompt, said: str | Reply | Exception) -> Reply:
        if isinstance(said, Exception):
            raise said
        if isinstance(said, str):
            asked = sum(estimate_tokens(turn.text) for turn in prompt.turns)
            said = Reply(said, prompt.model or self.name, tokens_in=asked, tokens_out=estimate_tokens(said))
        if not said.text.strip():
            raise LanguageError(
                f"{self.name} answered with an empty text", passing=True, retry_after=None, status=None, model=self.name
            )
        return said


def outage(message: str = "the model server cannot be reached") -> LanguageError:
    """Return the error that an unreachable model ends in, for a script."""
    return LanguageError(message, passing=True, retry_after=None, status=None, model="scripted")


def said_to(prompt: Prompt) -> str:
    """Return all that a prompt says, turn after turn, to look something up in it."""
    return "\n".join(turn.text for turn in prompt.turns)
