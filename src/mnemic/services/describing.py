"""Reading what came with messages, in the background: pictures, files and recordings become text that is searched.

Each attachment is read in steps, each stored in a transaction of its own: first what this machine makes out, then what
a model sees. What is wrong with an attachment is its state, with the reason, and cannot be tried again; what may pass
(an outage of a model, an address that does not answer) fails the job, which is tried again, and only the last try gives
up. An outage never becomes content, and what was read before it stays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from mnemic.core.described import read_text
from mnemic.errors import (
    BudgetError,
    BusyError,
    EmbedderError,
    FetchError,
    LanguageError,
    MnemicError,
    NotFoundError,
    ReadError,
)
from mnemic.model.attachment import Attachment, AttachmentState
from mnemic.model.index import Entry, Vector
from mnemic.model.job import DESCRIBE, EMBED, KINDS, Job
from mnemic.model.message import StoredMessage
from mnemic.ports.clock import Clock
from mnemic.ports.embedder import Embedder
from mnemic.ports.store import Store, Transaction
from mnemic.services.attached import attachment_entries, attachment_spans
from mnemic.services.blobs import BlobKeeper
from mnemic.services.indexing import message_entries
from mnemic.services.perceiving import Perceived, Perceiving
from mnemic.services.queueing import enqueue

_log = logging.getLogger(__name__)

Tick = Callable[[int], None]

UNREAD: Final = "unread"
"""The key in `Attachment.seen` of what a model that failed was to do; another try of the job takes it up again."""

_TOGETHER: Final = 20  # attachments that are looked up together


class Describing:
    """The handler of `describe`."""

    def __init__(
        self, store: Store, files: BlobKeeper, embedder: Embedder, clock: Clock, perceiving: Perceiving
    ) -> None:
        self._store = store
        self._files = files
        self._embedder = embedder
        self._clock = clock
        self._perceiving = perceiving

    def work(self, job: Job, tick: Tick) -> None:
        """Read everything that waits in a cube."""
        if job.attempts <= 1:
            self._take_up(job.cube_key)
        last = job.attempts >= KINDS[DESCRIBE].tries
        put_off: MnemicError | None = None
        for attachment in self._waiting(job.cube_key):
            error = self._read(attachment, last=last)
            put_off = error or put_off
            tick(error is None)
        if put_off is not None:
            raise put_off

    def _waiting(self, cube_key: int) -> Iterator[Attachment]:
        """Yield each attachment that waits, once."""
        done: set[str] = set()
        while True:
            with self._store.read() as tx:
                tx.enter(cube_key)
                waiting = tx.attachments.waiting(cube_key, len(done) + _TOGETHER)
            fresh = [each for each in waiting if each.id not in done]
            if not fresh:
                return
            for each in fresh:
                done.add(each.id)
                yield each

    def _take_up(self, cube_key: int) -> None:
        """Let wait again what an earlier job gave up when a model was out of reach."""
        with self._store.read() as tx:
            tx.enter(cube_key)
            failed = tx.attachments.waiting(cube_key, 1_000, AttachmentState.FAILED)
        again = [replace(each, state=AttachmentState.QUEUED, error="") for each in failed if each.seen.get(UNREAD)]
        if again:
            with self._store.write() as tx:
                tx.enter(cube_key)
                tx.cubes.touch(cube_key)
                here = tx.attachments.get(cube_key, [each.id for each in again])
                tx.attachments.put([each for each in again if each.id in here])

    def _read(self, attachment: Attachment, *, last: bool) -> MnemicError | None:
        """Read one attachment; return what stood in the way, when that may pass."""
        try:
            with self._store.read() as tx:
                tx.enter(attachment.cube_key)
                message = tx.messages.get(attachment.cube_key, [attachment.message_id]).get(attachment.message_id)
            if message is None:
                return None
            for step in self._perceiving.steps(attachment, message):
                if not self._put(step, message):
                    return None  # it was forgotten meanwhile
        except NotFoundError:
            return None  # the same, with its cube or its file
        except BudgetError as error:
            return error  # it will be there again tomorrow: that is no try
        except (LanguageError, FetchError, BusyError) as error:
            return self._put_off(attachment, error, last=last)
        except ReadError as error:
            self._end(attachment, AttachmentState.FAILED, str(error))
        return None

    def _put_off(self, attachment: Attachment, error: MnemicError, *, last: bool) -> MnemicError | None:
        if not isinstance(error, BusyError) and not error.fields.get("passing"):
            self._end(attachment, AttachmentState.FAILED, str(error))
            return None
        if last:
            self._end(attachment, AttachmentState.FAILED, str(error), unread=True)
        return error

    def _end(self, attachment: Attachment, state: AttachmentState, error: str, *, unread: bool = False) -> None:
        """Say how reading an attachment ended; what was read of it stays."""
        with self._store.write() as tx:
            tx.enter(attachment.cube_key)
            tx.cubes.touch(attachment.cube_key)
            here = tx.attachments.get(attachment.cube_key, [attachment.id]).get(attachment.id)
            if here is not None:
                seen = {**here.seen, UNREAD: True} if unread else here.seen
                tx.attachments.put([replace(here, state=state, error=error, seen=seen)])
        _log.info("attachment_not_read", extra={"attachment": attachment.id, "state": state.value})

    def _put(self, perceived: Perceived, message: StoredMessage) -> bool:
        """Store what was read and index it with the message; False when the message is gone."""
        attachment = perceived.attachment
        seen = {name: value for name, value in attachment.seen.items() if name != UNREAD}
        attachment = replace(attachment, seen=seen)
        cube_key = attachment.cube_key
        spans = attachment_spans(attachment)
        vectors = self._embedded(attachment, spans)
        with self._store.write() as tx:
            tx.enter(cube_key)
            revision = tx.cubes.touch(cube_key)
            if attachment.id not in tx.attachments.get(cube_key, [attachment.id]):
                return False
            if perceived.blobs:
                self._files.note(tx, perceived.cube, perceived.blobs)
            tx.attachments.put([attachment])
            _reindex(tx, revision, message, attachment, attachment_entries(message, attachment, spans, vectors))
            if any(vector is None for vector in vectors):
                enqueue(tx, cube_key, EMBED, self._clock.now())
        return True

    def _embedded(self, attachment: Attachment, spans: Sequence[tuple[int, int]]) -> list[Vector | None]:
        text = read_text(attachment)
        try:
            return list(self._embedder.embed([text[start:end] for start, end in spans])) if spans else []
        except EmbedderError as error:
            _log.warning("embedding_deferred", extra={"texts": len(spans), "reason": str(error)})
            return [None] * len(spans)


def _reindex(
    tx: Transaction, revision: int, message: StoredMessage, attachment: Attachment, entries: Sequence[Entry]
) -> None:
    """Put what was read in the place of what was read before; the message's own entries stay as they are."""
    others = {each.id for each in tx.attachments.of_messages(message.cube_key, [message.id]).get(message.id, ())}
    kept = tx.index.versions(message.cube_key, [message.id]) & (others - {attachment.id})
    stays = [replace(_mark(message), version_id=each) for each in (None, *sorted(kept))]
    tx.index.sync(message.cube_key, revision, message.id, stays)
    tx.index.add(message.cube_key, revision, entries)


def _mark(message: StoredMessage) -> Entry:
    """Return an entry that stands for all of a message's that have its version: known ones are not written again."""
    return message_entries(message, [(0, 0)], [None])[0]
