"""A store that an earlier Mnemic wrote comes up whole, or is left as it was.

The stores in `tests/data/stores` were made by the code of their time; see `old_store.py`.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory, StoreError
from mnemic.backends.sql import schema
from mnemic.backends.sql.sqlite import DATABASE_FILE, SqliteDatabase
from mnemic.model.job import JobState
from mnemic.model.message import StoredMessage
from tests.migrations.old_store import unpacked, words_of
from tests.services.opened import Clock, open_memory

SCHEMAS = ("0001", "0003", "0004", "0005")
SETTINGS = {"embedder": "hashing", "worker": False}
PATIENCE = 60  # seconds
LATER = datetime(2027, 1, 1, tzinfo=UTC)
DIE = """
import os, signal, sys
from pathlib import Path
from sqlalchemy import event
from sqlalchemy.engine import Engine
from mnemic.backends.sql.sqlite import SqliteDatabase

@event.listens_for(Engine, "before_cursor_execute")
def die(connection, cursor, statement, parameters, context, many):
    if sys.argv[2] in statement:
        os.kill(os.getpid(), signal.SIGKILL)

SqliteDatabase(Path(sys.argv[1]))
"""


@pytest.fixture(params=SCHEMAS)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpacked(tmp_path / "old", request.param)


@pytest.fixture
def newest(tmp_path: Path) -> Path:
    return unpacked(tmp_path / "newest", SCHEMAS[-1])


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
        return connection.execute(query).fetchall()


def columns(folder: Path) -> Mapping[str, Sequence[str]]:
    """Return the columns of each of our tables."""
    names = [row[0] for row in rows(folder, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    ours = [name for name in names if name in schema.metadata.tables]
    return {name: [row[1] for row in rows(folder, f"PRAGMA table_info({name})")] for name in ours}


def content(folder: Path, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of tables, by what they hold, and the terms of all entries."""
    found = {
        name: sorted(rows(folder, f"SELECT {', '.join(map(quoted, names))} FROM {name}"), key=repr)
        for name, names in wanted.items()
    }
    return found | {"entry_text": rows(folder, "SELECT rowid, terms FROM entry_text ORDER BY rowid")}


def quoted(name: str) -> str:
    return f'"{name}"'


def whole(folder: Path) -> None:
    """Check a store by the engine's own means."""
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        connection.execute("INSERT INTO entry_text (entry_text) VALUES ('integrity-check')")
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(schema.HEAD,)]


def finish(memory: Memory) -> None:
    """Do all that is due, in every cube and lane."""
    while memory._parts.worker.run_once():
        pass


def test_every_row_of_an_old_store_is_in_the_new_one(old: Path) -> None:
    kept = columns(old)
    kept = {name: [each for each in names if each in schema.metadata.tables[name].c] for name, names in kept.items()}
    before = content(old, kept)
    [states] = rows(old, "SELECT json_group_array(json_array(key, revision, erasures, latest_said)) FROM cube")
    SqliteDatabase(old).close()
    assert content(old, kept) == before
    state = "json_array(cube_key, revision, erasures, latest_said)"
    assert rows(old, f"SELECT json_group_array({state}) FROM cube_state ORDER BY cube_key") == [states]
    assert rows(old, "SELECT count(*) FROM cube_share") == rows(old, "SELECT count(*) FROM cube")
    whole(old)


def test_what_a_row_belonged_to_it_belongs_to_now(old: Path) -> None:
    quotes = "SELECT v.id, a.message_id, a.quote, v.cube_key FROM source a JOIN memory_version v ON v.id = a.version_id"
    vectors = 'SELECT v."key", v.owner, v.cube_key, a.data FROM vector AS a JOIN entry AS v ON v."key" = a.entry_key'
    before = [sorted(rows(old, query), key=repr) for query in (quotes, vectors)]
    SqliteDatabase(old).close()
    inside = [f"{query} AND v.cube_key = a.cube_key" for query in (quotes, vectors)]
    assert [sorted(rows(old, query), key=repr) for query in inside] == before


def test_quotes_of_one_message_are_numbered(newest: Path) -> None:
    SqliteDatabase(newest).close()
    parts = rows(newest, "SELECT version_id, message_id, part FROM source")
    groups: dict[tuple[str, str], list[int]] = {}
    for version_id, message_id, part in parts:
        groups.setdefault((version_id, message_id), []).append(part)
    assert all(sorted(group) == list(range(len(group))) for group in groups.values())
    assert max(map(len, groups.values())) > 1


def test_an_old_store_gets_the_very_tables_of_a_new_one(old: Path, tmp_path: Path) -> None:
    SqliteDatabase(old).close()
    SqliteDatabase(tmp_path / "new").close()
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    assert rows(old, query) == rows(tmp_path / "new", query)


