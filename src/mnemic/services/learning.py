"""From messages to long-term memory: statements are extracted by rules, reconciled with what is known, and indexed.

A batch of messages is one transaction with the mark that they were read, so that a crash repeats a batch or does not,
and never half of it. What extraction does not understand stays a message, which is searchable anyway.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import numpy as np

from mnemic.core import reconcile
from mnemic.core.claims import is_read
from mnemic.core.erasure import mark
from mnemic.core.extraction import extract
from mnemic.ids import new_id
from mnemic.model.index import Vector
from mnemic.model.memory import Candidate, Memory, Source
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.indexing import embed_texts, indexed_text, put_memory, unindexed
from mnemic.text import fold

_log = logging.getLogger(__name__)

BATCH = 64
"""Messages in one transaction."""

_LONGEST = 8_000
"""Characters of a message beyond which it is a document, not something that somebody says about themselves."""


class Learning:
    """Extracts memories from the messages of a cube that were not read yet."""

    def __init__(self, store: Store, embedder: Embedder, clock: Clock) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock

    def step(self, cube_key: int) -> int:
        """Read one batch; return how many messages it had, 0 when all are read."""
        with self._store.read() as tx:
            messages = tx.messages.to_extract(cube_key, BATCH)
            if not messages:
                return 0
            before = _turns_before(tx, messages)
            found = [
                (message, candidate) for message in messages for candidate in _readable(message, before.get(message.id))
            ]
        vectors = embed_texts(self._embedder, (indexed_text(each.attribute, each.text) for _, each in found))
        with self._store.write() as tx:
            revision = tx.cubes.touch(cube_key)
            unread = {message.id for message in tx.messages.to_extract(cube_key, BATCH)}
            known = _Known(tx, cube_key)
            changed = known.changed
            forgotten = tx.memories.disowned(cube_key, [_mark(message, candidate) for message, candidate in found])
            for message, candidate in found:
                if message.id in unread and _mark(message, candidate) not in forgotten:
                    vector = vectors[indexed_text(candidate.attribute, candidate.text)]
                    self._learn(tx, message, candidate, vector, known)
            texts = unindexed(changed.values(), tx.index.versions(cube_key, list(changed)))
            vectors |= embed_texts(self._embedder, (text for text in texts.values() if text not in vectors))
            fresh = {version_id: vectors[text] for version_id, text in texts.items()}
            for memory in changed.values():
                put_memory(tx, revision, memory, fresh)
            tx.messages.set_extracted(cube_key, [message.id for message in messages if message.id in unread])
        return len(messages)

    def _learn(
        self,
        tx: Transaction,
        message: StoredMessage,
        candidate: Candidate,
        vector: Vector,
        known: _Known,
    ) -> None:
        now = self._clock.now()
        beside = known.about(candidate)
        if is_read(beside, message.id, candidate):
            return
        plan = reconcile.plan(candidate, beside, similar=known.similar(beside, vector))
        target = None
        if not isinstance(plan, reconcile.Add | reconcile.Contradicts):
            target = next(memory for memory in beside if memory.id == plan.memory_id)
        source = Source(
            message.id, candidate.quote, message.said_at, message.speaker, message.session, message.external_id
        )
        memory = reconcile.apply(target, plan, source=source, ids=_ids(), recorded_at=now, cube_key=message.cube_key)
        if memory is target:
            return
        known.take(memory)
        if isinstance(plan, reconcile.Contradicts):
            tx.memories.put(memory)
            tx.memories.relate(message.cube_key, "contradicts", memory.id, plan.memory_id, now)


class _Known:
    """What is known beside the statements of a batch, read once for it, as the batch has left it so far."""

    def __init__(self, tx: Transaction, cube_key: int) -> None:
        self._tx = tx
        self._cube_key = cube_key
        self._held: dict[tuple[str, str], dict[str, Memory]] = {}
        self._vectors: dict[str, Vector] = {}
        self.changed: dict[str, Memory] = {}

    def about(self, statement: Candidate | Memory) -> list[Memory]:
        """Return the memories about the attribute of the subject of a statement."""
        return list(self._beside(statement).values())

    def similar(self, memories: Sequence[Memory], vector: Vector) -> list[tuple[Memory, float]]:
        """Return memories with their cosine to a statement's vector: the same may be said in other words."""
        vectors = self._vectors
        return [(memory, float(vectors[memory.id] @ vector)) for memory in memories if memory.id in vectors]

    def take(self, memory: Memory) -> None:
        """Keep a memory that the batch has made or changed."""
        self.changed[memory.id] = memory
        self._beside(memory)[memory.id] = memory

    def _beside(self, statement: Candidate | Memory) -> dict[str, Memory]:
        key = (fold(statement.subject), statement.attribute)
        if key not in self._held:
            found = self._tx.memories.find(self._cube_key, *key)
            self._held[key] = {memory.id: memory for memory in found}
            vectors = self._tx.index.vectors(self._cube_key, list(self._held[key]))
            self._vectors |= {owner: vector / (np.linalg.norm(vector) or 1.0) for owner, vector in vectors.items()}
        return self._held[key]


def _mark(message: StoredMessage, candidate: Candidate) -> str:
    return mark(message.id, candidate.subject, candidate.attribute, candidate.value)


def _turns_before(tx: Transaction, messages: Sequence[StoredMessage]) -> dict[str, StoredMessage]:
    """Return the turn before each message, by the message's id; most of them are in the batch itself."""
    placed = {(message.session_id, message.position): message for message in messages}
    found: dict[str, StoredMessage] = {}
    for message in messages:
        place = (message.session_id, message.position - 1)
        if place not in placed and message.position > 0:
            for each in tx.messages.around(message.cube_key, place[0], [place[1]]):
                placed[place] = each
        if place in placed:
            found[message.id] = placed[place]
    return found


def _readable(message: StoredMessage, previous: StoredMessage | None) -> list[Candidate]:
    """Return what a message states; one that extraction fails on is logged, and stays a message."""
    try:
        return _candidates(message, previous)
    except Exception:  # noqa: BLE001 - boundary: one message; it must not keep its cube from being refined
        _log.exception("extraction_failed", extra={"message_id": message.id})
        return []


def _candidates(message: StoredMessage, previous: StoredMessage | None) -> list[Candidate]:
    """Return what a message states; only people are learned from, not what an assistant or a tool says."""
    if message.role is not MessageRole.USER or len(message.text) > _LONGEST:
        return []
    return extract(
        message.text,
        speaker=message.speaker,
        said_at=message.said_at,
        previous=previous.text if previous else None,
        previous_speaker=previous.speaker if previous else None,
        listener=previous.speaker if previous and previous.speaker != message.speaker else None,
    )


def _ids() -> Iterator[str]:
    while True:
        yield new_id()
