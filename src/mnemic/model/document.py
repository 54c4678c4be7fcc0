"""Documents of a knowledge base: files, addresses and texts, their versions, and the chunks that they are found by.

A document is known by its name in its cube: adding the same name with other content makes a version. What does not
differ between versions is one chunk, embedded once, that stands in both.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mnemic.model.scope import Cube, Role


class Origin(enum.StrEnum):
    """Where a document comes from."""

    FILE = "file"
    ADDRESS = "address"
    TEXT = "text"


class DocumentState(enum.StrEnum):
    """How far a version is. `ready` and `failed` are final; a version that is not `ready` is not searched."""

    QUEUED = "queued"
    READING = "reading"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """One content of a document.

    `digest` is the SHA-256 of its bytes, in hex; empty while an address is not fetched. `media` is the type that its
    bytes show. `done_pages` of `pages` are read; `embedded` of `chunks` have a vector, and `reused` of these were
    taken over from the version before. It holds from `valid_from` until another took its place (`valid_to`). `seconds`
    has the time of each step. Of one that failed, `error` says why, and `error_page` on which page.
    """

    id: str
    document_id: str
    number: int
    state: DocumentState
    stored_at: datetime
    digest: str = ""
    size: int = 0
    media: str = ""
    title: str = ""
    summary: str = ""
    pages: int = 0
    done_pages: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    ready_at: datetime | None = None
    error: str = ""
    error_page: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Refresh:
    """How an address is kept current: fetched again every so many hours, and what its server said last.

    `found` tells what came of the last look, in words.
    """

    hours: float | None = None
    due: datetime | None = None
    checked_at: datetime | None = None
    etag: str = ""
    modified: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document. `current` is the version that is searched, None before one is ready; `latest` the one added last.

    `address` is the URL, or the path inside a folder that is kept in step; empty for what was handed over.
    """

    id: str
    cube: str
    cube_key: int
    name: str
    origin: Origin
    address: str
    created_at: datetime
    latest: DocumentVersion
    current: DocumentVersion | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    refresh: Refresh = Refresh()
    job: str | None = None

    @property
    def state(self) -> DocumentState:
        """How far the latest version is."""
        return self.latest.state


class ChunkKind(enum.StrEnum):
    """What a chunk is: a passage of some kind, or the summary of a section or of the whole document."""

    PASSAGE = "passage"
    TABLE = "table"
    CODE = "code"
    SECTION = "section"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Locator:
    """Where something stands in a document: what a citation names.

    `headings` lead to it, outermost first. `page` and `last_page` count from 1, `row` (of a table) too; None where
    there are none. `part` is a sheet, a chapter or an attachment. `start:end` are characters of the text that was read.
    """

    document: str
    name: str
    version: int
    headings: tuple[str, ...] = ()
    page: int | None = None
    last_page: int | None = None
    row: int | None = None
    part: str = ""
    start: int = 0
    end: int = 0
    address: str = ""

    def __str__(self) -> str:
        where = [self.name]
        if self.page is not None:
            pages = f"{self.page}" if self.last_page in (None, self.page) else f"{self.page}-{self.last_page}"
            where.append(f"p. {pages}")
        if self.part:
            where.append(self.part)
        if self.row is not None:
            where.append(f"row {self.row}")
        if self.headings:
            where.append(" > ".join(self.headings))
        return ", ".join(where)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document, or a summary, in one of its versions.

    `hash` is that of what search reads of it. `position` counts the passages of a version from 0, in reading order, so
    that the neighbours of one are at `position ± 1`; summaries have the position of the first passage that they are
    about. `parent` is the summary above it. `tokens` is an estimate.
    """

    id: str
    cube_key: int
    document_id: str
    kind: ChunkKind
    text: str
    hash: str
    tokens: int
    position: int
    locator: Locator
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A knowledge base: a cube with documents, as a user sees it. `bound`: searched when the user names no cubes.

    `learns`: what is said in it, or about it, may be remembered in it (`Knowledge.create`).
    """

    cube: Cube
    description: str
    role: Role
    bound: bool
    learns: bool
    documents: int
    chunks: int
    size: int
    states: Mapping[DocumentState, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Synced:
    """What keeping a folder in step came to: documents by what became of them, and what was left out, with why."""

    added: Sequence[Document]
    changed: Sequence[Document]
    same: int
    removed: Sequence[str]
    skipped: Sequence[tuple[str, str]]
