"""The versions of a document and the jobs that bring them about: what of it is waited for, tried again or given up.

One version of a document is on its way at most: a newer one takes the place of what was not ready yet.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from mnemic.ids import new_id
from mnemic.model.document import Document, DocumentState, DocumentVersion
from mnemic.model.job import INGEST, JobState
from mnemic.ports.store import Transaction
from mnemic.services.queueing import enqueue

ENDED: Final = (DocumentState.READY, DocumentState.FAILED)
"""States in which nothing happens to a version any more."""

LOCKED: Final = "locked"
"""The key in the metadata of a version that a password has opened."""

_GIVEN_UP: Final = (JobState.DEAD, JobState.CANCELLED, JobState.DONE)


def told(tx: Transaction, document: Document) -> Document:
    """Return a document as it is: one whose job was given up has failed, whoever gave it up."""
    if document.state in ENDED:
        return document
    job = None if document.job is None else tx.jobs.get(document.cube_key, document.job)
    if job is not None and job.state not in _GIVEN_UP:
        return document
    why = "its job was cancelled" if job is None or job.state is not JobState.DEAD else job.reason
    return replace(document, latest=replace(document.latest, state=DocumentState.FAILED, error=why))


def new_version(
    tx: Transaction, document: Document, version: DocumentVersion, now: datetime, *, password: str | None = None
) -> Document:
    """Store a document with its next version and the job that reads it. What was on its way is given up."""
    known = document.latest
    if known.id and known.state is not DocumentState.READY:
        why = known.error or f"replaced by version {version.number} before it was ready"
        drop_version(tx, document.cube_key, known, why, known.error_page)
    tx.documents.put(document)
    tx.documents.put_version(document.cube_key, version, password=password)
    return _queued(tx, document, version.id, now)


def try_again(tx: Transaction, document: Document, now: datetime, *, password: str | None = None) -> Document:
    """Queue a version that has failed once more, from its beginning."""
    failed = document.latest
    _clear(tx, document.cube_key, failed)
    again = DocumentVersion(
        failed.id, failed.document_id, failed.number, DocumentState.QUEUED, failed.stored_at,
        digest=failed.digest, size=failed.size, media=failed.media, valid_from=failed.valid_from,
    )  # fmt: skip
    tx.documents.put_version(document.cube_key, again, password=password)
    return _queued(tx, replace(document, latest=again), again.id, now)


def read_again(tx: Transaction, document: Document, now: datetime) -> Document:
    """Queue what a document's file says to be read and cut anew; until that is done, what is there answers.

    Of what is ready a version is made with the same content, so that the past stays as it was; what has failed is tried
    again; what is on its way goes on. What only a password opens stays as it is: nobody kept it.
    """
    known = document.latest
    if known.state is DocumentState.FAILED:
        return try_again(tx, document, now)
    if known.state is not DocumentState.READY or not known.digest or known.metadata.get(LOCKED):
        return document
    again = DocumentVersion(
        new_id(), document.id, known.number + 1, DocumentState.QUEUED, now,
        digest=known.digest, size=known.size, media=known.media,
    )  # fmt: skip
    return new_version(tx, document, again, now)


def look_again(tx: Transaction, document: Document, now: datetime) -> Document:
    """Queue a look at a document's address: a version comes of it only when its content has changed."""
    job = None if document.job is None else tx.jobs.get(document.cube_key, document.job)
    if job is not None and job.state not in _GIVEN_UP:
        return document
    return _queued(tx, document, "", now)


def drop_version(tx: Transaction, cube_key: int, version: DocumentVersion, why: str, page: int | None = None) -> None:
    """Give a version up: it has failed, and nothing is left of what was made of it."""
    _clear(tx, cube_key, version)
    tx.documents.put_version(
        cube_key,
        replace(
            version, state=DocumentState.FAILED, error=why, error_page=page, chunks=0, embedded=0, reused=0, summary=""
        ),
    )


def due_after(document: Document, now: datetime) -> datetime | None:
    """Return when an address is to be looked at again."""
    hours = document.refresh.hours
    return None if hours is None else now + timedelta(hours=hours)


def _clear(tx: Transaction, cube_key: int, version: DocumentVersion) -> None:
    gone = tx.chunks.clear(cube_key, version.id)
    if gone:
        tx.index.remove(cube_key, list(gone))


def _queued(tx: Transaction, document: Document, version_id: str, now: datetime) -> Document:
    payload = {"document": document.id, "version": version_id}
    job = enqueue(tx, document.cube_key, INGEST, now, payload=payload)
    tx.documents.put(replace(document, job=job))
    return tx.documents.get(document.cube_key, [document.id])[document.id]
