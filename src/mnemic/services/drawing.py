"""What is known beside new statements, read once for a batch of them, and what becomes of each.

Rules and language models draw statements from messages; both bring them here, so that they are reconciled alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from mnemic.core import reconcile
from mnemic.core.claims import is_read
from mnemic.core.erasure import mark
from mnemic.ids import new_ids
from mnemic.model.index import Vector, unit
from mnemic.model.memory import Candidate, Memory, Source
from mnemic.model.message import StoredMessage
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Transaction
from mnemic.services.indexing import embed_texts, put_memory, unindexed
from mnemic.text import fold


class Known:
    """The memories about what a batch of statements is about, as the batch has left them so far."""

    def __init__(self, tx: Transaction, cube_key: int, now: datetime) -> None:
        self._tx = tx
        self._cube_key = cube_key
        self._now = now
        self._held: dict[tuple[str, str], dict[str, Memory]] = {}
        self._vectors: dict[str, Vector] = {}
        self.changed: dict[str, Memory] = {}

    def learn(
        self, message: StoredMessage, candidate: Candidate, vector: Vector, *, against: Memory | None = None
    ) -> Memory | None:
        """Reconcile a statement of a message with what is known; return the memory that holds it now.

        None when it was read before, or when it changes nothing. With `against`, it contradicts that memory, and both
        stay.
        """
        beside = self._about(candidate)
        if is_read(beside, message.id, candidate):
            return None
        if against is not None:
            plan: reconcile.Plan = reconcile.contradicting(candidate, against)
        else:
            plan = reconcile.plan(candidate, beside, similar=self._similar(beside, vector))
        target = None
        if not isinstance(plan, reconcile.Add | reconcile.Contradicts):
            target = next(memory for memory in beside if memory.id == plan.memory_id)
        memory = reconcile.apply(
            target, plan, source=source_in(message, candidate.quote), ids=new_ids(), recorded_at=self._now,
            cube_key=message.cube_key,
        )  # fmt: skip
        if memory is target:
            return None
        self.take(memory)
        if isinstance(plan, reconcile.Contradicts):
            self._tx.memories.put(memory)
            self._tx.memories.relate(message.cube_key, "contradicts", memory.id, plan.memory_id, self._now)
        return memory

    def plan(self, candidate: Candidate, vector: Vector) -> reconcile.Plan:
        """Return what would become of a statement."""
        beside = self._about(candidate)
        return reconcile.plan(candidate, beside, similar=self._similar(beside, vector))

    def text_of(self, memory_id: str) -> str:
        """Return what one of the memories looked at says; empty for others."""
        held = (memories[memory_id] for memories in self._held.values() if memory_id in memories)
        return next((memory.current.text for memory in held), "")

    def take(self, memory: Memory) -> None:
        """Keep a memory that the batch has made or changed."""
        self.changed[memory.id] = memory
        self._beside(memory)[memory.id] = memory

    def current(self, memory: Memory) -> Memory | None:
        """Return a memory as it is now; None when it is gone."""
        return self._beside(memory).get(memory.id)

    def store(self, embedder: Embedder, revision: int, vectors: Mapping[str, Vector]) -> None:
        """Write what the batch has made and changed, with index entries; `vectors` are those known, by text."""
        texts = unindexed(self.changed.values(), self._tx.index.versions(self._cube_key, list(self.changed)))
        known = {**vectors, **embed_texts(embedder, (text for text in texts.values() if text not in vectors))}
        fresh = {version_id: known[text] for version_id, text in texts.items()}
        for memory in self.changed.values():
            put_memory(self._tx, revision, memory, fresh)

    def _about(self, statement: Candidate | Memory) -> list[Memory]:
        return list(self._beside(statement).values())

    def _similar(self, memories: Sequence[Memory], vector: Vector) -> list[tuple[Memory, float]]:
        """Return memories with their cosine to a statement's vector: the same may be said in other words."""
        vectors = self._vectors
        return [(memory, float(vectors[memory.id] @ vector)) for memory in memories if memory.id in vectors]

    def _beside(self, statement: Candidate | Memory) -> dict[str, Memory]:
        key = (fold(statement.subject), statement.attribute)
        if key not in self._held:
            found = self._tx.memories.find(self._cube_key, *key)
            self._held[key] = {memory.id: memory for memory in found}
            vectors = self._tx.index.vectors(self._cube_key, list(self._held[key]))
            self._vectors |= {owner: unit(vector) for owner, vector in vectors.items()}
        return self._held[key]


def source_in(message: StoredMessage, quote: str) -> Source:
    """Return a message as the source of a statement."""
    return Source(message.id, quote, message.said_at, message.speaker, message.session, message.external_id)


def mark_of(message: StoredMessage, candidate: Candidate) -> str:
    """Return the mark of a statement of a message, by which it is known when its owner has forgotten it."""
    return mark(message.id, candidate.subject, candidate.attribute, candidate.value)
