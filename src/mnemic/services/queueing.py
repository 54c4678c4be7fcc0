"""Putting a job into the outbox, with the call that it goes back to and the job that causes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from mnemic.ids import new_id
from mnemic.model.job import queued
from mnemic.ports.store import Transaction
from mnemic.tracing import current


def enqueue(
    tx: Transaction,
    cube_key: int,
    kind: str,
    now: datetime,
    *,
    not_before: datetime | None = None,
    payload: Mapping[str, Any] | None = None,
) -> str:
    """Queue a job in this transaction; return its id, or that of the one that waits already and that it merges with.

    What a job of the same cube queues is caused by it; what that merges with belongs to the job's tasks from then on.
    """
    going_on = current()
    cause = None if going_on is None or going_on.job is None else tx.jobs.get(cube_key, going_on.job)
    job = queued(
        new_id(),
        cube_key,
        kind,
        now,
        not_before=not_before,
        payload=payload,
        parent=None if cause is None else cause.id,
    )
    queued_as = tx.jobs.put(replace(job, trace=going_on.id) if going_on else job)
    if cause is not None and queued_as != job.id:
        tx.jobs.follow(cube_key, cause.id, queued_as)
    return queued_as
