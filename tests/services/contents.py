"""All that a store holds of what people said and what was made of it, told so that two stores can be compared.

Ids that are made on the way differ between two runs of the same work. They are told by what they name: a label is the
hash of all rows in which an id stands, with the labels of the other ids there, thrice over (colour refinement).
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

from mnemic.backends.sql.sqlite import DATABASE_FILE

Row = tuple[object, ...]

_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_ROUNDS: Final = 3
_TABLES: Final = (
    "session", "segment", "page", "message", "memory", "memory_version", "source", "relation", "entity", "mention",
    "change", "forgotten", "blob", "document", "chunk", "chunk_place", "attachment",
)  # fmt: skip
_VERSIONS: Final = """
    SELECT id, document_id, number, state, digest, size, media, title, summary, pages, done_pages, chunks, embedded,
           reused, valid_from, valid_to, ready_at, error, error_page, metadata, notes, password
    FROM document_version"""
_ENTRIES: Final = """
    SELECT kind, owner, version_id, session_id, position, start, "end", speaker, said_at, valid_to, length, traits,
           live, model, width, data, terms
    FROM entry LEFT JOIN vector ON vector.entry_key = entry.key LEFT JOIN entry_text ON entry_text.rowid = entry.key"""
_STATE: Final = "SELECT cube_key, erasures, latest_said, stale_text FROM cube_state"
_WAITING: Final = "SELECT kind, state FROM job WHERE state IN ('queued', 'running', 'failed', 'dead')"


def rows_of(folder: Path, *, jobs: bool = True) -> list[Row]:
    """Return all rows as they are, but counters of changes, calls of models, what took how long, and ended jobs."""
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
        found: list[Row] = [(table, *row) for table in _TABLES for row in connection.execute(f"SELECT * FROM {table}")]
        found += [("entry", *row) for row in connection.execute(_ENTRIES)]
        found += [("document_version", *row) for row in connection.execute(_VERSIONS)]
        found += [("cube_state", *row) for row in connection.execute(_STATE)]
        if jobs:
            found += [("job", *row) for row in connection.execute(_WAITING)]
    return sorted(found, key=repr)


def ids_in(rows: Collection[Row]) -> set[str]:
    """Return all ids that stand in rows."""
    return {found for row in rows for value in row if isinstance(value, str) for found in _ID.findall(value)}


def contents(folder: Path, *, known: Collection[str], since: datetime) -> list[Row]:
    """Return all rows with ids named by what they mean, but those `known`; times from `since` on are all the same."""
    moment = round(since.timestamp() * 1_000_000)
    rows = [tuple(_plain(value, moment) for value in row) for row in rows_of(folder)]
    labels = {name: name for name in known}
    fresh = sorted(ids_in(rows) - labels.keys())
    where: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for name in ids_in([row]):
            where[name].append(row)
    labels |= dict.fromkeys(fresh, "?")
    for _ in range(_ROUNDS):
        labels |= {name: _label(name, where[name], labels) for name in fresh}
    return sorted((tuple(_named(row, labels)) for row in rows), key=repr)


def _plain(value: object, since: int) -> object:
    if isinstance(value, int) and value >= since:
        return "now"
    return hashlib.sha256(value).hexdigest()[:12] if isinstance(value, bytes) else value


def _label(name: str, rows: Collection[Row], labels: dict[str, str]) -> str:
    told = sorted(repr(tuple(_named(row, {**labels, name: "*"}))) for row in rows)
    return f"<{hashlib.sha256(repr(told).encode()).hexdigest()[:12]}>"


def _named(row: Row, labels: dict[str, str]) -> Iterator[object]:
    for value in row:
        yield _ID.sub(lambda found: labels[found.group()], value) if isinstance(value, str) else value
