"""The schema is what the migrations make, and opening a store brings it up whole or leaves it untouched."""

from __future__ import annotations

import hashlib
import select
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib import resources
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

import mnemic.backends.sql
from mnemic import Memory, StoreError
from mnemic.backends.sql import schema
from mnemic.backends.sql.sqlite import DATABASE_FILE, SqliteDatabase
from mnemic.errors import StoreVersionError

SETTINGS = {"embedder": "hashing", "worker": False}
PATIENCE = 60  # seconds
BY_ROW_NUMBER = ("uq_entry_cube_key_key", "fk_vector_cube_key")
"""Where SQLite differs from the schema: the keys of entries are row numbers there, for the full-text index. So what the
schema has as a primary key is a unique constraint, and vectors go with their entries without an index by cube.
"""

OPEN = """
import sys
from mnemic import Memory
print("ready", flush=True)
sys.stdin.readline()
with Memory(sys.argv[1], settings={"embedder": "hashing", "worker": False}) as memory:
    print(memory.add("I live in Porto.", user=sys.argv[2]).stored, flush=True)
    print(memory.search("Porto", user=sys.argv[2])[0].text, flush=True)
"""

MIGRATE = """
import sys
from pathlib import Path
from alembic import command
from mnemic.backends.sql.sqlite import SqliteDatabase
print("ready", flush=True)
sys.stdin.readline()
SqliteDatabase(Path(sys.argv[1]))
"""


