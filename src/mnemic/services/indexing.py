"""Index entries: of messages one for each passage, of memories one for each version, so that the past is found.

Of a document, each chunk has one entry. It is hidden until its version is published, and follows it from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mnemic.core.chunking import indexed
from mnemic.core.described import read_text
from mnemic.core.extraction.attributes import attribute_of
from mnemic.model.document import Chunk, ChunkKind, DocumentState, DocumentVersion
from mnemic.model.index import CHUNK, SECTION, Entry, Vector
from mnemic.model.memory import Change, Memory, Segment, Version
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.model.moment import to_micros
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Transaction
from mnemic.text import Trait


def indexed_text(attribute: str, text: str) -> str:
    """Return what search reads of a statement: its attribute's label goes in front, so that "pets" finds a cat."""
    try:
        return f"{attribute_of(attribute).label}: {text}"
    except KeyError:  # an attribute outside the tree, such as one that a newer version wrote
        return text


def message_entries(
    message: StoredMessage, spans: Sequence[tuple[int, int]], vectors: Sequence[Vector | None]
) -> list[Entry]:
    """Return the entries of a message: one for each passage, with its vector (None: still to be embedded)."""
    return [
        Entry(
            kind="message",
            owner=message.id,
            text=message.text[start:end],
            speaker=message.speaker,
            said_at=to_micros(message.said_at),
            vector=vector,
            session_id=message.session_id,
            position=message.position,
            start=start,
            end=end,
            traits=Trait.REPLY if message.role is MessageRole.ASSISTANT else 0,
        )
        for (start, end), vector in zip(spans, vectors, strict=True)
    ]


def memory_entries(memory: Memory, vectors: Mapping[str, Vector]) -> list[Entry]:
    """Return the entries of a memory's versions; `vectors` has those of the versions that are new.

    What only says that something was taken back is none that could be found.
    """
    current = memory.current.id if memory.stands else None
    return [
        Entry(
            kind=memory.kind.value,
            owner=memory.id,
            text=indexed_text(memory.attribute, version.text),
            speaker=memory.subject,
            said_at=to_micros(version.valid_from),
            vector=vectors.get(version.id),
            version_id=version.id,
            valid_to=None if version.valid_to is None else to_micros(version.valid_to),
            live=version.id == current,
        )
        for version in _findable(memory)
    ]


def _findable(memory: Memory) -> list[Version]:
    gone = (Change.RETRACTED, Change.MERGED)
    return [each for each in memory.versions if each.change not in gone or each.valid_to != each.valid_from]


def segment_entry(segment: Segment, centroid: Vector, *, live: bool = True) -> Entry:
    """Return the entry of a segment: its summary and keywords for the words, its centroid for the meaning.

    Its time is that of the last page in it: before that, nobody could have summed it up like this. Without a centroid,
    as when the embedder was down, it is embedded later by its summary.
    """
    return Entry(
        kind="segment",
        owner=segment.id,
        text=segment_text(segment),
        speaker="",
        said_at=to_micros(segment.ended_at),
        vector=centroid if centroid.any() else None,
        end=len(segment.summary),
        live=live,
    )


def chunk_entry(chunk: Chunk, since: DocumentVersion, version: DocumentVersion, vector: Vector | None = None) -> Entry:
    """Return the entry of a chunk that stands in `version`, and has stood since the version `since`.

    Passages that are searched are neighbours in their document; those of a version that is not published, or not any
    more, are only neighbours of each other. Summaries stand beside nothing.
    """
    begun = to_micros(since.valid_from or since.stored_at)
    is_summary = chunk.kind in (ChunkKind.SECTION, ChunkKind.DOCUMENT)
    is_ready = version.state is DocumentState.READY
    live = is_ready and version.valid_to is None
    ended = None if live else to_micros(version.valid_to) if is_ready and version.valid_to is not None else begun
    return Entry(
        kind=SECTION if is_summary else CHUNK,
        owner=chunk.id,
        text=chunk_text(chunk),
        speaker="",
        said_at=begun,
        vector=vector,
        session_id=None if is_summary else chunk.document_id if live else version.id,
        position=chunk.position,
        valid_to=ended,
        live=live,
    )


def chunk_text(chunk: Chunk) -> str:
    """Return what search reads of a chunk: the headings that lead to it, and its text."""
    return indexed(chunk.locator.headings, chunk.text)


def identity(entry: Entry) -> tuple[str, str | None, int]:
    """Return what tells an entry apart: its owner, the version it is of, where in the text it starts."""
    return (entry.owner, entry.version_id, entry.start)


def entry_texts(tx: Transaction, cube_key: int, entries: Sequence[Entry]) -> Mapping[tuple[str, str | None, int], str]:
    """Return what search reads of entries, by their identities, from what they stand for; what is gone is left out."""
    chunks = tx.chunks.get(cube_key, {entry.owner for entry in entries if entry.kind in (CHUNK, SECTION)})
    owners = list(dict.fromkeys(entry.owner for entry in entries if entry.owner not in chunks))
    messages = tx.messages.get(cube_key, owners)
    memories = tx.memories.get(cube_key, owners)
    segments = tx.segments.get(cube_key, [owner for owner in owners if owner not in messages and owner not in memories])
    read = _read_texts(tx, cube_key, [entry for entry in entries if entry.version_id and entry.owner in messages])
    found: dict[tuple[str, str | None, int], str] = {}
    for entry in entries:
        if entry.owner in chunks:
            found[identity(entry)] = chunk_text(chunks[entry.owner])
        elif entry.owner in messages:
            text = read.get(entry.version_id, "") if entry.version_id else messages[entry.owner].text
            found[identity(entry)] = text[entry.start : entry.end] if entry.end else text
        elif entry.owner in memories:
            memory = memories[entry.owner]
            versions = {version.id: indexed_text(memory.attribute, version.text) for version in memory.versions}
            found[identity(entry)] = versions.get(entry.version_id or "", "")
        elif entry.owner in segments:
            found[identity(entry)] = segment_text(segments[entry.owner][0])
    return found


def _read_texts(tx: Transaction, cube_key: int, entries: Sequence[Entry]) -> Mapping[str, str]:
    """Return what was read from the attachments that entries of messages are of, by their ids."""
    ids = list(dict.fromkeys(entry.version_id for entry in entries if entry.version_id))
    found = tx.attachments.get(cube_key, ids) if ids else {}
    return {each: read_text(attachment) for each, attachment in found.items()}


def segment_text(segment: Segment) -> str:
    """Return what search reads of a segment; its summary comes first, and the entry's end is where that ends."""
    return f"{segment.summary}\n{', '.join(segment.keywords)}"


def unindexed(memories: Iterable[Memory], known: set[str]) -> dict[str, str]:
    """Return what search will read of the versions that are not indexed yet, by their ids."""
    return {
        version.id: indexed_text(memory.attribute, version.text)
        for memory in memories
        for version in _findable(memory)
        if version.id not in known
    }


def embed_texts(embedder: Embedder, texts: Iterable[str]) -> dict[str, Vector]:
    """Return the vectors of texts by the texts themselves, each embedded once. Raises `EmbedderError`."""
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, embedder.embed(distinct), strict=True)) if distinct else {}


def put_memory(tx: Transaction, revision: int, memory: Memory, vectors: Mapping[str, Vector]) -> None:
    """Store a memory and bring its entries up to date."""
    tx.memories.put(memory)
    tx.index.sync(memory.cube_key, revision, memory.id, memory_entries(memory, vectors))
