"""What would be drawn from messages, and what would become of it: the answer of a dry run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mnemic.model.memory import MemoryKind


@dataclass(frozen=True, slots=True)
class Extracted:
    """A statement that messages make, and what it would change.

    `message` is the place of its message in the call, from 0, `quote` the words there. `change` is `new`, `repeats`,
    `refines`, `replaces`, `contradicts` or `nothing` (a locked memory stands in its way); `beside` what it meets: what
    is known, or what an item before it says. `drawn_by` names the model, and is empty for rules.
    """

    message: int
    kind: MemoryKind
    subject: str
    attribute: str
    value: str
    text: str
    polarity: int
    valid_from: datetime
    valid_to: datetime | None
    confidence: float
    quote: str
    change: str
    beside: str = ""
    drawn_by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unbelieved:
    """What a model said that the messages do not bear out, and why."""

    said: str
    reason: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a dry run found. `mode` is `rules`, or the model's name; `notes` says what went wrong."""

    items: tuple[Extracted, ...]
    entities: tuple[tuple[str, str], ...] = ()
    unbelieved: tuple[Unbelieved, ...] = ()
    mode: str = "rules"
    notes: tuple[str, ...] = ()