def process(folder: Path, code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a process that opens a store when it is told to, and wait until it can be told."""
    started = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code, str(folder), *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert started.stdout is not None
    assert select.select([started.stdout], [], [], PATIENCE)[0]
    assert started.stdout.readline() == "ready\n"
    return started


def go(started: subprocess.Popen[str]) -> None:
    assert started.stdin is not None
    started.stdin.write("go\n")
    started.stdin.flush()


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / DATABASE_FILE).read_bytes()).hexdigest()


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(resources.files(mnemic.backends.sql) / "migrations"))
    return ScriptDirectory.from_config(config)


def test_a_new_store_has_the_schema_that_the_code_names(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path)

    def ours(found: object, name: str | None, kind: str, *_: object) -> bool:
        if kind == "table":
            return not str(name).startswith("entry_")  # full text: the engine's own tables
        return name not in BY_ROW_NUMBER

    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": ours, "compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
    database.close()


def described(path: Path) -> dict[str, object]:
    """Return, of each table, its columns with their places in the key, its indexes, and what it refers to."""
    with closing(sqlite3.connect(path)) as connection:

        def asked(query: str) -> list[tuple[object, ...]]:
            return sorted((row[1:] for row in connection.execute(query)), key=repr)

        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        where = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE%INDEX%WHERE%'"))
        return {
            name: (
                asked(f"PRAGMA table_info({name})"),
                sorted((index[1:], where.get(index[0])) for index in asked(f"PRAGMA index_list({name})")),
                asked(f"PRAGMA foreign_key_list({name})"),
            )
            for name in names
            if name in schema.metadata.tables and name not in ("entry", "vector")  # see BY_ROW_NUMBER
        }


def test_keys_defaults_and_references_are_those_that_the_code_names(tmp_path: Path) -> None:
    SqliteDatabase(tmp_path).close()
    made = create_engine(f"sqlite:///{tmp_path / 'made.db'}")
    schema.metadata.create_all(made)
    made.dispose()
    assert described(tmp_path / DATABASE_FILE) == described(tmp_path / "made.db")


def test_the_head_that_the_schema_names_is_the_last_migration() -> None:
    assert scripts().get_heads() == [schema.HEAD]
    assert next(scripts().walk_revisions()).revision == schema.HEAD


def test_every_migration_follows_one_other() -> None:
    known = list(scripts().walk_revisions())
    assert [each.revision for each in known] == sorted((each.revision for each in known), reverse=True)
    assert sum(each.down_revision is None for each in known) == 1


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    with Memory(tmp_path, settings=SETTINGS) as memory:
        memory.add("I live in Porto.", user="ann")
    before = digest(tmp_path)
    with Memory(tmp_path, settings=SETTINGS) as memory:
        assert memory.search("Porto", user="ann")[0].text == "I live in Porto."
    assert digest(tmp_path) == before


def test_a_store_of_a_newer_version_is_refused_and_not_touched(tmp_path: Path) -> None:
    with Memory(tmp_path, settings=SETTINGS) as memory:
        memory.add("I live in Porto.", user="ann")
    with closing(sqlite3.connect(tmp_path / DATABASE_FILE)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("CREATE TABLE future (id)")
        connection.commit()
    before = digest(tmp_path)
    for _ in range(2):
        with pytest.raises(StoreVersionError, match="newer") as caught:
            Memory(tmp_path, settings=SETTINGS)
        assert caught.value.fields == {"found": "9999", "known": schema.HEAD}
    assert digest(tmp_path) == before


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough to be read as one" * 100, b"SQLite format 3\0"]
)
def test_a_file_that_is_no_store_is_refused_and_not_touched(tmp_path: Path, content: bytes) -> None:
    (tmp_path / DATABASE_FILE).write_bytes(content)
    with pytest.raises(StoreError, match="damaged"):
        Memory(tmp_path, settings=SETTINGS)
    assert (tmp_path / DATABASE_FILE).read_bytes() == content


def test_a_folder_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("I am a file.")
    for place in (tmp_path / "file", tmp_path / "file" / "inside"):
        with pytest.raises(StoreError, match="cannot be used"):
            Memory(place, settings=SETTINGS)
    assert (tmp_path / "file").read_text() == "I am a file."


@pytest.mark.parametrize(
    "name", ["a b", "per%20cent", "hash#1", "what?mode=ro", "q'uote\"s", "\u5c0f\u660e", "semi;colon"]
)
def test_a_folder_may_be_called_anything(tmp_path: Path, name: str) -> None:
    with Memory(tmp_path / name, settings=SETTINGS) as memory:
        memory.add("I live in Porto.", user="ann")
    assert (tmp_path / name / DATABASE_FILE).stat().st_size > 0
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_threads_that_open_a_new_folder_at_once_all_succeed(tmp_path: Path) -> None:
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        with ThreadPoolExecutor(6) as pool:
            opened = [pool.submit(SqliteDatabase, folder) for _ in range(6)]
            databases = [each.result(PATIENCE) for each in opened]
        for database in databases:
            with database.read() as connection:
                assert connection.scalar(text("SELECT version_num FROM alembic_version")) == schema.HEAD
            database.close()


def test_processes_that_open_a_new_folder_at_once_all_succeed(tmp_path: Path) -> None:
    users = ("ann", "bob")
    started = [process(tmp_path / "new", OPEN, user) for user in users]
    for each in started:
        go(each)
    for each in started:
        out, err = each.communicate(timeout=PATIENCE)
        assert (out.splitlines(), err, each.returncode) == (["1", "I live in Porto."], "", 0)
    with Memory(tmp_path / "new", settings=SETTINGS) as memory:
        assert all(memory.stats(user=user).messages == 1 for user in users)


def test_a_kill_in_the_middle_of_a_migration_leaves_a_store_that_opens(tmp_path: Path) -> None:
    for number, delay in enumerate((0.02, 0.2)):
        folder = tmp_path / str(number)
        started = process(folder, MIGRATE)
        go(started)
        select.select([], [], [], delay)
        started.kill()
        started.communicate(timeout=PATIENCE)
        with Memory(folder, settings=SETTINGS) as memory:
            memory.add("I live in Oslo.", user="ann")
            assert memory.search("Oslo", user="ann")[0].text == "I live in Oslo."
        with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
            assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]


def test_a_migration_that_fails_leaves_no_half_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("mnemic.backends.sql.fulltext._SQLITE", ("CREATE VIRTUAL TABLE nonsense USING nothing",))
        with pytest.raises(StoreError):
            Memory(tmp_path, settings=SETTINGS)
    with closing(sqlite3.connect(tmp_path / DATABASE_FILE)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    with Memory(tmp_path, settings=SETTINGS) as memory:
        assert memory.add("I live in Porto.", user="ann").stored == 1
