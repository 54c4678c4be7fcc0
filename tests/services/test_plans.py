"""No statement of the store walks a whole table: what one user asks does not cost more when others store more."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from mnemic.backends.sql import prepared
from mnemic.errors import InputError, StoreError
from tests.services.opened import open_memory, talk
from tests.statements import way

WALK = re.compile(r"^SCAN (?!.*VIRTUAL TABLE|CONSTANT|json_each|each|item|inner)")
WALK_OF_CUBE = re.compile(r"^SEARCH .* \(cube_key=\?\)")
WHOLE = {
    "views.read_view", "filters.matching", "index.SqlIndex.frequencies",  # a cube's index is read once, and then kept
    "counts.SqlCounts.totals", "counts.SqlCounts._count", "counts.SqlCounts._groups", "archive.SqlArchive.counts",
    "usage.SqlUsage.usage", "usage.SqlUsage._spent", "documents.SqlDocuments.counts",
    "kept_blobs.SqlKeptBlobs.count", "kept_blobs.SqlKeptBlobs.size",  # to count is to walk
    "pages.SqlSegments.list", "messages.SqlMessages.sessions", "entities.SqlEntities.list",  # what is asked for is all
    "erasing.SqlErasing._drop_empty_sessions", "erasing.SqlErasing._set_latest", "erasing.SqlErasing._silence_jobs",
    "entities.SqlEntities.prune", "changes.SqlChanges.erase",
    "kept_blobs.SqlKeptBlobs.doom",  # forgetting is seldom, and thorough
    "turns.SqlTurns.dead",  # by an index of those alone
}  # fmt: skip
"""Functions of the store whose statements may walk a whole cube, without a LIMIT, and why."""


def test_every_statement_goes_by_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, tuple[str, Any]] = {}
    run = prepared._execute

    def note(connection: Any, sql: str, parameters: Any, *, many: bool = False) -> Any:
        seen.setdefault(sql, (way()[0], parameters[0] if many else parameters))
        return run(connection, sql, parameters, many=many)

    def note_core(
        _connection: object, _cursor: object, sql: str, parameters: Any, _context: object, many: bool
    ) -> None:
        seen.setdefault(sql, (way()[0], parameters[0] if many else parameters))

    with open_memory(tmp_path) as memory:
        monkeypatch.setattr(prepared, "_execute", note)
        event.listen(Engine, "before_cursor_execute", note_core)
        said = [f"I live in Porto and the garden has tomatoes, row {number}." for number in range(8)]
        turns = [(who, words) for words in said for who in ("ann", "bot")]
        talk(memory, turns, session="s1", day=1)
        ids = talk(memory, turns, session="s5", day=5)
        memory.jobs.wait(user="ann")
        memory.search("garden in Porto", user="ann", kinds=["message", "memory", "segment"], where={"speaker": "ann"})
        memory.context("garden", user="ann")
        memory.explain(ids[0], user="ann")
        memory.stats(user="ann")
        memory.sessions(user="ann")
        memory.profile(user="ann")
        memory.jobs.list(user="ann", open_only=True)
        memory.list(user="ann", session="s1")
        list(memory.export(user="ann"))
        memory._parts.settle()
        memory.forget(ids[0], user="ann")
        memory.forget(session="s1", user="ann")
        event.remove(Engine, "before_cursor_execute", note_core)
    walking = []
    with closing(sqlite3.connect(tmp_path / "mnemic.db")) as connection:
        for sql, (by, parameters) in seen.items():
            if sql.lstrip().startswith(("SELECT", "UPDATE", "DELETE")) and "store_info" not in sql:
                plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
                walking += [(step, by, sql) for step in plan if WALK.match(step)]
                if "LIMIT" not in sql and by not in WHOLE:
                    walking += [(step, by, sql) for step in plan if WALK_OF_CUBE.match(step)]
    assert walking == []


def test_a_store_that_is_in_use_by_too_many_says_so(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory, pytest.raises(StoreError, match="64 calls"), memory._parts.store.read():
        raise PoolTimeoutError


@pytest.mark.parametrize("jobs", [5.0, [None], [True], ["\ud800"], [], ""])
def test_jobs_that_cannot_be_waited_for_are_named(tmp_path: Path, jobs: Any) -> None:
    with open_memory(tmp_path) as memory:
        memory.add("I live in Porto.", user="ann")
        with pytest.raises(InputError, match="jobs"):
            memory.jobs.wait(jobs, user="ann")