def test_numbers_that_were_used_once_are_not_used_again(old: Path) -> None:
    used = dict(rows(old, "SELECT name, seq FROM sqlite_sequence"))
    assert used["entry"] > rows(old, 'SELECT max("key") FROM entry')[0][0]
    with open_memory(old) as memory:
        memory.add("I bought a canoe.", user="dan")
    assert dict(rows(old, "SELECT name, seq FROM sqlite_sequence")) == {
        "entry": used["entry"] + 1,
        "cube": used["cube"] + 1,
    }


def test_an_old_store_goes_on_living(old: Path) -> None:
    with open_memory(old, clock=Clock(LATER)) as memory:
        assert "Lisbon" in memory.search("Lisbon", user="ann")[0].text
        assert "Halcyon" in memory.search("Halcyon", user="carol")[0].text
        memory.jobs.wait(user="ann")
        assert any("Geburtstagsfeier" in hit.text for hit in memory.search("Feier", user="ann"))
        [odd] = (each for each in memory.list(user="ann", kinds="message") if "surrogate" in words_of(each))
        assert isinstance(odd, StoredMessage)
        assert odd.content == "A lone \ud800 surrogate, a NUL \0 and \u5c0f\u660e."
        memory.rebuild(user="ann", wait=True)
        assert not any("tomato" in words_of(each) for each in memory.list(user="ann", kinds="preference"))
        memory.forget(user="ann", about="Clara")
        finish(memory)
        assert [what for what, well, _ in memory.check() if not well] == []
        memory.forget(user="ben", everything=True)
        [team] = (cube for cube in memory.cubes.list(user="carol") if cube.name == "team")
        memory.cubes.delete(team.id, user="carol")
    whole(old)


def test_jobs_of_an_old_store_stand_where_they_are_found(newest: Path) -> None:
    SqliteDatabase(newest).close()
    columns = "kind, state, lane, priority, place, alone, merge, payload, lease_until"
    found = rows(newest, f"SELECT DISTINCT {columns} FROM job ORDER BY kind, state")
    assert found == [
        ("embed", "failed", "quick", 1, schema.LATER, 1, "", "{}", None),
        ("organize", "done", "quick", 1, None, 1, "", "{}", None),
        ("organize", "queued", "quick", 1, schema.LATER, 1, "", "{}", None),
        ("reorganize", "dead", "slow", 2, None, 1, "", "{}", None),
        ("reorganize", "running", "slow", 2, None, 1, "", "{}", 99),
    ]
    assert rows(
        newest, "SELECT count(*) FROM job WHERE changed_at != coalesce(finished_at, started_at, created_at)"
    ) == [(0,)]
    with open_memory(newest, clock=Clock(LATER)) as memory:
        finish(memory)
        assert {job.state for job in memory.jobs.list(user="ann")} == {JobState.DONE}


def test_what_was_loaded_under_other_ids_is_known_again(newest: Path) -> None:
    with open_memory(newest) as memory:
        before = memory.stats(user="ben")
        lines = list(memory.export(user="ann"))
        imported = memory.load(lines, user="ben")
    assert before.messages > 5
    made_since = {"entity": 1, "relation": 1}  # see `old_store.py`
    assert {kind: count for kind, count in imported.stored.items() if count} == made_since


@pytest.mark.parametrize(
    "statement", ['CREATE TABLE "new_page"', "DROP TABLE cube", "RENAME TO job", "UPDATE alembic_version"]
)
def test_a_kill_in_the_middle_leaves_the_old_store(newest: Path, statement: str) -> None:
    kept = columns(newest)
    before = content(newest, kept)
    died = subprocess.run([sys.executable, "-c", DIE, str(newest), statement], check=False, timeout=PATIENCE)
    assert died.returncode == -9
    assert rows(newest, "SELECT version_num FROM alembic_version") == [(SCHEMAS[-1],)]
    assert (columns(newest), content(newest, kept)) == (kept, before)
    with open_memory(newest) as memory:
        assert "Lisbon" in memory.search("Lisbon", user="ann")[0].text
    whole(newest)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE message SET page_id = 'none' WHERE page_id = (SELECT page_id FROM message LIMIT 1)",
        "UPDATE page SET session_id = 'none' WHERE id = (SELECT id FROM page LIMIT 1)",
        "DELETE FROM memory_version WHERE id = (SELECT version_id FROM source LIMIT 1)",
    ],
)
def test_a_store_with_broken_references_is_refused_and_not_touched(newest: Path, damage: str) -> None:
    with closing(sqlite3.connect(newest / DATABASE_FILE)) as connection:
        connection.execute(damage)
        connection.commit()
    before = (newest / DATABASE_FILE).read_bytes()
    with pytest.raises(StoreError, match="refers to what it does not hold"):
        Memory(newest, settings=SETTINGS)
    assert (newest / DATABASE_FILE).read_bytes() == before
