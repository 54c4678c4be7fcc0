"""The store: one place for everything Mnemic keeps, read and written in transactions.

Guarantees. A write transaction is all or nothing and durable when its block ends; writers to one cube queue up, in one
process and across processes (from `Cubes.touch` on; on SQLite all writers do, from the beginning). A read transaction
sees one moment. Every call takes a cube key or a scope: there is no call that reaches across cubes. Transactions are
not shared between threads; the store is. Errors of the engine arrive as `StoreError`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemic.model.index import Vector
from mnemic.model.memory import Memory, Segment
from mnemic.model.message import Page, Session, StoredMessage
from mnemic.model.query import Filter
from mnemic.ports.archive import Archive
from mnemic.ports.changes import Changes
from mnemic.ports.counts import Counts, Sizes
from mnemic.ports.cubes import Cubes
from mnemic.ports.documents import Attachments, Chunks, Documents, KeptBlobs
from mnemic.ports.entities import Entities
from mnemic.ports.erasing import Erasing
from mnemic.ports.index import Index as Index
from mnemic.ports.jobs import Jobs, Turns
from mnemic.ports.keys import Keys, KeyUses
from mnemic.ports.near import Near
from mnemic.ports.queue import Bell
from mnemic.ports.records import Audit, Replies
from mnemic.ports.terms import Terms
from mnemic.ports.usage import UsageLog


@dataclass(frozen=True, slots=True)
class SessionTail:
    """The end of a session: what a new message joins. `page` is its last page, None in a new session."""

    session: Session
    page: Page | None


class Messages(Protocol):
    """Sessions, messages and pages."""

    def tail(self, cube_key: int, session: str, *, session_id: str, at: datetime) -> SessionTail:
        """Return the session's end, after creating the session under `session_id` when it is new."""
        ...

    def known(self, cube_key: int, session_id: str, dedupe: Sequence[str]) -> Mapping[str, str]:
        """Return, for those of the keys that the session holds already, the ids of their messages."""
        ...

    def named_at(self, cube_key: int, session_id: str, times: Collection[datetime]) -> Sequence[StoredMessage]:
        """Return the messages of a session that came with an id of their own and were said at one of these times."""
        ...

    def known_in(self, cube_key: int, session: str, dedupe: Sequence[str]) -> Mapping[str, str]:
        """As `known`, by the session's name."""
        ...

    def append(self, messages: Sequence[tuple[StoredMessage, str]], pages: Sequence[Page], session: Session) -> None:
        """Store messages (each with its dedupe key), the pages that they make, and the session's new end."""
        ...

    def get(self, cube_key: int, ids: Sequence[str]) -> Mapping[str, StoredMessage]:
        """Return the messages with these ids, by id; ids of other cubes are absent."""
        ...

    def list(
        self,
        cube_key: int,
        *,
        session: str | None = None,
        after: str | None = None,
        limit: int = 100,
        newest: bool = False,
    ) -> Sequence[StoredMessage]:
        """Return messages in order of id, after the given id; of one session when named. `newest` turns the order."""
        ...

    def around(self, cube_key: int, session_id: str, positions: Sequence[int]) -> Sequence[StoredMessage]:
        """Return the messages at these positions of a session, in order."""
        ...

    def last(self, cube_key: int, session: str, count: int) -> Sequence[StoredMessage]:
        """Return the newest messages of the session with that name, in order; none when there is no such session."""
        ...

    def find_matching(self, cube_key: int, where: Filter) -> set[str]:
        """Return the ids of all messages, memories, segments and chunks of the cube that a filter lets through."""
        ...

    def sessions(self, cube_key: int) -> Sequence[Session]:
        """Return the sessions of a cube, oldest first."""
        ...

    def to_extract(self, cube_key: int, limit: int) -> Sequence[StoredMessage]:
        """Return messages that extraction has not read yet, in order of id."""
        ...

    def set_extracted(self, cube_key: int, ids: Sequence[str]) -> None:
        """Mark messages as read by extraction."""
        ...

    def to_refine(self, cube_key: int, limit: int) -> Sequence[StoredMessage]:
        """Return messages that no language model has read yet: the longest waiting, by session, in order."""
        ...

    def count_to_refine(self, cube_key: int) -> int:
        """Return how many messages no language model has read yet."""
        ...

    def set_refined(self, cube_key: int, ids: Sequence[str], *, given_up: bool = False) -> None:
        """Mark messages as read by a language model, or as given up: it could not make sense of them."""
        ...


