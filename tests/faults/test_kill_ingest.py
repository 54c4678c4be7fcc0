"""A process that reads documents is killed at any moment: the next one goes on, and nothing stands there twice."""

from __future__ import annotations

import random
import select
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import Memory
from mnemic.config import Settings
from mnemic.model.document import Document, DocumentState
from tests.databases import address_of, using
from tests.services.opened import sql_store

PATIENCE = 120  # seconds
LEASES = timedelta(seconds=20)  # a dead worker's lease is over after 12

WORK = """
import sys
from datetime import UTC, datetime, timedelta
from mnemic import Memory
from mnemic.config import Settings
from mnemic.services import ingesting, publishing

class Later:
    def now(self):
        return datetime.now(UTC) + timedelta(seconds=float(sys.argv[3]))

stored = ingesting.Ingesting._put

def told(self, tx, task, version):  # inside the transaction, just before it commits
    print(version.state.value, version.embedded, flush=True)
    stored(self, tx, task, version)

publishing.BATCH = 4  # many transactions
ingesting.Ingesting._put = told
settings = Settings(home=sys.argv[1], database_url=sys.argv[2], worker=False, embedder="hashing")
with Memory(settings=settings, clock=Later()) as memory:
    print("began", flush=True)
    while memory._parts.worker.run_once():
        pass
"""


class Later:
    def __init__(self, by: timedelta) -> None:
        self._by = by

    def now(self) -> datetime:
        return datetime.now(UTC) + self._by


def opened(folder: Path, later: timedelta) -> Memory:
    settings = Settings(home=str(folder), database_url=address_of(folder), worker=False, embedder="hashing")
    return Memory(settings=settings, clock=Later(later))


def killed(folder: Path, later: timedelta, chance: random.Random, lines: int) -> list[str] | None:
    """Let a process work until it has said so many lines, and kill it a moment later; what it said if it had ended."""
    given = [sys.executable, "-c", WORK, str(folder), address_of(folder), str(later.total_seconds())]
    process = subprocess.Popen(given, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said: list[str] = []
    try:
        while len(said) < lines:
            assert select.select([process.stdout], [], [], PATIENCE)[0], "the process says nothing"
            line = process.stdout.readline()
            if not line:
                break
            said.append(line.strip())
        else:
            select.select([], [], [], chance.uniform(0, 0.02))  # somewhere inside the next step
    finally:
        process.kill()
        said.extend(line.strip() for line in process.stdout)
        process.stdout.close()
        code = process.wait(PATIENCE)
    assert code in (0, -9)
    return said if code == 0 else None


def chapters(word: str) -> bytes:
    return "\n\n".join(f"# Chapter {number}\n\nThe {word} {number} comes at noon." for number in range(30)).encode()


def stands(memory: Memory, document: Document, cube: str) -> tuple[list[str], Counter[str], int]:
    """Return the texts of a document in order, how often each chunk has an entry, and how many of these are live."""
    chunks = memory.knowledge.chunks(document.id, cube=cube, user="ann", limit=1_000)
    key = document.cube_key
    with sql_store(memory).read() as tx:
        tx.enter(key)
        view = tx.index.view(key)
    live = sum(bool(each) for each in view.live)
    return [each.text for each in chunks], Counter(view.owners), live


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_an_ingest_that_is_killed_again_and_again_ends_as_if_it_had_not_been(tmp_path: Path, engine: str) -> None:
    chance = random.Random(20_261_201)
    later = timedelta(0)
    with using(engine):
        with opened(tmp_path, later) as memory:
            cube = memory.knowledge.create("docs", user="ann").cube.id
            document = memory.knowledge.add(chapters("tide"), name="book.md", cube=cube, user="ann", wait=True)
            memory.knowledge.add(chapters("tide").replace(b"tide 2", b"wave 2"), name="book.md", cube=cube, user="ann")
            memory.knowledge.add(chapters("boat"), name="other.md", cube=cube, user="ann")
        for lines in (2, 4, 5, 5):
            assert killed(tmp_path, later, chance, lines) is None
            later += LEASES
        said = killed(tmp_path, later, chance, 1_000)
        assert said is not None
        with opened(tmp_path, later) as memory:
            found = memory.knowledge.documents(cube, user="ann")
            assert [each.state for each in found] == [DocumentState.READY] * 2
            texts, entries, live = stands(memory, found[0], cube)
            others, _, _ = stands(memory, found[1], cube)
            assert {job.state for job in memory.jobs.list(user="ann", cube=cube)} == {"done"}
            fresh = memory.knowledge.create("fresh", user="ann").cube.id
            undisturbed = memory.knowledge.add(
                chapters("tide").replace(b"tide 2", b"wave 2"), name="book.md", cube=fresh, user="ann", wait=True
            )
            wanted, _, _ = stands(memory, undisturbed, fresh)
        assert texts == wanted
        assert set(entries.values()) == {1}, "a chunk has several entries"
        assert live == len(texts) + len(others)
        assert found[0].id == document.id
        assert found[0].latest.number == 2
        assert found[0].latest.reused == 19
        assert found[0].latest.embedded == found[0].latest.chunks == len(texts)
