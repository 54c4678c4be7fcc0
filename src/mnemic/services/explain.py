"""Looking inside: why something is in memory, what a cube holds, its sessions and its jobs. Nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mnemic.core.heat import HeatWeights, heat
from mnemic.core.intake import check_id
from mnemic.model.entity import Entity
from mnemic.model.item import Explanation, Stats, Warm
from mnemic.model.language import Usage
from mnemic.model.memory import Memory
from mnemic.model.message import Session, StoredMessage
from mnemic.model.moment import midnight
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.counts import Totals
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.attached import with_attachments
from mnemic.services.curate import find_item
from mnemic.services.hits import source_of
from mnemic.services.scoping import Scoping
from mnemic.services.targets import readable

SHORT_TERM, MID_TERM, LONG_TERM = "short-term", "mid-term", "long-term"

_NOTHING = Totals(0, 0, 0, 0, 0, {}, 0, {}, 0)


class Explain:
    """The use cases of `explain`, `stats`, `sessions` and of listing jobs."""

    def __init__(
        self, store: Store, embedder: Embedder, clock: Clock, scoping: Scoping, *, capacity: int, weights: HeatWeights
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._scoping = scoping
        self._capacity = capacity
        self._weights = weights

    def explain(self, item_id: object, *, user: object, cube: object = None) -> Explanation:
        """Return why something is in memory; see `Memory.explain`."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            item = find_item(tx, target, check_id(item_id, "id"))
            if isinstance(item, Memory):
                return _of_memory(tx, item)
            return _of_message(tx, with_attachments(tx, item.cube_key, [item])[0])

    def stats(self, *, user: object, cube: object = None) -> Stats:
        """Return the counts of a cube; see `Memory.stats`."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            totals = _NOTHING if target is None else tx.counts.totals(target.key)
            states, chunks, _ = ({}, 0, 0) if target is None else tx.documents.counts(target.key)
            return Stats(
                messages=totals.messages,
                sessions=totals.sessions,
                pages=totals.pages,
                short_term=totals.short_term,
                capacity=self._capacity,
                segments=self._segments(tx, target),
                archived=totals.archived,
                memories=totals.memories,
                superseded=totals.superseded,
                jobs=totals.jobs,
                bytes_on_disk=tx.counts.bytes_on_disk(),
                embedder=self._embedder.name,
                latest_said=None if target is None else tx.cubes.latest_said(target.key),
                notes=_notes(target, totals),
                usage=Usage() if target is None else tx.usage.usage(target.key, midnight(self._clock.now())),
                documents=sum(states.values()),
                chunks=chunks,
                files=0 if target is None else tx.blobs.count(target.key),
                file_bytes=0 if target is None else tx.blobs.size(target.key),
            )

    def sessions(self, *, user: object, cube: object = None) -> Sequence[Session]:
        """Return the sessions of a cube, oldest first, with the number of messages that they hold now."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            if target is None:
                return ()
            held = tx.counts.by_session(target.key)
            return tuple(replace(each, messages=held.get(each.id, 0)) for each in tx.messages.sessions(target.key))

    def entities(self, *, user: object, cube: object = None) -> Sequence[Entity]:
        """Return the entities of a cube, the most mentioned first."""
        with self._store.read() as tx:
            target = readable(self._scoping, tx, user, cube)
            return () if target is None else tuple(tx.entities.list(target.key))

    def _segments(self, tx: Transaction, cube: Cube | None) -> tuple[Warm, ...]:
        """Return the segments of the middle tier with their heat now, the warmest first."""
        now = self._clock.now()
        found: list[Warm] = []
        for segment, _ in tx.segments.list(cube.key) if cube else ():
            warmth = heat(segment.visits, segment.pages, segment.touched_at, now, self._weights)
            found.append(Warm(segment, warmth.total, warmth.visits, warmth.pages, warmth.recency))
        return tuple(sorted(found, key=lambda warm: (-warm.heat, warm.segment.id)))


def _notes(cube: Cube | None, totals: Totals) -> tuple[str, ...]:
    if cube is None:
        return ("nothing is stored here yet",)
    if totals.given_up:
        return (f"{totals.given_up} messages the language model could not read; `rebuild` has them read again",)
    return ()


def _of_memory(tx: Transaction, memory: Memory) -> Explanation:
    relations = tuple(tx.memories.relations(memory.cube_key, [memory.id]))
    return Explanation(memory, LONG_TERM, memory.current.sources, None, (), relations)


def _of_message(tx: Transaction, message: StoredMessage) -> Explanation:
    segment = None if message.page_id is None else tx.counts.segment_of(message.cube_key, message.page_id)
    ids = tx.memories.of_messages(message.cube_key, [message.id])
    derived = sorted(tx.memories.get(message.cube_key, ids).values(), key=lambda memory: memory.id)
    relations = tuple(tx.memories.relations(message.cube_key, [message.id]))
    tier = MID_TERM if segment else SHORT_TERM
    return Explanation(message, tier, (source_of(message),), segment, tuple(derived), relations)
