"""Putting the records of an exported cube into a store, a batch at a time, inside one transaction.

Ids stay: they are unique inside their cube. What is there already is counted and left alone, so that loading a file
twice stores nothing twice. Stores from before schema 0006 may hold what was loaded under ids derived from those in the
file (`moved_id`); that is known again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import numpy as np

from mnemic.core.archive import Header, Line, decode, moved_id
from mnemic.errors import EmbedderError, InputError
from mnemic.model.archive import KINDS, LAYOUT, SHELVED, Record
from mnemic.model.index import Vector
from mnemic.model.job import EMBED, ORGANIZE
from mnemic.model.memory import Change, Memory, MemoryKind, Segment, Source, Version
from mnemic.model.receipt import Imported
from mnemic.model.scope import Cube
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Transaction
from mnemic.services.indexing import embed_texts, message_entries, put_memory, segment_entry
from mnemic.services.loading_files import Files, LoadingFiles
from mnemic.services.queueing import enqueue
from mnemic.text import passages

_log = logging.getLogger(__name__)

BATCH: Final = 500
"""Records written at a time."""

_THINGS: Final = ("memory", "segment", "message")
"""What a relation may stand between."""


class Loading:
    """One load: takes the lines after the header in order, then finishes."""

    def __init__(
        self, tx: Transaction, cube: Cube, revision: int, embedder: Embedder, header: Header, files: Files
    ) -> None:
        self._tx = tx
        self._cube = cube
        self._revision = revision
        self._embedder = embedder
        self._header = header
        self._same_model = (header.model, header.width) == (embedder.name, embedder.width)
        self._shelf = LoadingFiles(tx, cube, revision, files, self._vectors)
        self._names = {session.name for session in tx.messages.sessions(cube.key)}
        self._waiting: list[Line] = []
        self._seen: Counter[str] = Counter()
        self._stored: Counter[str] = Counter()
        self._unread = False
        self._without_vector = 0
        self._renamed: list[str] = []

    def take(self, number: int, value: Mapping[str, Any]) -> None:
        """Check a line and keep it until there are enough of its kind. Raises `InputError`."""
        line = decode(number, value)
        last = self._waiting[-1].kind if self._waiting else KINDS[0]
        if self._waiting and (line.kind != last or len(self._waiting) >= (1 if last == "blob" else BATCH)):
            self._write()
        latest = max((KINDS.index(kind) for kind in self._seen), default=0)
        if KINDS.index(line.kind) < latest:
            raise line.fault("type", f"a {line.kind} comes after a {KINDS[latest]}; the order is {', '.join(KINDS)}")
        self._seen[line.kind] += 1
        self._waiting.append(line)

    def finish(self, now: datetime) -> Imported:
        """Write what waits, and the jobs that are needed. Raises `InputError` when the file ends too early."""
        self._write()
        self._shelf.finish(now)
        self._without_vector += self._shelf.without_vector
        for kind, count in self._header.counts.items():
            if self._seen[kind] != count:
                raise InputError(
                    "lines",
                    f"hold {self._seen[kind]} records of type {kind}, and the header says {count}: the file is not "
                    "whole; nothing was stored",
                )
        self._tx.archive.settle(self._cube.key)
        for kind, needed in ((EMBED, self._without_vector > 0), (ORGANIZE, self._unread)):
            if needed:
                enqueue(self._tx, self._cube.key, kind, now)
        skipped = sum(self._seen.values()) - sum(self._stored.values())
        told = [kind for kind in KINDS if kind not in SHELVED or self._seen[kind]]
        return Imported({kind: self._stored[kind] for kind in told}, skipped, tuple(self._notes()))

    def close(self) -> None:
        """Let go of what is held, however the load ended."""
        self._shelf.close()

    def _notes(self) -> Iterable[str]:
        if self._without_vector:
            yield f"{self._without_vector} passages came without a vector of {self._embedder.name}; a job embeds them"
        for name in self._renamed:
            yield f"a session {name!r} is here already; the loaded one got another name"
        yield from self._shelf.notes()

    def _write(self) -> None:
        lines, self._waiting = self._waiting, []
        if not lines:
            return
        kind = lines[0].kind
        if kind == "relation":
            self._write_relations(lines)
            return
        if kind in SHELVED:
            self._stored[kind] += self._shelf.take(kind, lines)
            return
        fresh = self._fresh(kind, lines)
        writers = {"memory": self._write_memories, "segment": self._write_segments, "entity": self._write_entities}
        writers.get(kind, self._write_rows)(kind, self._pointed(kind, fresh))

    def _fresh(self, kind: str, lines: Sequence[Line]) -> list[Line]:
        """Return the lines of things that are not here yet."""
        ids = [str(line.record["id"]) for line in lines]
        here = self._taken(kind, ids)
        fresh: list[Line] = []
        for line, known in zip(lines, ids, strict=True):
            if self._means(known, here) is None:
                here.add(known)
                fresh.append(line)
        return fresh

    def _taken(self, kind: str, ids: Iterable[str]) -> set[str]:
        known = list(dict.fromkeys(ids))
        moved = [moved_id(each, self._cube.id) for each in known]
        return self._tx.archive.taken(self._cube.key, kind, [*known, *moved])

    def _pointed(self, kind: str, lines: list[Line]) -> list[Line]:
        """Let records refer to what their ids mean here. Raises `InputError` for an id that means nothing."""
        for field in LAYOUT[kind]:
            if not field.to:
                continue
            held = [str(line.record[field.name]) for line in lines if line.record[field.name] is not None]
            here = self._taken(field.to, held)
            for place, line in enumerate(lines):
                known = line.record[field.name]
                if known is not None:
                    found = self._means(str(known), here)
                    if found is None:
                        raise line.fault(field.name, f"refers to a {field.to} {known!r} that is not in the file")
                    lines[place] = replace(line, record={**line.record, field.name: found})
        return lines

    def _means(self, known: str, here: set[str]) -> str | None:
        moved = moved_id(known, self._cube.id)
        return known if known in here else moved if moved in here else None

    def _write_rows(self, kind: str, lines: Sequence[Line]) -> None:
        records = [line.record for line in lines]
        if kind == "session":
            records = [self._named(record) for record in records]
        stored = self._tx.archive.write(self._cube.key, kind, records)
        self._stored[kind] += len(stored)
        if kind == "message":
            self._shelf.messages.update(stored)
            self._index_messages({str(line.record["id"]): line.record for line in lines}, stored)

    def _named(self, record: Record) -> Record:
        """Give a session a name that is free here."""
        name, number = str(record["name"]), 1
        free = name
        while free in self._names:
            free = f"{name} (loaded)" if number == 1 else f"{name} (loaded {number})"
            number += 1
        self._names.add(free)
        if free != name:
            self._renamed.append(name)
        return {**record, "name": free}

    def _index_messages(self, records: Mapping[str, Record], stored: Sequence[str]) -> None:
        messages = self._tx.messages.get(self._cube.key, stored)
        entries = []
        for message_id in stored:
            message = messages[message_id]
            spans = passages(message.text)
            vectors = self._vectors(records[message_id]["vectors"], len(spans))
            entries += message_entries(message, spans, vectors)
            self._unread = self._unread or not records[message_id]["extracted"]
        self._without_vector += sum(entry.vector is None for entry in entries)
        self._tx.index.add(self._cube.key, self._revision, entries)

    def _vectors(self, given: Sequence[bytes | None] | None, count: int) -> list[Vector | None]:
        """Return the vectors of a message's passages; None for each that cannot be used here."""
        if given is None or len(given) != count:
            return [None] * count
        return [self._vector(each) for each in given]

    def _vector(self, data: bytes | None) -> Vector | None:
        if data is None or not self._same_model or len(data) != 2 * self._header.width:
            return None
        vector = np.frombuffer(data, dtype="<f2").astype(np.float32)
        return vector if bool(np.isfinite(vector).all()) else None

    def _write_segments(self, kind: str, lines: Sequence[Line]) -> None:
        segments = [_segment(self._cube.key, line.record) for line in lines]
        centroids = self._centroids(segments, [line.record["centroid"] for line in lines])
        for segment, centroid in zip(segments, centroids, strict=True):
            self._tx.segments.put(segment, centroid)
        pairs = zip(segments, centroids, strict=True)
        entries = [segment_entry(segment, centroid, live=not segment.archived) for segment, centroid in pairs]
        self._without_vector += sum(entry.vector is None for entry in entries)
        self._tx.index.add(self._cube.key, self._revision, entries)
        self._stored[kind] += len(segments)

    def _centroids(self, segments: Sequence[Segment], data: Sequence[bytes]) -> list[Vector]:
        """Return the centroids; of another embedder's, the summaries' vectors in their place."""
        if self._same_model and all(len(each) == 4 * self._header.width for each in data):
            found = [np.frombuffer(each, dtype="<f4").astype(np.float32) for each in data]
            if all(bool(np.isfinite(each).all()) for each in found):
                return found
        try:
            vectors = embed_texts(self._embedder, [segment.summary for segment in segments])
        except EmbedderError as error:
            _log.warning("segments_without_centroid", extra={"reason": str(error)})
            return [self._tx.index.no_vector for _ in segments]
        return [vectors[segment.summary] for segment in segments]

    def _write_memories(self, kind: str, lines: Sequence[Line]) -> None:
        versions_of = [version for line in lines for version in line.record["versions"]]
        here = self._taken("message", [each["message_id"] for version in versions_of for each in version["sources"]])
        for line in lines:
            versions = self._versions(line, here)
            vectors = [self._vector(each["vector"]) for each in line.record["versions"]]
            known = {each.id: vector for each, vector in zip(versions, vectors, strict=True) if vector is not None}
            self._without_vector += len(versions) - len(known)
            put_memory(self._tx, self._revision, _memory(self._cube.key, line.record, versions), known)
        self._stored[kind] += len(lines)

    def _versions(self, line: Line, here: set[str]) -> list[Version]:
        if not line.record["versions"]:
            raise line.fault("versions", "is empty; a memory has at least one")
        versions: list[Version] = []
        for place, record in enumerate(line.record["versions"]):
            sources = []
            for number, source in enumerate(record["sources"]):
                found = self._means(source["message_id"], here)
                if found is None:
                    raise line.fault(
                        f"versions[{place}].sources[{number}].message_id",
                        f"refers to a message {source['message_id']!r} that is not in the file",
                    )
                sources.append({**source, "message_id": found})
            versions.append(_version(record, sources))
        return versions

    def _write_entities(self, kind: str, lines: Sequence[Line]) -> None:
        here = self._taken("message", [each["message_id"] for line in lines for each in line.record["mentions"]])
        for line in lines:
            mentions: dict[str, str] = {}
            for number, each in enumerate(line.record["mentions"]):
                found = self._means(each["message_id"], here)
                if found is None:
                    raise line.fault(
                        f"mentions[{number}].message_id",
                        f"refers to a message {each['message_id']!r} that is not in the file",
                    )
                mentions[found] = each["quote"]
            known = self._tx.entities.note(
                self._cube.key, line.record["name"], line.record["kind"], mentions,
                entity_id=line.record["id"], at=line.record["created_at"],
            )  # fmt: skip
            self._stored[kind] += known == line.record["id"]

    def _write_relations(self, lines: Sequence[Line]) -> None:
        ends = [str(line.record[name]) for line in lines for name in ("from_id", "to_id")]
        here = set[str]().union(*(self._taken(kind, ends) for kind in _THINGS))
        for line in lines:
            found = [self._means(str(line.record[name]), here) for name in ("from_id", "to_id")]
            for name, end in zip(("from_id", "to_id"), found, strict=True):
                if end is None:
                    raise line.fault(name, f"refers to {line.record[name]!r}, which is not in the file")
            held = self._tx.memories.relations(self._cube.key, [str(found[0])])
            if (line.record["kind"], *found) in held:
                continue
            self._tx.memories.relate(
                self._cube.key, line.record["kind"], str(found[0]), str(found[1]), line.record["created_at"]
            )
            self._stored["relation"] += 1


