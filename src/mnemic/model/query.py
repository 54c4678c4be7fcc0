"""A question and what comes back: filters, hits and the reasons for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict, overload

from mnemic.model.attachment import Attachment
from mnemic.model.document import Locator
from mnemic.model.memory import Source

Operator = Literal["eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains", "exists"]


@dataclass(frozen=True, slots=True)
class Compare:
    """One comparison. `key` is set for a field of the caller's metadata, else None."""

    field: str
    key: str | None
    operator: Operator
    value: Any


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these hold."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these holds."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """This does not hold."""

    part: Filter


Filter = Compare | AllOf | AnyOf | Not


class SearchOptions(TypedDict, total=False):
    """What a search may be given besides the question; see `Memory.search`."""

    cubes: Sequence[str] | str | None
    limit: int
    kinds: Sequence[str] | str | None
    where: Mapping[str, Any] | None
    as_of: datetime | str | float | None
    reference_time: datetime | str | float | None
    threshold: float | None
    explain: bool


@dataclass(frozen=True, slots=True)
class Why:
    """Why a hit stands where it stands: per channel its rank (1 is best) and its part of the score, and the boosts.

    The parts of a sentence's hit are log-odds and make up the score's; those of bare words add up to the score itself.
    """

    channels: Mapping[str, tuple[int, float]]
    boosts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `text` is the message, the passage of a long message, or the memory's statement.

    `score` lies between 0 and 1, and can be compared between queries of a kind: of a sentence it is the probability
    that the hit is evidence, of a few bare words the plain sum of the channels. `sources` always names what the hit
    stands on; `external_id` and `metadata` are what the caller gave with that message. `note` tells of a message what
    was corrected, or taken back, of what it says; of a passage of a document, what was said that corrects it. `locator`
    is set for passages of documents, and `attachments` for messages that came with some.
    """

    id: str
    kind: str
    text: str
    score: float
    said_at: datetime
    speaker: str
    session: str
    cube: str
    sources: tuple[Source, ...]
    external_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    valid_to: datetime | None = None
    why: Why | None = None
    note: str = ""
    locator: Locator | None = None
    attachments: tuple[Attachment, ...] = ()

    def __repr__(self) -> str:
        return f"<Hit {self.score:.2f} {self.kind} {self.said_at:%Y-%m-%d} {self.speaker}: {self.text[:70]!r}>"


@dataclass(frozen=True, slots=True)
class Results:
    """Hits, best first. `cut` counts those that the threshold took away; `notes` says what the caller should know.

    `confidence` is the probability, 0 to 1, that what was searched holds an answer to the question, where as many
    questions have one as have none; None when nothing is known, as with another embedder than the one that
    comes with Mnemic.
    """

    hits: tuple[Hit, ...]
    cut: int = 0
    notes: tuple[str, ...] = ()
    confidence: float | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]


@dataclass(frozen=True, slots=True)
class Context:
    """Hits packed for a prompt: in time order, each line with date and speaker, never over `budget` tokens.

    `notes` are those of the search.
    """

    text: str
    hits: tuple[Hit, ...]
    tokens: int
    budget: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text
