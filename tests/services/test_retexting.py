"""A store notices that text is read otherwise now: it says so, indexes older passages anew, and ends like a new one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic import Memory, wiring
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.sql.sqlite import DATABASE_FILE
from mnemic.config import Settings
from mnemic.model.job import RETEXT
from tests.migrations.old_store import unpacked
from tests.services.opened import Clock, open_memory, talk

TALK = [("ann", f"Unsere Geburtstagsfeier Nummer {number} war im Garten.") for number in range(9)]


def terms(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
        return [row[0] for row in connection.execute("SELECT terms FROM entry_text ORDER BY rowid")]


def read_before_an_upgrade(folder: Path) -> list[str]:
    """Make a store's index one of an older reading: no passage has a term of a language. Return what it had."""
    newest = terms(folder)
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
        for key, held in connection.execute("SELECT rowid, terms FROM entry_text").fetchall():
            kept = " ".join(term for term in held.split() if "_" not in term)
            connection.execute("DELETE FROM entry_text WHERE rowid = ?", (key,))
            connection.execute("INSERT INTO entry_text (rowid, terms) VALUES (?, ?)", (key, kept))
        connection.execute("UPDATE store_info SET value = 'older' WHERE name = 'reading'")
        connection.execute("UPDATE entry SET length = 1")
        connection.commit()
    return newest


@pytest.fixture
def older(tmp_path: Path) -> list[str]:
    with open_memory(tmp_path) as memory:
        talk(memory, TALK)
        memory.jobs.wait(user="ann")
    return read_before_an_upgrade(tmp_path)


def found(memory: Memory) -> int:
    hits = memory.search("Feier", user="ann", explain=True, kinds="message").hits
    return sum(hit.why is not None and hit.why.channels["lexical"][1] > 0 for hit in hits)


def test_a_search_says_that_passages_are_still_to_be_read_anew(tmp_path: Path, older: list[str]) -> None:
    with open_memory(tmp_path) as memory:
        results = memory.search("Feier", user="ann")
        assert any("indexed anew" in note for note in results.notes)
        assert found(memory) == 0
        assert any("indexed anew" in told for _, ok, told in memory.check() if ok)


def test_the_background_work_reads_them_and_ends_like_a_new_store(tmp_path: Path, older: list[str]) -> None:
    with open_memory(tmp_path) as memory:
        jobs = memory.jobs.wait(user="ann")
        assert [job.kind for job in jobs] == [RETEXT]
        assert memory.search("Feier", user="ann").notes == ()
        assert found(memory) == len(TALK)
    assert terms(tmp_path) == older
    with closing(sqlite3.connect(tmp_path / DATABASE_FILE)) as connection:
        assert connection.execute("SELECT min(length) FROM entry").fetchone()[0] > 1
    with open_memory(tmp_path) as memory:
        assert memory.jobs.list(user="ann", open_only=True) == ()


def test_it_goes_on_where_it_was_stopped(tmp_path: Path, older: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.services.retexting.BATCH", 2)
    with open_memory(tmp_path) as memory:
        cube = memory._parts.scoping.for_read
        with memory._parts.store.read() as tx:
            key = cube(tx, "ann").cubes[0].key
            waiting = tx.terms.count_stale(key)
        assert memory._parts.organize._retexting.step(key) == 2
        memory.add("Die Feier war laut.", user="ann")
        with memory._parts.store.read() as tx:
            assert tx.terms.count_stale(key) == waiting - 2
    with open_memory(tmp_path) as memory:
        memory.jobs.wait(user="ann")
    assert set(older) < set(terms(tmp_path))


def test_what_was_forgotten_meanwhile_does_not_come_back(tmp_path: Path, older: list[str]) -> None:
    with open_memory(tmp_path) as memory:
        memory.forget(user="ann", everything=True)
        memory.jobs.wait(user="ann")
    assert terms(tmp_path) == []


def test_reindex_reads_them_at_once(tmp_path: Path, older: list[str]) -> None:
    settings = Settings(home=str(tmp_path), worker=False)
    parts = wiring.build(settings, embedder=HashingEmbedder(64), replacing=True)
    parts.reindex.run()
    parts.close()
    assert terms(tmp_path) == older


def test_a_store_of_the_first_schema_is_read_anew(tmp_path: Path) -> None:
    folder = unpacked(tmp_path / "first", "0001")
    assert not any("de_" in each for each in terms(folder))
    with open_memory(folder, clock=Clock(datetime(2027, 1, 1, tzinfo=UTC))) as memory:
        for user in ("ann", "ben", "carol"):
            memory.jobs.wait(user=user)
        [team] = (cube for cube in memory.cubes.list(user="carol") if cube.name == "team")
        memory.jobs.wait(user="carol", cube=team.id)
        assert found(memory) == 1
    read = terms(folder)
    assert any("de__feier" in each for each in read)
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
        connection.execute("UPDATE store_info SET value = 'older' WHERE name = 'reading'")
        connection.commit()
    parts = wiring.build(Settings(home=str(folder), worker=False), embedder=HashingEmbedder(64), replacing=True)
    parts.reindex.run()
    parts.close()
    assert sorted(terms(folder)) == sorted(read)