class Pages(Protocol):
    """The units that the tiers move."""

    def unassigned(self, cube_key: int) -> Sequence[Page]:
        """Return the pages in no segment, by session, then in order: short-term memory."""
        ...

    def of_segment(self, cube_key: int, segment_id: str, *, newest: int | None = None) -> Sequence[Page]:
        """Return a segment's pages in order of time; with `newest`, at most so many, the last of them."""
        ...

    def messages(self, cube_key: int, page_ids: Sequence[str]) -> Mapping[str, Sequence[StoredMessage]]:
        """Return the messages of these pages, in order, by page id."""
        ...

    def get(self, cube_key: int, ids: Sequence[str]) -> Mapping[str, Page]:
        """Return the pages with these ids, by id; ids of other cubes are absent."""
        ...

    def assign(self, cube_key: int, segment_id: str, chains: Mapping[str, str]) -> None:
        """Put pages (ids, each with its chain's) into a segment; they leave short-term memory."""
        ...

    def set_analysed(self, cube_key: int, segment_id: str) -> None:
        """Mark a segment's pages as promoted to long-term memory: each is promoted once."""
        ...

    def unanalysed(self, cube_key: int) -> Mapping[str, int]:
        """Return, by segment id, how many of its pages were not promoted yet; segments with none are left out."""
        ...

    def at(self, cube_key: int, session_id: str, positions: Sequence[int]) -> Sequence[Page]:
        """Return the pages at these positions of a session, in order."""
        ...


class Segments(Protocol):
    """The middle tier."""

    def list(self, cube_key: int, *, archived: bool = False) -> Sequence[tuple[Segment, Vector]]:
        """Return the segments with their centroids, oldest first; archived ones only when asked for."""
        ...

    def get(self, cube_key: int, ids: Sequence[str]) -> Mapping[str, tuple[Segment, Vector]]:
        """Return segments with their centroids by id, archived or not; ids of other cubes are absent."""
        ...

    def put(self, segment: Segment, centroid: Vector) -> None:
        """Store a segment, new or changed."""
        ...

    def visit(self, cube_key: int, counts: Mapping[str, int], at: datetime) -> None:
        """Add visits to segments, by id."""
        ...

    def of_messages(self, cube_key: int, message_ids: Sequence[str]) -> Mapping[str, Segment]:
        """Return the segments that hold these messages, by message id."""
        ...

    def archive(self, cube_key: int, ids: Sequence[str]) -> None:
        """Take segments out of the tier; they stay searchable on request."""
        ...


class Memories(Protocol):
    """Long-term memory: statements with versions and sources."""

    def get(self, cube_key: int, ids: Sequence[str]) -> Mapping[str, Memory]:
        """Return whole memories by id; ids of other cubes are absent."""
        ...

    def find(self, cube_key: int, subject_key: str, attribute: str) -> Sequence[Memory]:
        """Return the memories about one attribute of one subject."""
        ...

    def list(
        self,
        cube_key: int,
        *,
        kinds: Sequence[str] = (),
        after: str | None = None,
        limit: int = 100,
        standing: bool = False,
        newest: bool = False,
    ) -> Sequence[Memory]:
        """Return memories in order of id, after the given id; with `standing`, those that were not taken back.

        `newest` turns the order.
        """
        ...

    def put(self, memory: Memory) -> None:
        """Store a memory, new or changed, with all versions and sources."""
        ...

    def relate(self, cube_key: int, kind: str, from_id: str, to_id: str, at: datetime) -> None:
        """Store a typed relation between two things; storing it again changes nothing."""
        ...

    def of_messages(self, cube_key: int, message_ids: Sequence[str]) -> Sequence[str]:
        """Return the ids of the memories that stand on any of these messages."""
        ...

    def disown(self, cube_key: int, marks: Collection[str]) -> None:
        """Keep marks of statements that their owner has forgotten."""
        ...

    def disowned(self, cube_key: int, marks: Collection[str]) -> set[str]:
        """Return those of the marks that are of forgotten statements."""
        ...

    def own_again(self, cube_key: int, marks: Collection[str]) -> None:
        """Drop marks: the statements may be read from their messages again."""
        ...

    def relations(self, cube_key: int, ids: Sequence[str]) -> Sequence[tuple[str, str, str]]:
        """Return (kind, from, to) of all relations that touch these ids."""
        ...

    def delete(self, cube_key: int, ids: Sequence[str]) -> int:
        """Erase memories with their versions and sources; return how many there were."""
        ...