def _segment(cube_key: int, record: Record) -> Segment:
    return Segment(
        id=record["id"],
        cube_key=cube_key,
        summary=record["summary"],
        keywords=tuple(record["keywords"]),
        pages=record["pages"],
        visits=record["visits"],
        started_at=record["started_at"],
        ended_at=record["ended_at"],
        touched_at=record["touched_at"],
        archived=record["archived"],
        title=record["title"] or "",
        described=record["described"] or 0,
    )


def _memory(cube_key: int, record: Record, versions: Sequence[Version]) -> Memory:
    return Memory(
        id=record["id"],
        cube_key=cube_key,
        kind=MemoryKind(record["kind"]),
        subject=record["subject"],
        attribute=record["attribute"],
        value_key=record["value_key"],
        locked=record["locked"],
        created_at=record["created_at"],
        versions=tuple(versions),
    )


def _version(record: Record, sources: Sequence[Record]) -> Version:
    return Version(
        id=record["id"],
        number=record["number"],
        text=record["text"],
        value=record["value"],
        polarity=record["polarity"],
        valid_from=record["valid_from"],
        valid_to=record["valid_to"],
        time=record["time"],
        recorded_at=record["recorded_at"],
        confidence=record["confidence"],
        change=Change(record["change"]),
        drawn_by=record["drawn_by"] or "",
        reason=record["reason"] or "",
        sources=tuple(
            Source(
                each["message_id"],
                each["quote"],
                record["valid_from"],  # the message has the time; this one is not stored
                holds_from=each["holds_from"],
                holds_to=each["holds_to"],
            )
            for each in sources
        ),
    )
