"""Putting files, documents and attachments of an exported cube into a store: the later part of a load.

Files come first, part by part, and are compared with their digests. A document that is here already is left alone with
all that is about it; of one that was on its way, the job begins again. What was read and cut comes as it was.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO, Any, Final, cast

from mnemic.core.archive import Line
from mnemic.errors import InputError
from mnemic.model.archive import Record
from mnemic.model.document import DocumentState, DocumentVersion
from mnemic.model.index import Entry, Vector
from mnemic.model.job import DESCRIBE
from mnemic.model.scope import Cube, CubeKind
from mnemic.ports.blobs import Blob, Blobs
from mnemic.ports.store import Transaction
from mnemic.services.attached import attachment_entries, attachment_spans
from mnemic.services.blobs import BlobKeeper
from mnemic.services.indexing import chunk_entry
from mnemic.services.queueing import enqueue
from mnemic.services.versions import ENDED, try_again

_IN_MEMORY: Final = 4 << 20  # bytes of a file up to which it is not put on disk before it is whole
_BATCH: Final = 500

Vectors = Callable[[Sequence[bytes | None] | None, int], list[Vector | None]]
"""Makes of a record's vectors those that can be used here."""


@dataclass(frozen=True, slots=True)
class Files:
    """Where files go, and what notes them."""

    blobs: Blobs
    keeper: BlobKeeper


