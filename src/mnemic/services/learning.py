"""From messages to long-term memory: statements are extracted by rules, reconciled with what is known, and indexed.

A batch of messages is one transaction with the mark that they were read, so that a crash repeats a batch or does not,
and never half of it. What extraction does not understand stays a message, which is searchable anyway.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from mnemic.core.extraction import extract
from mnemic.model.memory import Candidate
from mnemic.model.message import MessageRole, StoredMessage
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.drawing import Known, mark_of
from mnemic.services.indexing import embed_texts, indexed_text

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
            tx.enter(cube_key)
            messages = tx.messages.to_extract(cube_key, BATCH)
            if not messages:
                return 0
            before = turns_before(tx, messages)
            found = [
                (message, candidate)
                for message in messages
                for candidate in statements_of(message, before.get(message.id))
            ]
        vectors = embed_texts(self._embedder, (indexed_text(each.attribute, each.text) for _, each in found))
        with self._store.write() as tx:
            tx.enter(cube_key)
            revision = tx.cubes.touch(cube_key)
            unread = {message.id for message in tx.messages.to_extract(cube_key, BATCH)}
            known = Known(tx, cube_key, self._clock.now())
            forgotten = tx.memories.disowned(cube_key, [mark_of(message, candidate) for message, candidate in found])
            for message, candidate in found:
                if message.id in unread and mark_of(message, candidate) not in forgotten:
                    known.learn(message, candidate, vectors[indexed_text(candidate.attribute, candidate.text)])
            known.store(self._embedder, revision, vectors)
            tx.messages.set_extracted(cube_key, [message.id for message in messages if message.id in unread])
        return len(messages)


def turns_before(tx: Transaction, messages: Sequence[StoredMessage]) -> dict[str, StoredMessage]:
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


def statements_of(message: StoredMessage, previous: StoredMessage | None) -> list[Candidate]:
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
