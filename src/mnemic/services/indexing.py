"""Index entries of memories and segments: one for each version, so that the past can be searched as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mnemic.model.index import Entry, Vector
from mnemic.model.memory import Memory, Segment, Version
from mnemic.model.moment import to_micros
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Transaction


def memory_entries(memory: Memory, vectors: Mapping[str, Vector]) -> list[Entry]:
    """Return the entries of all versions of a memory; `vectors` has those of the versions that are new."""
    current = memory.current.id
    return [
        Entry(
            kind=memory.kind.value,
            owner=memory.id,
            text=version.text,
            speaker=memory.subject,
            said_at=to_micros(version.valid_from),
            vector=vectors.get(version.id),
            version_id=version.id,
            end=len(version.text),
            valid_to=None if version.valid_to is None else to_micros(version.valid_to),
            live=version.id == current,
        )
        for version in memory.versions
    ]


def segment_entry(segment: Segment, centroid: Vector, *, live: bool = True) -> Entry:
    """Return the entry of a segment: its summary and keywords for the words, its centroid for the meaning."""
    return Entry(
        kind="segment",
        owner=segment.id,
        text=f"{segment.summary}\n{', '.join(segment.keywords)}",
        speaker="",
        said_at=to_micros(segment.started_at),
        vector=centroid,
        end=len(segment.summary),
        live=live,
    )


def unindexed(memories: Sequence[Memory], known: set[str]) -> list[Version]:
    """Return the versions that are not indexed yet."""
    return [version for memory in memories for version in memory.versions if version.id not in known]


def embed_versions(embedder: Embedder, versions: Sequence[Version]) -> dict[str, Vector]:
    """Return the vectors of versions by their ids. Raises `EmbedderError`."""
    if not versions:
        return {}
    vectors = embedder.embed([version.text for version in versions])
    return {version.id: vector for version, vector in zip(versions, vectors, strict=True)}


def put_memory(tx: Transaction, revision: int, memory: Memory, vectors: Mapping[str, Vector]) -> None:
    """Store a memory and bring its entries up to date."""
    tx.memories.put(memory)
    tx.index.sync(memory.cube_key, revision, memory.id, memory_entries(memory, vectors))