class Transaction(Protocol):
    """Everything that one transaction can reach."""

    @property
    def cubes(self) -> Cubes:
        """Cubes and grants."""
        ...

    @property
    def messages(self) -> Messages:
        """Sessions and messages."""
        ...

    @property
    def pages(self) -> Pages:
        """Pages."""
        ...

    @property
    def segments(self) -> Segments:
        """The middle tier."""
        ...

    @property
    def memories(self) -> Memories:
        """Long-term memory."""
        ...

    @property
    def index(self) -> Index:
        """The search index."""
        ...

    @property
    def near(self) -> Near:
        """Vectors of large cubes, where the engine compares them."""
        ...

    @property
    def jobs(self) -> Jobs:
        """Background work."""
        ...

    @property
    def turns(self) -> Turns:
        """The order of all cubes' background work."""
        ...

    @property
    def archive(self) -> Archive:
        """Moving a cube."""
        ...

    @property
    def counts(self) -> Counts:
        """Counts and places, for looking inside."""
        ...

    @property
    def entities(self) -> Entities:
        """Named things."""
        ...

    @property
    def changes(self) -> Changes:
        """Changes of several memories that were made as one."""
        ...

    @property
    def usage(self) -> UsageLog:
        """What language models cost."""
        ...

    @property
    def erasing(self) -> Erasing:
        """Forgetting."""
        ...

    @property
    def terms(self) -> Terms:
        """The full-text index after an upgrade."""
        ...

    @property
    def keys(self) -> Keys:
        """Keys of those who call through a server."""
        ...

    @property
    def key_uses(self) -> KeyUses:
        """How often keys are used."""
        ...

    @property
    def audit(self) -> Audit:
        """Who did what."""
        ...

    @property
    def replies(self) -> Replies:
        """Replies that are given again."""
        ...

    @property
    def documents(self) -> Documents:
        """Documents of knowledge bases."""
        ...

    @property
    def chunks(self) -> Chunks:
        """Their passages."""
        ...

    @property
    def attachments(self) -> Attachments:
        """What came with messages besides words."""
        ...

    @property
    def blobs(self) -> KeptBlobs:
        """Which files are kept."""
        ...

    def finish_model_change(self) -> None:
        """Note that every vector of this store is of the model that it was opened with."""
        ...

    def enter(self, *cube_keys: int) -> None:
        """Let this transaction reach these cubes, besides those that it may reach already.

        The second line of defence: engines with row-level checks show no rows of other cubes. Called by who has looked
        at grants (`services.scoping`), or does upkeep.
        """
        ...

    def enter_all(self) -> None:
        """Let this transaction reach all cubes: for upkeep of the whole store only."""
        ...


class Store(Protocol):
    """Opens transactions."""

    def read(self) -> AbstractContextManager[Transaction]:
        """Open a snapshot for reading."""
        ...

    def write(self) -> AbstractContextManager[Transaction]:
        """Open a write transaction; it commits at the end of the block and vanishes when the block raises."""
        ...

    def entered(self, *cube_keys: int) -> AbstractContextManager[None]:
        """Let all transactions that this thread opens inside the block reach these cubes, as `Transaction.enter`."""
        ...

    @property
    def bell(self) -> Bell:
        """Wakes who waits for jobs, as far as this engine reaches: this process, or all that share a server."""
        ...

    def time(self) -> datetime | None:
        """Return the time of a server that several machines share; None when this machine's clock is everybody's."""
        ...

    def scrub(self) -> bool:
        """Take what was erased out of the engine's logs, after the transaction that erased it.

        False when a reader holds on to it for now: a later call, or closing the store, does it.
        """
        ...

    def check(self) -> Sequence[tuple[str, bool, str]]:
        """Look the store over: (what, whether it is well, what was seen)."""
        ...

    def sizes(self) -> Sizes:
        """Return how much the store holds, for figures; no content is reached by it."""
        ...

    def close(self) -> None:
        """Close the store; calls after it raise `StoreError`."""
        ...
