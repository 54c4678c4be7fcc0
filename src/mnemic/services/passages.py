"""Passages of documents as hits: what they say, where it stands, and since when their document says so."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mnemic.core.passages import quote_of
from mnemic.model.document import Chunk, ChunkKind, Document, DocumentVersion
from mnemic.model.index import CHUNK, SECTION
from mnemic.model.memory import Source
from mnemic.model.query import Hit, Why
from mnemic.model.scope import Cube
from mnemic.ports.store import Transaction

_SUMMARIES = (ChunkKind.SECTION, ChunkKind.DOCUMENT)


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk with its document, and the version in which it stands."""

    chunk: Chunk
    document: Document
    version: DocumentVersion

    @property
    def since(self) -> datetime:
        """From when on the document says so."""
        return self.version.valid_from or self.version.stored_at


def passages_of(tx: Transaction, cube: Cube, ids: Collection[str], at: datetime | None) -> Mapping[str, Found]:
    """Return chunks by id, as they stand now, or stood at a moment; those that are gone are absent."""
    if not ids:
        return {}
    chunks = tx.chunks.get(cube.key, ids) if at is None else tx.chunks.at(cube.key, ids, at)
    documents = tx.documents.get(cube.key, {chunk.document_id for chunk in chunks.values()})
    versions: dict[tuple[str, int], DocumentVersion] = {}
    for document in documents.values():
        known = [each for each in (document.latest, document.current) if each is not None]
        wanted = {chunk.locator.version for chunk in chunks.values() if chunk.document_id == document.id}
        if not wanted <= {each.number for each in known}:
            known.extend(tx.documents.versions(cube.key, document.id))
        versions |= {(document.id, each.number): each for each in known}
    found = {}
    for id_, chunk in chunks.items():
        version = versions.get((chunk.document_id, chunk.locator.version))
        if version is not None:
            found[id_] = Found(chunk, documents[chunk.document_id], version)
    return found


def around(tx: Transaction, cube: Cube, found: Found, places: Sequence[int]) -> list[Found]:
    """Return the passages of the same version so many places before (-1) or behind (1) a passage, in order."""
    wanted = [position for position in (found.chunk.position + place for place in places) if position >= 0]
    chunks = tx.chunks.around(cube.key, found.version.id, wanted)
    return [Found(chunk, found.document, found.version) for chunk in chunks]


def passage_hit(found: Found, cube: Cube, score: float, stems: Collection[str], why: Why | None = None) -> Hit:
    """Return a chunk as a hit that quotes what fits a question's stems best.

    Its metadata has what the caller gave with the document and, above that, where the passage stands.
    """
    chunk, at = found.chunk, found.chunk.locator
    quote = quote_of(chunk, stems)
    facts: dict[str, Any] = {
        "document": chunk.document_id, "name": at.name, "version": at.version, "position": chunk.position,
        "passage": chunk.kind.value, "page": at.page, "last_page": at.last_page, "row": quote.locator.row,
        "part": at.part, "headings": list(at.headings), "address": at.address, "title": found.version.title,
    }  # fmt: skip
    told = {name: value for name, value in facts.items() if value not in (None, "", [])}
    return Hit(
        id=chunk.id,
        kind=SECTION if chunk.kind in _SUMMARIES else CHUNK,
        text=chunk.text,
        score=score,
        said_at=found.since,
        speaker="",
        session="",
        cube=cube.id,
        sources=(Source("", quote.text, found.since, locator=quote.locator),),
        metadata={**found.document.metadata, **told},
        valid_to=found.version.valid_to,
        why=why,
        locator=at,
    )
