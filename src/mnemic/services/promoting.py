"""Mid-term to long-term: warm segments become insights, cold ones beyond capacity are archived, visits are counted.

Promotion takes every segment that is warm enough and has pages that were not analysed yet; each page counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from mnemic.core.heat import Heat, HeatWeights, coldest, heat, promotable
from mnemic.core.insights import ATTRIBUTE, insight
from mnemic.ids import new_id
from mnemic.model.index import Vector
from mnemic.model.job import ORGANIZE
from mnemic.model.memory import Change, Memory, MemoryKind, Segment, Source, Version
from mnemic.model.message import StoredMessage
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.indexing import indexed_text, put_memory, segment_entry
from mnemic.services.queueing import enqueue
from mnemic.text import shorten

DERIVED: Final = "derived-from"
"""The relation of an insight to its segment."""

_LOOKED_AT: Final = 300
"""Pages, the newest, that an insight is drawn from."""

_EVIDENCE: Final = 12
"""Messages that an insight cites at most: the newest of each page."""


class Promoting:
    """Promotes and archives the segments of one cube."""

    def __init__(
        self, store: Store, embedder: Embedder, clock: Clock, *, threshold: float, capacity: int, weights: HeatWeights
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._threshold = threshold
        self._capacity = capacity
        self._weights = weights

    def run(self, cube_key: int) -> Iterator[int]:
        """Promote every segment that is due, each in a transaction; yield 1 for each once it is stored."""
        with self._store.read() as tx:
            tx.enter(cube_key)
            due = self._due(tx, cube_key, self._clock.now())
        for segment_id in due:
            self._promote(cube_key, segment_id)
            yield 1

    def _promote(self, cube_key: int, segment_id: str) -> None:
        """Say what a segment tells; what is said is decided by what is there when it is written, not when embedded."""
        now = self._clock.now()
        with self._store.read() as tx:
            tx.enter(cube_key)
            renewed = _renewed(tx, cube_key, segment_id, now)
        vectors = self._embedded(renewed, {})
        with self._store.write() as tx:
            tx.enter(cube_key)
            revision = tx.cubes.touch(cube_key)
            renewed = _renewed(tx, cube_key, segment_id, now)
            vectors = self._embedded(renewed, vectors)
            if renewed is not None:
                memory, version = renewed
                put_memory(tx, revision, memory, {version.id: vectors[version.text]})
                tx.memories.relate(cube_key, DERIVED, memory.id, segment_id, now)
            tx.pages.set_analysed(cube_key, segment_id)

    def _embedded(self, renewed: tuple[Memory, Version] | None, known: Mapping[str, Vector]) -> Mapping[str, Vector]:
        """Return the vector of a new version by its text; one that is known is not asked for again."""
        if renewed is None or renewed[1].text in known:
            return known
        text = renewed[1].text
        return {text: self._embedder.embed([indexed_text(ATTRIBUTE, text)])[0]}

    def archive(self, cube_key: int) -> int:
        """Take the coldest segments out of the tier when it is over capacity; return how many."""
        now = self._clock.now()
        with self._store.read() as tx:
            tx.enter(cube_key)
            if not coldest([segment for segment, _ in tx.segments.list(cube_key)], now, self._capacity, self._weights):
                return 0
        with self._store.write() as tx:
            tx.enter(cube_key)
            revision = tx.cubes.touch(cube_key)
            held = {segment.id: (segment, centroid) for segment, centroid in tx.segments.list(cube_key)}
            cold = coldest([segment for segment, _ in held.values()], now, self._capacity, self._weights)
            tx.segments.archive(cube_key, [segment.id for segment in cold])
            for segment in cold:
                tx.index.remove(cube_key, [segment.id])
                archived = segment_entry(segment, held[segment.id][1], live=False)
                tx.index.add(cube_key, revision, [archived])
        return len(cold)

    def count_visits(self, visits: Mapping[int, Sequence[Sequence[str]]]) -> None:
        """Count the visits of searches: by cube key, the messages that each search has found.

        A search visits a segment once, however many of its messages it finds.
        """
        if not visits:
            return
        now = self._clock.now()
        with self._store.write() as tx:
            tx.enter(*visits)
            for cube_key, searches in sorted(visits.items()):  # always in one order, so that no two wait for each other
                found = list(dict.fromkeys(message_id for each in searches for message_id in each))
                held = tx.segments.of_messages(cube_key, found)
                visited = [{held[message_id].id for message_id in each if message_id in held} for each in searches]
                counts = Counter(segment_id for each in visited for segment_id in each)
                tx.segments.visit(cube_key, counts, now)
                if counts and self._due(tx, cube_key, now):  # the visits have warmed a topic enough
                    enqueue(tx, cube_key, ORGANIZE, now)

    def _due(self, tx: Transaction, cube_key: int, now: datetime) -> list[str]:
        waiting = tx.pages.unanalysed(cube_key)
        if not waiting:
            return []
        return [
            segment.id
            for segment, _ in tx.segments.list(cube_key)
            if promotable(self._heat(segment, now), waiting.get(segment.id, 0), self._threshold)
        ]

    def _heat(self, segment: Segment, now: datetime) -> Heat:
        return heat(segment.visits, segment.pages, segment.touched_at, now, self._weights)


def _renewed(tx: Transaction, cube_key: int, segment_id: str, now: datetime) -> tuple[Memory, Version] | None:
    """Return a segment's insight with its new version; None when there is nothing to say.

    It holds from when the last of what it tells was said, so that the past is not told what came later.
    """
    held_segment = tx.segments.get(cube_key, [segment_id]).get(segment_id)
    if held_segment is None:
        return None
    segment = held_segment[0]
    pages = [page.id for page in tx.pages.of_segment(segment.cube_key, segment.id, newest=_LOOKED_AT)]
    said = tx.pages.messages(segment.cube_key, pages)
    found = insight(segment, list(said.values()))
    held = [from_id for kind, from_id, to_id in tx.memories.relations(segment.cube_key, [segment.id])
            if kind == DERIVED and to_id == segment.id]  # fmt: skip
    known = next(iter(tx.memories.get(segment.cube_key, held).values()), None)
    if found is None or (known is not None and (known.locked or not known.stands or known.current.text == found.text)):
        return None
    version = Version(
        id=new_id(),
        number=len(known.versions) + 1 if known else 1,
        text=found.text,
        value=found.value,
        polarity=1,
        valid_from=segment.ended_at,
        valid_to=None,
        time=None,
        recorded_at=now,
        confidence=found.confidence,
        change=Change.REFINED if known else Change.ADDED,
        sources=_evidence(said),
    )
    if known is None:
        memory = Memory(
            new_id(), segment.cube_key, MemoryKind.INSIGHT, found.subject, ATTRIBUTE, segment.id,
            locked=False, created_at=now, versions=(version,),
        )  # fmt: skip
        return memory, version
    closed = [
        each if each.valid_to is not None else replace(each, valid_to=max(segment.ended_at, each.valid_from))
        for each in known.versions
    ]
    renewed = Memory(
        known.id, known.cube_key, known.kind, found.subject, known.attribute, known.value_key,
        locked=False, created_at=known.created_at, versions=(*closed, version),
    )  # fmt: skip
    return renewed, version


def _evidence(said: Mapping[str, Sequence[StoredMessage]]) -> tuple[Source, ...]:
    firsts = [messages[0] for messages in said.values() if messages][-_EVIDENCE:]
    return tuple(
        Source(
            message.id, shorten(message.text, 160), message.said_at, message.speaker, message.session,
            message.external_id,
        )
        for message in firsts
    )  # fmt: skip
