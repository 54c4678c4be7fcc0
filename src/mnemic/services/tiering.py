"""Short-term to mid-term: pages that short-term memory has no room for join topic segments, in order.

A batch of pages is one transaction and can be repeated: a page that is in a segment is not moved again. What is due is
looked up once for a run, and what a batch needs is read together, so that the work grows with the pages and no faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from itertools import groupby
from typing import Final

import numpy as np

from mnemic.core import segmenting
from mnemic.core.keywords import keywords, stems
from mnemic.core.summary import summarise
from mnemic.core.tiers import overflow
from mnemic.ids import new_id
from mnemic.model.index import Vector
from mnemic.model.memory import Segment
from mnemic.model.message import Page, StoredMessage
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store, Transaction
from mnemic.services.indexing import segment_entry
from mnemic.services.page_vectors import PageVectors
from mnemic.text import terms

BATCH: Final = 32
"""Pages moved in one transaction."""

DRAWN: Final = 100
"""Messages, the newest, that a segment's keywords and summary are drawn from: what a topic of years is about now."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """In how many of the cube's `total` entries each stem stands."""

    frequency: Mapping[str, int]
    total: int


@dataclass(slots=True)
class Draft:
    """A segment while pages join it, with the newest of its messages."""

    segment: Segment
    centroid: Vector
    messages: list[StoredMessage]
    chains: dict[str, str]


class Tiering:
    """Moves the pages of one cube, a batch at a time."""

    def __init__(self, store: Store, clock: Clock, *, capacity: int, quiet: timedelta, threshold: float) -> None:
        self._store = store
        self._clock = clock
        self._capacity = capacity
        self._quiet = quiet
        self._threshold = threshold

    def run(self, cube_key: int) -> Iterator[int]:
        """Move all pages that are due into segments; yield the size of each batch once it is stored."""
        with self._store.read() as tx:
            tx.enter(cube_key)
            due = [page.id for page in self._due(tx, cube_key)]
        for start in range(0, len(due), BATCH):
            yield self._move(cube_key, due[start : start + BATCH])

    def _move(self, cube_key: int, ids: Sequence[str]) -> int:
        with self._store.write() as tx:
            tx.enter(cube_key)
            revision = tx.cubes.touch(cube_key)
            held = tx.pages.get(cube_key, ids)
            due = [held[each] for each in ids if each in held and held[each].segment_id is None]
            if not due:
                return 0  # another run moved them, or they were erased
            for draft in self._join(tx, cube_key, due):
                tx.segments.put(draft.segment, draft.centroid)
                tx.pages.assign(cube_key, draft.segment.id, draft.chains)
                tx.index.remove(cube_key, [draft.segment.id])
                tx.index.add(cube_key, revision, [segment_entry(draft.segment, draft.centroid)])
        return len(due)

    def _due(self, tx: Transaction, cube_key: int) -> list[Page]:
        latest = tx.cubes.latest_said(cube_key)
        if latest is None:
            return []
        latest = min(latest, self._clock.now())  # a message from the future makes no session quiet
        waiting = groupby(tx.pages.unassigned(cube_key), key=lambda page: page.session_id)
        due = [
            page
            for _, pages in waiting
            for page in overflow(list(pages), capacity=self._capacity, now_said=latest, quiet=self._quiet)
        ]
        due.sort(key=lambda page: (page.ended_at, page.session_id, page.position))
        return due

    def _join(self, tx: Transaction, cube_key: int, due: Sequence[Page]) -> list[Draft]:
        messages = tx.pages.messages(cube_key, [page.id for page in due])
        vocabulary = vocabulary_of(tx, cube_key, [message for said in messages.values() for message in said])
        topics = _Topics(tx.segments.list(cube_key), tx.index.no_vector)
        drafts: dict[str, Draft] = {}
        chains: dict[str, str] = {}
        vectors = PageVectors(tx, cube_key)
        vectors.load(due)
        for page in due:
            vector = vectors.in_context(page)
            words = _keywords(messages[page.id], vocabulary)
            found = segmenting.assign(vector, words, topics.matrix(), self._threshold).segment_id
            draft = drafts.get(found or "") or self._draft(tx, page, found, topics.held, vector)
            drafts[draft.segment.id] = draft
            before = vectors.before(page)
            chain = None if before is None else chains.get(before.id, before.chain_id)
            continued = before is not None and chain is not None and _continues(vectors, before, page)
            chains[page.id] = draft.chains[page.id] = chain if continued and chain else page.id
            grow(draft, page, vector, messages[page.id], vocabulary)
            topics.put(draft.segment, draft.centroid)
        for draft in drafts.values():
            if not draft.segment.described:  # a model's words stay until it is asked again, when there is enough new
                draft.segment = replace(draft.segment, summary=summary_of(draft.messages))
        return list(drafts.values())

    @staticmethod
    def _draft(
        tx: Transaction, page: Page, found: str | None, held: Mapping[str, tuple[Segment, Vector]], vector: Vector
    ) -> Draft:
        if found is None:
            started = page.started_at
            segment = Segment(new_id(), page.cube_key, "", (), 0, 0, started, page.ended_at, page.ended_at)
            return Draft(segment, np.zeros_like(vector), [], {})
        segment, centroid = held[found]
        pages = [held_page.id for held_page in tx.pages.of_segment(page.cube_key, found, newest=DRAWN)]
        said = [message for each in tx.pages.messages(page.cube_key, pages).values() for message in each]
        return Draft(segment, centroid, said[-DRAWN:], {})


def grow(draft: Draft, page: Page, vector: Vector, messages: Sequence[StoredMessage], vocabulary: Vocabulary) -> None:
    """Let a page join a segment: its centroid, keywords, span and count follow."""
    segment = draft.segment
    draft.centroid = segmenting.merge_centroid(draft.centroid, segment.pages, vector)
    draft.messages = [*draft.messages, *messages][-DRAWN:]
    draft.segment = replace(
        segment,
        keywords=_keywords(draft.messages, vocabulary),
        pages=segment.pages + 1,
        started_at=min(segment.started_at, page.started_at),
        ended_at=max(segment.ended_at, page.ended_at),
        touched_at=max(segment.touched_at, page.ended_at),
    )


def vocabulary_of(tx: Transaction, cube_key: int, messages: Sequence[StoredMessage]) -> Vocabulary:
    """Return how common the stems of these messages are in the cube."""
    present = sorted({stem for message in messages for stem in terms(message.text)})
    return Vocabulary(*tx.index.frequencies(cube_key, present))


def summary_of(messages: Sequence[StoredMessage]) -> str:
    """Return the extractive summary of a segment's messages."""
    ordered = sorted(messages, key=lambda message: (message.said_at, message.id))
    return summarise([(message.speaker, message.text) for message in ordered])


