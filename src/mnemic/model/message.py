"""Messages, pages and sessions: what was said, verbatim, and the units that the tiers move."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mnemic.model.attachment import Attachment

Json = Any
"""A value that JSON can hold."""


class MessageRole(enum.StrEnum):
    """Who speaks, as chat APIs call it."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn as a caller gives it.

    `content` is a string, or a list of parts as chat APIs write them: `{"type": "text", "text": ...}`, images, files,
    audio, tool calls and results (`docs/multimodal.md`). `at` is when it was said (now, when absent); without a zone
    it is read in the zone of the settings. `id` is the caller's own and unique in its session.
    """

    role: str
    content: Json
    name: str | None = None
    at: datetime | str | float | None = None
    id: str | int | None = None
    metadata: Mapping[str, Json] | None = None
    tool_calls: Json = None
    tool_call_id: str | None = None


Said = str | Sequence[Mapping[str, Json]]
"""What one turn may say: words, or parts with images, files and sounds."""

Messages = str | Message | Mapping[str, Json] | Sequence[str | Message | Mapping[str, Json]]
"""What a caller may give as messages: one or many, each a string, an object or a `Message`."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as the store holds it. `text` is what of it can be searched; `content` is verbatim but for bytes.

    What came with it besides words is in its `attachments`, where it is shown by itself: `get`, `list`, `explain`.
    """

    id: str
    cube_key: int
    session_id: str
    session: str
    page_id: str | None
    position: int
    role: MessageRole
    speaker: str
    content: Json
    text: str
    said_at: datetime
    stored_at: datetime
    external_id: str | None = None
    agent: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    attachments: tuple[Attachment, ...] = ()

    def __repr__(self) -> str:
        return f"<StoredMessage {self.id} {self.said_at:%Y-%m-%d} {self.speaker}: {self.text[:70]!r}>"


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation inside a cube, under the name that its caller gave it."""

    id: str
    cube_key: int
    name: str
    messages: int
    started_at: datetime
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """A turn of one speaker with the reply to it: the unit that the tiers move. `position` counts in its session.

    Pages of one `chain_id` continue one another; it is given when a page joins a segment.
    """

    id: str
    cube_key: int
    session_id: str
    position: int
    opened_by: str
    replied: bool
    started_at: datetime
    ended_at: datetime
    segment_id: str | None = None
    analysed: bool = False
    messages: int = 0
    last_role: MessageRole = MessageRole.USER
    chain_id: str | None = None
