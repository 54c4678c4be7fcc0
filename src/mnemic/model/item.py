"""What a cube holds, as callers list and inspect it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from mnemic.model.language import Usage
from mnemic.model.memory import Memory, Segment, Source
from mnemic.model.message import StoredMessage

Item = StoredMessage | Memory
"""One thing that `get` and `list` return."""


@dataclass(frozen=True, slots=True)
class Warm:
    """A segment with its heat now and the parts of it (MemoryOS, Kang et al., EMNLP 2025)."""

    segment: Segment
    heat: float
    visits: float
    pages: float
    recency: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why something is in memory.

    `tier` is short-term, mid-term or long-term; `sources` what it stands on (for a message: itself); `segment` the
    topic that holds it; `derived` the memories that stand on it; `relations` (kind, from, to).
    """

    item: Item
    tier: str
    sources: tuple[Source, ...]
    segment: Segment | None
    derived: tuple[Memory, ...]
    relations: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of a cube. `short_term` counts pages not yet in a segment, `capacity` those that a session keeps.

    `usage` is what language models have cost. `files` are those of documents and messages, `file_bytes` their size;
    `bytes_on_disk` is that of the database alone.
    """

    messages: int
    sessions: int
    pages: int
    short_term: int
    capacity: int
    segments: Sequence[Warm]
    archived: int
    memories: Mapping[str, int]
    superseded: int
    jobs: Mapping[str, int]
    bytes_on_disk: int
    embedder: str
    latest_said: datetime | None = None
    notes: Sequence[str] = field(default_factory=tuple)
    usage: Usage = field(default_factory=Usage)
    documents: int = 0
    chunks: int = 0
    files: int = 0
    file_bytes: int = 0
