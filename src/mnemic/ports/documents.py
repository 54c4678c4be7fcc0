"""Documents, their versions and chunks, and which blobs are kept, as the store keeps them. Call `Cubes.touch` first.

Every call is about one cube. What is stored here and what the index holds change in one transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from mnemic.model.attachment import Attachment, AttachmentState
from mnemic.model.document import Chunk, ChunkKind, Document, DocumentState, DocumentVersion
from mnemic.ports.blobs import Blob


class Documents(Protocol):
    """Documents and their versions."""

    def put(self, document: Document) -> None:
        """Store a document (not its versions), new or changed. A name that another has is a `ConflictError`."""
        ...

    def put_version(self, cube_key: int, version: DocumentVersion, *, password: str | None = None) -> None:
        """Store a version, new or changed. A password is kept until the version is ready or has failed."""
        ...

    def password(self, cube_key: int, version_id: str) -> str:
        """Return the password that a version's file is to be opened with; empty when there is none."""
        ...

    def get(self, cube_key: int, ids: Collection[str]) -> Mapping[str, Document]:
        """Return documents by id, with their current and latest versions; what is not there is absent."""
        ...

    def named(self, cube_key: int, name: str) -> Document | None:
        """Return the document of that name."""
        ...

    def list(
        self, cube_key: int, *, state: DocumentState | None = None, after: str | None = None, limit: int = 100
    ) -> Sequence[Document]:
        """Return documents in the order of their ids, after the given one."""
        ...

    def versions(self, cube_key: int, document_id: str) -> Sequence[DocumentVersion]:
        """Return the versions of a document, oldest first."""
        ...

    def due(self, now: datetime, limit: int) -> Sequence[tuple[int, str]]:
        """Return documents (cube key, id) whose address is to be looked at again. Needs `Transaction.enter_all`."""
        ...

    def counts(self, cube_key: int) -> tuple[Mapping[DocumentState, int], int, int]:
        """Return how many documents are in each state, and the chunks and bytes of their current versions."""
        ...

    def remove(self, cube_key: int, ids: Collection[str]) -> Mapping[str, int]:
        """Erase documents with versions and chunks; return the rows by kind. Entries are the index's to remove."""
        ...


class Chunks(Protocol):
    """Chunks, and where they stand in each version."""

    def add(self, version_id: str, chunks: Sequence[Chunk], *, known: Collection[str] = ()) -> None:
        """Store where chunks stand in a version, and those of them that are not `known` by id already."""
        ...

    def get(self, cube_key: int, ids: Collection[str]) -> Mapping[str, Chunk]:
        """Return chunks by id, as they stand in the newest version that has them; one that is ready comes first."""
        ...

    def at(self, cube_key: int, ids: Collection[str], moment: datetime) -> Mapping[str, Chunk]:
        """Return chunks by id, as they stood in the version that held at a moment."""
        ...

    def of_version(
        self, cube_key: int, version_id: str, *, kinds: Collection[ChunkKind] = (), after: int = -1, limit: int = 100
    ) -> Sequence[Chunk]:
        """Return the chunks of a version in the order of their positions, summaries before what they are about.

        All that stands at one position comes together, so that who asks for what is behind it (`after`) misses nothing:
        there may be a few more, or fewer, than `limit`.
        """
        ...

    def around(self, cube_key: int, version_id: str, positions: Collection[int]) -> Sequence[Chunk]:
        """Return the passages at these positions of a version, in order."""
        ...

    def hashes(self, cube_key: int, version_id: str) -> Mapping[str, Sequence[str]]:
        """Return, by hash, the ids of a version's chunks, in the order of their positions."""
        ...

    def ids(self, cube_key: int, document_ids: Collection[str]) -> Sequence[str]:
        """Return the ids of all chunks of documents, in whichever versions they stand."""
        ...

    def clear(self, cube_key: int, version_id: str) -> Sequence[str]:
        """Take all chunks out of a version; erase those that stand in no other, and return their ids.

        Entries of these are the index's to remove.
        """
        ...


class Attachments(Protocol):
    """What came with messages besides words."""

    def put(self, attachments: Sequence[Attachment]) -> None:
        """Store attachments, new or changed."""
        ...

    def of_messages(self, cube_key: int, message_ids: Collection[str]) -> Mapping[str, Sequence[Attachment]]:
        """Return attachments by message, in the order of the parts; messages without any are absent."""
        ...

    def get(self, cube_key: int, ids: Collection[str]) -> Mapping[str, Attachment]:
        """Return attachments by id."""
        ...

    def waiting(
        self, cube_key: int, limit: int, state: AttachmentState = AttachmentState.QUEUED
    ) -> Sequence[Attachment]:
        """Return attachments in a state, the oldest first."""
        ...


class KeptBlobs(Protocol):
    """Which blobs a cube has. A blob without a row may be erased by anybody who finds it an hour old.

    Marked blobs are erased by who holds the cube's lock (`Cubes.touch`), so that who notes one under it can look
    whether it is still there: `mnemic.services.blobs` does both.
    """

    def note(self, cube_key: int, blobs: Collection[Blob], at: datetime) -> None:
        """Note that these blobs are kept, in the transaction that stores what names them; a mark is taken away."""
        ...

    def known(self, cube_key: int, digests: Collection[str]) -> Collection[str]:
        """Return those of these blobs that have a row, marked or not."""
        ...

    def size(self, cube_key: int) -> int:
        """Return the bytes of a cube's blobs."""
        ...

    def count(self, cube_key: int) -> int:
        """Return how many blobs a cube has."""
        ...

    def every(self, cube_key: int) -> Mapping[str, int]:
        """Return the digests and sizes of a cube's blobs, without marked ones."""
        ...

    def doom(self, cube_key: int) -> Sequence[str]:
        """Mark the blobs that no version, attachment or thumbnail names any more to be erased; return all marked ones.

        They are erased after the commit, and their rows then dropped: who dies in between leaves marks, not files.
        """
        ...

    def drop(self, cube_key: int, digests: Collection[str]) -> None:
        """Drop the rows of marked blobs that are erased."""
        ...

    def erased_cubes(self) -> Sequence[tuple[str, datetime]]:
        """Return the ids of erased cubes whose files are still to be erased, and when each was erased."""
        ...

    def drop_erased(self, cube_id: str) -> None:
        """Note that the files of an erased cube are erased too."""
        ...

    def cubes_with_doomed(self) -> Sequence[tuple[int, str]]:
        """Return the cubes (key, id) that have marked blobs. Needs `Transaction.enter_all`."""
        ...
