"""What must hold in a store after whatever happened to it: told from its tables, without going through Mnemic."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

FAULTS = {
    "positions with a gap or a repeat": """
        SELECT session_id FROM message GROUP BY session_id
        HAVING min(position) != 0 OR max(position) != count(*) - 1 OR count(DISTINCT position) != count(*)""",
    "a session that counts wrong": """
        SELECT id FROM session WHERE messages != (SELECT count(*) FROM message WHERE session_id = session.id)""",
    "a page that counts wrong": """
        SELECT id FROM page WHERE messages != (SELECT count(*) FROM message WHERE page_id = page.id)""",
    "a segment that counts wrong": """
        SELECT id FROM segment WHERE pages != (SELECT count(*) FROM page WHERE segment_id = segment.id)""",
    "a message without an entry": """
        SELECT id FROM message WHERE id NOT IN (SELECT owner FROM entry WHERE kind = 'message')""",
    "an entry without an owner": """
        SELECT key FROM entry WHERE owner NOT IN
        (SELECT id FROM message UNION SELECT id FROM memory UNION SELECT id FROM segment)""",
    "an owner with an entry too many": """
        SELECT owner FROM entry GROUP BY owner, version_id, start HAVING count(*) > 1""",
    "a version without an entry": """
        SELECT id FROM memory_version WHERE id NOT IN (SELECT version_id FROM entry WHERE version_id IS NOT NULL)""",
    "an entry without a vector": "SELECT key FROM entry WHERE key NOT IN (SELECT entry_key FROM vector)",
    "an entry without words": "SELECT key FROM entry WHERE key NOT IN (SELECT rowid FROM entry_text)",
    "words without an entry": "SELECT rowid FROM entry_text WHERE rowid NOT IN (SELECT key FROM entry)",
    "a memory without a version": "SELECT id FROM memory WHERE id NOT IN (SELECT memory_id FROM memory_version)",
    "a version without a source": "SELECT id FROM memory_version WHERE id NOT IN (SELECT version_id FROM source)",
    "two memories of one value": """
        SELECT subject_key FROM memory
        GROUP BY cube_key, kind, subject_key, attribute, value_key HAVING count(*) > 1""",
    "two open versions of one memory": """
        SELECT memory_id FROM memory_version WHERE valid_to IS NULL GROUP BY memory_id HAVING count(*) > 1""",
    "a source used twice for one statement": """
        SELECT message_id FROM source
        JOIN memory_version version ON version.id = version_id JOIN memory ON memory.id = memory_id
        WHERE kind != 'insight'  -- each of whose versions stands on the same topic
        GROUP BY memory_id, message_id, quote, version.value HAVING count(*) > 1""",
}
"""What must not be found, and the query that finds it."""

UNFINISHED = {
    "a message that was not read": "SELECT id FROM message WHERE extracted = 0",
    "a job that did not end well": "SELECT id || state FROM job WHERE state NOT IN ('done', 'queued')",
}
"""What must not be found once all jobs are done; what was searched meanwhile may queue one more."""


ON_POSTGRES = {
    "an entry without words": "SELECT key FROM entry WHERE key NOT IN (SELECT key FROM entry_text)",
    "words without an entry": "SELECT key FROM entry_text WHERE key NOT IN (SELECT key FROM entry)",
}
"""The queries that read otherwise on PostgreSQL."""

Ask = Callable[[str], Sequence[tuple[Any, ...]]]


def faults(folder: Path, *, finished: bool) -> list[str]:
    """Return the name of each fault of a store in a folder, with the rows that show it."""
    with closing(sqlite3.connect(folder / "mnemic.db")) as connection:
        return broken(lambda query: connection.execute(query).fetchall(), finished=finished)


def broken(ask: Ask, *, finished: bool, postgres: bool = False) -> list[str]:
    """Return the name of each fault of a store that answers queries, with the rows that show it."""
    queries = FAULTS | (UNFINISHED if finished else {}) | (ON_POSTGRES if postgres else {})
    found = [] if postgres else list(_unwhole(ask))
    return found + [f"{name}: {rows[:3]}" for name, query in queries.items() if (rows := ask(query))]


def _unwhole(ask: Ask) -> Iterator[str]:
    """Yield what SQLite itself finds wrong with its file."""
    yield from (f"quick_check: {row}" for (row,) in ask("PRAGMA quick_check") if row != "ok")
    yield from (f"foreign key: {row}" for row in ask("PRAGMA foreign_key_check"))
    ask("INSERT INTO entry_text (entry_text) VALUES ('integrity-check')")
