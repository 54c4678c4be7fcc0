"""Background work: a job is a row, written in the transaction of what caused it."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

ORGANIZE: Final = "organize"
"""The job that refines what was added: memories, tiers, promotion."""

EMBED: Final = "embed"
"""The job that embeds what could not be embedded when it was written."""

RETEXT: Final = "retext"
"""The job that indexes the words of older passages anew, after an upgrade that reads text otherwise."""


REFINE: Final = "refine"
"""The job in which a language model reads what was added."""

REORGANIZE: Final = "reorganize"
"""The job that merges what says the same, sums up what belongs together, and closes plans that are over."""


SLOW: Final = frozenset({REFINE, REORGANIZE})
"""Kinds that may wait on a model: they run beside the others, so that nothing waits for them."""


_OURS: Final = re.compile(r"^mnemic\.errors\.\w+: ")


class JobState(enum.StrEnum):
    """Where a job is. `done`, `dead` are final; `failed` will be tried again."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Job:
    """A unit of background work. `done` counts what it has finished, for progress."""

    id: str
    cube_key: int
    kind: str
    state: JobState
    attempts: int
    created_at: datetime
    not_before: datetime
    lease_until: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    done: int = 0
    error: str | None = None

    @property
    def reason(self) -> str:
        """Why it failed, in one line: what a traceback ends with, without the class when the error is one of ours."""
        last = (self.error or "").strip().rpartition("\n")[2].strip()
        return _OURS.sub("", last)


def queued(job_id: str, cube_key: int, kind: str, now: datetime, *, not_before: datetime | None = None) -> Job:
    """Return a new job that is due at once, or not before a time."""
    return Job(job_id, cube_key, kind, JobState.QUEUED, 0, now, not_before or now)