class LoadingFiles:
    """Takes the lines of files, documents and attachments, in the order of their kinds, then finishes."""

    def __init__(self, tx: Transaction, cube: Cube, revision: int, files: Files, vectors: Vectors) -> None:
        self._tx = tx
        self._cube = cube
        self._revision = revision
        self._files = files
        self._vectors = vectors
        self.messages: set[str] = set()
        """The messages that were stored by this load: those that were here have their attachments."""
        self.without_vector = 0
        self._coming: tuple[str, int, IO[bytes]] | None = None
        self._renamed: list[str] = []
        self._documents: set[str] = set()
        self._versions: dict[str, DocumentVersion] = {}
        self._chunk_vectors: dict[str, Sequence[bytes | None] | None] = {}
        self._standing: dict[str, tuple[DocumentVersion, DocumentVersion]] = {}

    def take(self, kind: str, lines: Sequence[Line]) -> int:
        """Store what is new of some lines of a kind; return how many. Raises `InputError`."""
        if kind == "blob":
            return sum(self._part(line) for line in lines)
        self._check_whole()
        writers: dict[str, Callable[[Sequence[Line]], int]] = {
            "document": self._write_documents,
            "document_version": self._write_versions,
            "chunk": self._write_chunks,
            "chunk_place": self._write_places,
            "attachment": self._write_attachments,
        }
        return writers[kind](lines)

    def finish(self, now: datetime) -> None:
        """Index what was loaded, and queue what was on its way."""
        self._check_whole()
        self._index_chunks()
        for document in self._tx.documents.get(self._cube.key, self._documents).values():
            if document.latest.state not in ENDED:
                try_again(self._tx, document, now)
        if self._tx.attachments.waiting(self._cube.key, 1):
            enqueue(self._tx, self._cube.key, DESCRIBE, now)

    def close(self) -> None:
        """Let go of a file that did not come whole."""
        if self._coming is not None:
            self._coming[2].close()

    def notes(self) -> Iterator[str]:
        """Say what was noticed."""
        for name in self._renamed:
            yield f"a document {name!r} is here already; the loaded one got another name"

    # -- files -----------------------------------------------------------------------------------------------------

    def _part(self, line: Line) -> bool:
        """Take a part of a file; the last one stores it. Return whether the file is new here."""
        digest, size = str(line.record["digest"]), int(line.record["size"])
        if self._coming is None:
            file = cast("IO[bytes]", tempfile.SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - it gathers parts
            self._coming = (digest, 0, file)
        known, parts, file = self._coming
        if (digest, line.record["part"]) != (known, parts):
            raise line.fault("part", f"is not the one that follows: part {parts} of {known} is missing")
        file.write(line.record["data"])
        if file.tell() > size:
            raise line.fault("data", f"has more bytes than the {size} of the file")
        if file.tell() < size:
            self._coming = (digest, parts + 1, file)
            return self._is_new(digest)
        new = self._is_new(digest)
        self._store(line, digest, file)
        return new

    def _is_new(self, digest: str) -> bool:
        return digest not in self._tx.blobs.known(self._cube.key, [digest])

    def _store(self, line: Line, digest: str, file: IO[bytes]) -> None:
        self._coming = None
        file.seek(0)
        with file:
            blob: Blob = self._files.blobs.put(self._cube.id, cast("Any", file))
        if blob.digest != digest:
            raise line.fault("digest", "is not that of the file's bytes: the file was changed")
        self._files.keeper.note(self._tx, self._cube, [blob], line.record["stored_at"])

    def _check_whole(self) -> None:
        if self._coming is not None:
            digest, parts, _ = self._coming
            raise Line(0, "blob", {}).fault("part", f"{parts} of the file {digest} is missing: the export is not whole")

    # -- documents -------------------------------------------------------------------------------------------------

    def _write_documents(self, lines: Sequence[Line]) -> int:
        """Store documents. Raises `InputError` for a cube in which nobody could look at them or remove them."""
        if self._cube.kind is not CubeKind.KNOWLEDGE:
            told = f"{self._cube.name!r} is no knowledge base, and the file holds documents"
            raise InputError("cube", f"{told}; `knowledge.create` makes one to load them into")
        here = self._here("document", (line.record["id"] for line in lines))
        new = [self._named(line.record) for line in lines if line.record["id"] not in here]
        self._tx.archive.write(self._cube.key, "document", new)
        self._documents.update(str(record["id"]) for record in new)
        return len(new)

    def _named(self, record: Record) -> Record:
        """Give a document a name that is free here."""
        name, number = str(record["name"]), 1
        free = name
        while self._tx.documents.named(self._cube.key, free) is not None:
            free = f"{name} (loaded)" if number == 1 else f"{name} (loaded {number})"
            number += 1
        if free != name:
            self._renamed.append(name)
        return {**record, "name": free}

    def _write_versions(self, lines: Sequence[Line]) -> int:
        new = self._about(lines, "document_id", "document", self._documents)
        for line in new:
            self._check_file(line, "digest")
        records = [line.record for line in new]
        self._tx.archive.write(self._cube.key, "document_version", records)
        self._versions |= {str(record["id"]): _version(record) for record in records}
        return len(records)

    def _write_chunks(self, lines: Sequence[Line]) -> int:
        new = [line.record for line in self._about(lines, "document_id", "document", self._documents)]
        self._tx.archive.write(self._cube.key, "chunk", new)
        self._chunk_vectors |= {str(record["id"]): record["vectors"] for record in new}
        return len(new)

    def _write_places(self, lines: Sequence[Line]) -> int:
        new = self._about(lines, "version_id", "document_version", self._versions.keys())
        for line in new:
            chunk = str(line.record["chunk_id"])
            if chunk not in self._chunk_vectors:
                raise line.fault("chunk_id", f"refers to a chunk {chunk!r} that is not in the file")
            version = self._versions[str(line.record["version_id"])]
            if version.state is DocumentState.READY:
                since, until = self._standing.get(chunk, (version, version))
                self._standing[chunk] = (
                    min(since, version, key=lambda each: each.number),
                    max(until, version, key=lambda each: each.number),
                )
        self._tx.archive.write(self._cube.key, "chunk_place", [line.record for line in new])
        return len(new)

    def _about(self, lines: Sequence[Line], field: str, kind: str, loaded: Iterable[str]) -> list[Line]:
        """Return the lines that are about what was loaded. Raises `InputError` for one that is about nothing here."""
        mine = set(loaded)
        rest = [str(line.record[field]) for line in lines if line.record[field] not in mine]
        here = self._here(kind, rest)
        for line in lines:
            known = str(line.record[field])
            if known not in mine and known not in here:
                raise line.fault(field, f"refers to a {kind} {known!r} that is not in the file")
        return [line for line in lines if line.record[field] in mine]

    def _index_chunks(self) -> None:
        ids = list(self._standing)
        for start in range(0, len(ids), _BATCH):
            some = ids[start : start + _BATCH]
            chunks = self._tx.chunks.get(self._cube.key, some)
            entries = []
            for chunk_id in some:
                since, until = self._standing[chunk_id]
                [vector] = self._vectors(self._chunk_vectors[chunk_id], 1)
                entries.append(chunk_entry(chunks[chunk_id], since, until, vector))
            self._add(entries)

    # -- attachments -----------------------------------------------------------------------------------------------

    def _write_attachments(self, lines: Sequence[Line]) -> int:
        new = self._about(lines, "message_id", "message", self.messages)
        for line in new:
            for field in ("digest", "thumbnail"):
                self._check_file(line, field)
        records = {str(line.record["id"]): line.record for line in new}
        self._tx.archive.write(self._cube.key, "attachment", list(records.values()))
        attachments = self._tx.attachments.get(self._cube.key, records)
        messages = self._tx.messages.get(self._cube.key, [each.message_id for each in attachments.values()])
        for attachment in attachments.values():
            spans = attachment_spans(attachment)
            vectors = self._vectors(records[attachment.id]["vectors"], len(spans))
            self._add(attachment_entries(messages[attachment.message_id], attachment, spans, vectors))
        return len(records)

    def _check_file(self, line: Line, field: str) -> None:
        digest = str(line.record[field])
        if digest and self._is_new(digest):
            raise line.fault(field, f"names a file {digest!r} that is not in the export")

    def _add(self, entries: Sequence[Entry]) -> None:
        self.without_vector += sum(entry.vector is None for entry in entries)
        self._tx.index.add(self._cube.key, self._revision, entries)

    def _here(self, kind: str, ids: Iterable[str]) -> set[str]:
        return self._tx.archive.taken(self._cube.key, kind, list(dict.fromkeys(ids)))


def _version(record: Record) -> DocumentVersion:
    """Return as much of a version as its entries need."""
    bare = DocumentVersion(
        record["id"], record["document_id"], record["number"], DocumentState(record["state"]), record["stored_at"]
    )
    return replace(bare, valid_from=record["valid_from"], valid_to=record["valid_to"])
