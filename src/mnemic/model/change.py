"""A change of several memories made as one, so that it can be shown, and undone as one."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime


class Action(enum.StrEnum):
    """What a step does to a memory."""

    ADD = "add"
    CORRECT = "correct"
    SUPPLEMENT = "supplement"
    REPLACE = "replace"
    REMOVE = "remove"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class Step:
    """One memory in a change: what it said (`before`, None for a new one), and what it says now (None: removed).

    `before_version` is the id of the version that was current, None for a new memory; `after_version` that of the one
    that the step made, None in a plan that was not applied. `into` is the memory that a merged one went into. `reason`
    says why in words, `source` is the message that asked for it. `held` says from when until when (microseconds) each
    version held before the step, for undoing it.
    """

    action: Action
    memory_id: str
    subject: str
    attribute: str
    before: str | None
    after: str | None
    before_version: str | None = None
    after_version: str | None = None
    into: str | None = None
    reason: str = ""
    source: str = ""
    held: tuple[tuple[str, int, int | None], ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """Steps that were made together; `kind` is `feedback`, `edit`, `profile` or `reorganize`.

    `asked` are the words that asked for it, if any. `undone_at` is set when it was taken back.
    """

    id: str
    cube_key: int
    kind: str
    asked: str
    made_at: datetime
    steps: tuple[Step, ...]
    undone_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Undone:
    """What undoing did: the change, the steps that were taken back, and those `left` as they are, each with why."""

    change: MemoryChange
    undone: tuple[Step, ...]
    left: tuple[Step, ...] = ()
