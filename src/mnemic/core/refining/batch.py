"""The values that refining works on: what is shown to the model, and what is left of its answer after the checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from mnemic.core.prompts import SHOWN
from mnemic.model.memory import Candidate, Memory, Segment
from mnemic.model.message import StoredMessage

Tie = Literal["new", "same", "more", "replaces", "ends", "conflicts"]
"""How a statement stands to something known, as the model sees it."""

TIES: Final[tuple[Tie, ...]] = ("new", "same", "more", "replaces", "ends", "conflicts")


@dataclass(frozen=True, slots=True)
class Tastes:
    """What the owner wants drawn: instructions, categories of their own, topics to keep to, topics to leave out."""

    instructions: str = ""
    categories: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """A segment to be described, with the newest of its messages."""

    segment: Segment
    messages: tuple[StoredMessage, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """What one call is about: messages to read, those before them for understanding only, what is known, topics.

    `shown` are the characters of a message that are shown.
    """

    messages: tuple[StoredMessage, ...]
    before: tuple[StoredMessage, ...] = ()
    known: tuple[Memory, ...] = ()
    topics: tuple[Topic, ...] = ()
    tastes: Tastes = field(default_factory=Tastes)
    shown: int = SHOWN


@dataclass(frozen=True, slots=True)
class Item:
    """A statement that passed the checks: with the message of its first quote, further quotes with their messages, and
    how it stands to something known.
    """

    message: StoredMessage
    candidate: Candidate
    further: tuple[tuple[StoredMessage, str], ...] = ()
    tie: Tie = "new"
    known: Memory | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A named thing and the messages that mention it (id to the words)."""

    name: str
    kind: str
    messages: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TopicNote:
    """What the model says of a segment."""

    segment_id: str
    title: str
    summary: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Void:
    """An item that was left out: what it said, and why it is not believed."""

    said: str
    reason: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is left of a reply after the checks, and what was left out."""

    items: tuple[Item, ...] = ()
    mentions: tuple[Mention, ...] = ()
    topics: tuple[TopicNote, ...] = ()
    void: tuple[Void, ...] = ()
