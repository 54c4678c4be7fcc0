"""What is written down of calls from outside: who did what, when and where, and never what was said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A write, or a call that was refused. It holds ids and times only.

    `key` is the id of the key, None for somebody at the machine or a stranger; `user` the one that the call was for,
    of the key's `project`. `outcome` is `ok` or an error's code, `request` the id of the call in the log. `calls` is
    more than 1 in the row that stands for refusals beyond those that have rows of their own.
    """

    id: str
    at: datetime
    key: str | None
    project: str
    user: str | None
    verb: str
    cube: str | None
    outcome: str
    request: str
    calls: int = 1


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Which rows are wanted: of a key, a project, some users (by their stored names), some cubes, before one."""

    key: str | None = None
    project: str | None = None
    users: tuple[str, ...] | None = None
    cubes: tuple[str, ...] | None = None
    after: str | None = None
    limit: int = 100
