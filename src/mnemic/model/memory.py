"""Long-term memories: derived statements with validity, sources and versions; and the segments of the middle tier."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime

from mnemic.model.document import Locator
from mnemic.model.moment import TimeSpan


class MemoryKind(enum.StrEnum):
    """What a derived statement is."""

    FACT = "fact"
    PREFERENCE = "preference"
    EVENT = "event"
    INSIGHT = "insight"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement taken from one message, before it is reconciled with what is known.

    `attribute` is a dotted name from the profile's tree, such as `home.city` or `preference.food`. `single` says that
    the attribute holds one value at a time (a city), not many (pets). `polarity` is -1 for a denied statement ("I
    don't eat meat anymore"). `time` is what the words say about when it holds or happened; `valid_from` and
    `valid_to` what follows for its validity (`valid_to` only when the words close it). `quote` is the evidence,
    `start:end` its place in the message's text. `confidence` is 0 to 1. `drawn_by` names the model that drew it, and is
    empty for rules; `reason` says why something was concluded that nobody said in so many words.
    """

    kind: MemoryKind
    subject: str
    attribute: str
    value: str
    text: str
    polarity: int
    single: bool
    time: TimeSpan | None
    valid_from: datetime
    valid_to: datetime | None
    confidence: float
    quote: str
    start: int
    end: int
    drawn_by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """What a memory stands on: a message and the words in it. `external_id` is the id that its caller gave it.

    A passage of a document as a source has its `locator`, and no message.

    `holds_from` and `holds_to` are what its words say about validity, so that a late source finds its place among
    the others; None: from when it was said, and without an end.
    """

    message_id: str
    quote: str
    said_at: datetime
    speaker: str = ""
    session: str = ""
    external_id: str | None = None
    holds_from: datetime | None = None
    holds_to: datetime | None = None
    locator: Locator | None = None


class Change(enum.StrEnum):
    """Why a version exists.

    A retracted one says that what stood here never held, a merged one that does not last that another memory says it;
    one that lasts has taken in what others said.
    """

    ADDED = "added"
    REFINED = "refined"
    SUPERSEDED = "superseded"
    EDITED = "edited"
    RESTORED = "restored"
    MERGED = "merged"
    RETRACTED = "retracted"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a memory. It holds from `valid_from` until `valid_to` (None: still).

    `drawn_by` names the model that drew it from the sources, and is empty for rules and for owners; `reason` says why,
    when nobody said it in so many words (an implicit preference).
    """

    id: str
    number: int
    text: str
    value: str
    polarity: int
    valid_from: datetime
    valid_to: datetime | None
    time: TimeSpan | None
    recorded_at: datetime
    confidence: float
    change: Change
    sources: tuple[Source, ...] = ()
    drawn_by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """A derived statement with its versions, ordered by `valid_from`; `current` is the one that holds."""

    id: str
    cube_key: int
    kind: MemoryKind
    subject: str
    attribute: str
    value_key: str
    locked: bool
    created_at: datetime
    versions: tuple[Version, ...]

    def __repr__(self) -> str:
        current = self.current if self.versions else None
        said = f"{current.valid_from:%Y-%m-%d} {self.subject}: {current.text[:70]!r}" if current else self.subject
        return f"<Memory {self.id} {self.kind} {said}>"

    @property
    def current(self) -> Version:
        """The version that holds now: the open one, else the one that held last."""
        live = [version for version in self.versions if version.valid_to is None]
        lasted = [version for version in self.versions if version.valid_to != version.valid_from]
        return (live or lasted or list(self.versions))[-1]

    @property
    def stands(self) -> bool:
        """Whether it says anything: not when all of it was taken back, or merged into another memory."""
        return any(version.valid_to != version.valid_from for version in self.versions)


@dataclass(frozen=True, slots=True)
class Segment:
    """A topic of the middle tier: pages that belong together, with what tells them apart and how warm they are.

    A model may have given it a `title` and its summary, when it had `described` pages; both are 0 and empty otherwise.
    """

    id: str
    cube_key: int
    summary: str
    keywords: tuple[str, ...]
    pages: int
    visits: int
    started_at: datetime
    ended_at: datetime
    touched_at: datetime
    archived: bool = False
    title: str = ""
    described: int = 0
