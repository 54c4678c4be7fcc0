"""Answers: what memory says to a question, what it stands on, and what a caller may wish of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypedDict

from mnemic.model.language import Spent
from mnemic.model.query import Hit
from mnemic.model.receipt import Added


class AskOptions(TypedDict, total=False):
    """What `ask` and `ask_stream` may be given besides the question; see `Memory.ask`.

    `session` names a conversation whose last turns the words go on from. A model is given `budget` tokens of memories,
    may search up to `depth` times more, and adds up to `suggest` next questions. `persona`, `style` and `relationship`
    take the place of the settings, an empty one too; `system` stands before our rules to the model; `model`,
    `temperature` and `max_tokens` are passed on to it.
    """

    session: str | int | None
    cubes: Sequence[str] | str | None
    as_of: datetime | str | float | None
    reference_time: datetime | str | float | None
    mode: str
    depth: int
    suggest: int
    budget: int
    persona: str | None
    style: str | None
    relationship: str | None
    system: str | None
    model: str | None
    temperature: float | None
    max_tokens: int | None


class ChatOptions(AskOptions, total=False):
    """What `chat` and `chat_stream` may be given besides the message.

    `session` is where the turn is stored (default: `default`), in `cube` (default: the user's own), which is also what
    is read unless `cubes` says otherwise. `agent` is who replies. With `store=False` nothing is stored. A
    `reference_time` is also when the turn was said.
    """

    agent: str | int | None
    cube: str | None
    store: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with the hits it stands on. `found` is False when memory does not hold it; `mode` says who wrote it
    (`extractive`, or a model's name). `confidence` is 0 to 1.

    A model's text names its citations in brackets: `numbers[i]` is the number of `citations[i]`. `notes` says what the
    caller should know, `searches` what the model looked for besides, `suggestions` are questions to ask next, `spent`
    is what its calls took. `cut` tells that a reply ended at `max_tokens`. `stored` has the receipts of a `chat`: for
    the message, and for the reply when it was kept.
    """

    text: str
    citations: tuple[Hit, ...]
    found: bool
    mode: str
    confidence: float = 0.0
    notes: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    searches: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    spent: Spent = field(default_factory=Spent)
    cut: bool = False
    stored: tuple[Added, ...] = ()

    def __str__(self) -> str:
        return self.text
