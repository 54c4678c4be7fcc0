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

    `before_version` and `after_version` are the ids of its current versions before and after; in a plan that was not
    applied the latter is None. `into` is the memory that a merged one went into. `reason` says why in words.
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


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """Steps that were made together. `kind` is `feedback` or `reorganize`; `asked` the words that asked for it.

    `undone_at` is set when it was taken back.
    """

    id: str
    cube_key: int
    kind: str
    asked: str
    made_at: datetime
    steps: tuple[Step, ...]
    undone_at: datetime | None = None