def _keywords(messages: Sequence[StoredMessage], vocabulary: Vocabulary) -> tuple[str, ...]:
    return keywords(
        [message.text for message in messages],
        frequency=vocabulary.frequency,
        total=vocabulary.total,
        skip={message.speaker for message in messages},
    )


class _Topics:
    """The live segments of a cube as arrays, kept up to date while the pages of a batch join them."""

    def __init__(self, segments: Sequence[tuple[Segment, Vector]], no_vector: Vector) -> None:
        self.held: dict[str, tuple[Segment, Vector]] = {}
        self._places: dict[str, int] = {}
        self._rows = np.zeros((len(segments) + BATCH, len(no_vector)), dtype=np.float32)
        self._stems: list[frozenset[str]] = []
        self._pages: list[int] = []
        for segment, centroid in segments:
            self.put(segment, centroid)

    def put(self, segment: Segment, centroid: Vector) -> None:
        """Take a segment, new or changed."""
        place = self._places.setdefault(segment.id, len(self._places))
        self.held[segment.id] = (segment, centroid)
        self._rows[place] = centroid
        self._stems[place : place + 1] = [_stems_of(segment.keywords)]
        self._pages[place : place + 1] = [segment.pages]

    def matrix(self) -> segmenting.SegmentMatrix:
        """Return the segments as they are now."""
        rows = self._rows[: len(self._places)]
        return segmenting.SegmentMatrix(tuple(self._places), rows, tuple(self._stems), tuple(self._pages))


@lru_cache(maxsize=4_096)
def _stems_of(labels: tuple[str, ...]) -> frozenset[str]:
    """Return the stems of a segment's keywords: each batch compares its pages with all segments."""
    return stems(labels)


def _continues(vectors: PageVectors, last: Page, page: Page) -> bool:
    gap = max(page.started_at - last.ended_at, timedelta())
    return segmenting.chain(vectors.of(last), vectors.of(page), gap)
