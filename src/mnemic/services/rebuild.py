"""Deriving a cube again from its messages and files: topics and memories go, and the background work forms them anew.

Messages and files are the truth and stay as they are. So does what its owner wrote, restored or locked by hand, and
what its owner has forgotten stays forgotten. Documents are read again as versions with the same content: passages that
come out the same stay, and are not embedded again. Useful after an upgrade whose rules read more.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from mnemic.core.claims import is_by_hand
from mnemic.model.attachment import AttachmentState
from mnemic.model.job import DESCRIBE, ORGANIZE
from mnemic.model.memory import Memory
from mnemic.model.scope import Cube
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store, Transaction
from mnemic.services.queueing import enqueue
from mnemic.services.scoping import Scoping
from mnemic.services.targets import writable
from mnemic.services.versions import read_again

_BATCH = 500  # memories, or documents, read together
_ATTACHMENTS = 10_000  # attachments that are read again by one call


class Rebuild:
    """The use case of `rebuild`."""

    def __init__(self, store: Store, clock: Clock, scoping: Scoping) -> None:
        self._store = store
        self._clock = clock
        self._scoping = scoping

    def run(self, *, user: object, cube: object = None) -> str | None:
        """Drop what was derived and queue the work that derives it; return the job, None for a user with nothing."""
        with self._store.write() as tx:
            target = writable(self._scoping, tx, user, cube)
            if target is None:
                return None
            tx.cubes.touch(target.key)
            _drop_memories(tx, target)
            segments = [segment.id for segment, _ in tx.segments.list(target.key, archived=True)]
            tx.index.remove(target.key, segments)
            tx.erasing.segments(target.key, segments)
            tx.erasing.set_underived(target.key)
            _read_attachments_again(tx, target, self._clock.now())
            _read_documents_again(tx, target, self._clock.now())
            return enqueue(tx, target.key, ORGANIZE, self._clock.now())


def _read_documents_again(tx: Transaction, cube: Cube, now: datetime) -> None:
    """Let documents be read and cut anew from their files; what is there answers until that is done."""
    after: str | None = None
    while documents := tx.documents.list(cube.key, after=after, limit=_BATCH):
        after = documents[-1].id
        for document in documents:
            read_again(tx, document, now)


def _read_attachments_again(tx: Transaction, cube: Cube, now: datetime) -> None:
    """Let what could not be read of attachments be tried again: what was missing may be there by now."""
    states = (AttachmentState.FAILED, AttachmentState.SKIPPED)
    again = [each for state in states for each in tx.attachments.waiting(cube.key, _ATTACHMENTS, state)]
    if again:
        tx.attachments.put([replace(each, state=AttachmentState.QUEUED, error="") for each in again])
        enqueue(tx, cube.key, DESCRIBE, now)


def _drop_memories(tx: Transaction, cube: Cube) -> None:
    after: str | None = None
    while memories := tx.memories.list(cube.key, after=after, limit=_BATCH):
        after = memories[-1].id
        derived = [memory.id for memory in memories if not _is_owners(memory)]
        tx.index.remove(cube.key, derived)
        tx.memories.delete(cube.key, derived)


def _is_owners(memory: Memory) -> bool:
    return memory.locked or is_by_hand(memory.versions) or not any(version.sources for version in memory.versions)
