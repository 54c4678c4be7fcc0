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
    """Queue a job in this transaction; return its id, or that of the one that waits already and that it merges with."""
    going_on = current()
    job = queued(
        new_id(),
        cube_key,
        kind,
        now,
        not_before=not_before,
        payload=payload,
        parent=going_on.job if going_on else None,
    )
    return tx.jobs.put(replace(job, trace=going_on.id) if going_on else job)
