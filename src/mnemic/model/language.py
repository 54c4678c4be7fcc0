"""What is said to a language model and what comes back; and what its calls cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

TurnRole = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in a prompt: its media type, and its bytes as base64."""

    media: str
    data: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a prompt. Pictures are for models that look at them, and stand in a user's turn, before its text."""

    role: TurnRole
    text: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """What to ask a language model.

    With `schema` (JSON Schema, object at the top) the reply is asked to be such an object; how well a model keeps to it
    is for the caller to check. `max_tokens` bounds the reply. `temperature` None leaves it to the model. `model` takes
    the place of the configured model's name for this prompt.
    """

    turns: tuple[Turn, ...]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1_024
    temperature: float | None = 0.0
    model: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered: text without its thoughts, who answered, what it took in tokens.

    `cut` tells that the reply ended at `max_tokens`; `tokens_cached` of `tokens_in` were in the server's cache.
    """

    text: str
    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a language model as it is accounted. `outcome` is `ok` or the code of the error that it ended in."""

    id: str
    cube_key: int
    purpose: str
    model: str
    tokens_in: int
    tokens_out: int
    at: datetime
    seconds: float
    outcome: str = "ok"


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls summed up: how many, how many of them failed, tokens in and out, seconds."""

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SpentOn:
    """What one purpose has cost with one model."""

    purpose: str
    model: str
    spent: Spent


@dataclass(frozen=True, slots=True)
class Usage:
    """What a cube's language model calls cost: altogether, since midnight UTC, and by purpose and model."""

    total: Spent = Spent()
    today: Spent = Spent()
    by_purpose: tuple[SpentOn, ...] = ()
