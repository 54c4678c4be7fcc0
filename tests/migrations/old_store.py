"""Makes the stores of earlier schemas in `tests/data/stores`, with something of everything that they could hold.

Each was made by the code of its time: `python tests/migrations/old_store.py FOLDER` with that code installed, and its
file packed with `gzip -9n`. It relies on nothing but the face of `Memory` as it was then, and SQL for what takes chance
to come about.
"""

from __future__ import annotations

import contextlib
import gzip
import sqlite3
import sys
from pathlib import Path

from mnemic import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.model.item import Item
from mnemic.model.message import StoredMessage

SETTINGS = {"worker": False, "stm_pages": 2, "heat_threshold": 3.0}
TALK = [
    ("s1", "ann", "I live in Porto with my sister Clara. I work as a nurse.", "2025-05-01 10:00"),
    ("s1", "bot", "Porto is beautiful. What does Clara do?", "2025-05-01 10:01"),
    ("s1", "ann", "Clara is a teacher. I love hiking, and I hate tomatoes.", "2025-05-01 10:02"),
    ("s1", "ann", "Unsere Geburtstagsfeier im Garten war laut, die Nachbarn haben mitgefeiert.", "2025-05-02 10:00"),
    ("s1", "ann", "I went hiking with Clara in the Serra da Estrela.", "2025-05-03 10:00"),
    ("s1", "ann", "We hiked for six hours, and hiking there was wonderful.", "2025-05-03 10:05"),
    ("s1", "ann", "A lone \ud800 surrogate, a NUL \0 and \u5c0f\u660e.", "2025-05-04 10:00"),
    ("s2", "ann", "I moved to Lisbon, I live in Lisbon now.", "2025-06-20 10:00"),
    ("s2", "bot", "How is Lisbon?", "2025-06-20 10:01"),
    ("s2", "ann", "I hike less here. My plover is called Pip.", "2025-06-21 10:00"),
    ("s3", "ann", "I have a secret: my locker code is 7713.", "2025-06-22 10:00"),
    ("s3", "ann", "I play the cello in an orchestra.", "2025-06-23 10:00"),
]  # fmt: skip

STORES = Path(__file__).parent.parent / "data" / "stores"

_SOURCE = "INSERT INTO source (version_id, message_id, quote) SELECT version_id, message_id, ? FROM source LIMIT 1"
_JOB = "INSERT INTO job (id, cube_key, kind, state, attempts, created_at, not_before, lease_until, worker, error)"


def unpacked(folder: Path, revision: str) -> Path:
    """Put the store of a schema into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "mnemic.db").write_bytes(gzip.decompress((STORES / f"{revision}.db.gz").read_bytes()))
    return folder


def words_of(item: Item) -> str:
    """Return what a message or a memory says."""
    return item.text if isinstance(item, StoredMessage) else item.current.text


def make(folder: Path) -> None:
    """Make a store."""
    with Memory(folder, settings=SETTINGS, embedder=HashingEmbedder(64)) as memory:
        for number, (session, name, text, at) in enumerate(TALK):
            role = "assistant" if name == "bot" else "user"
            message = {"role": role, "name": name, "content": text, "at": at, "id": f"m{number}"}
            memory.add([message | {"metadata": {"number": number}}], user="ann", session=session)
        memory.jobs.wait(user="ann")
        memory.forget(user="ann", about="locker code")
        for item in memory.list(user="ann", kinds="preference"):
            if "tomato" in words_of(item):
                memory.forget(item.id, user="ann")
            else:
                memory.lock(item.id, user="ann")
        [fact, *_] = (item for item in memory.list(user="ann", kinds="fact") if "nurse" in words_of(item))
        memory.update(fact.id, "Ann works as a head nurse.", user="ann")
        memory.load(list(memory.export(user="ann")), user="ben")
        memory.add("Carol's project is called Halcyon.", user="carol")
        team = memory.cubes.create("team", user="carol")
        memory.add("The team meets on Mondays.", user="carol", cube=team.id)
        gone = memory.cubes.create("gone", user="carol")
        memory.add("This is gone.", user="carol", cube=gone.id)
        memory.cubes.delete(gone.id, user="carol")
        for item in memory.list(user="ann", kinds="fact"):
            if "cello" in words_of(item):
                with contextlib.suppress(TypeError):  # `feedback` is of a later time than the first stores
                    memory.feedback("That is wrong, forget that I play the cello.", user="ann")
        memory.jobs.wait(user="ann")
        memory.add("I bought a kayak.", user="ann", session="s4")
        memory.forget(user="ann", about="kayak")  # the highest number of an entry was used once, and is free
    with contextlib.closing(sqlite3.connect(folder / "mnemic.db")) as connection:
        add_what_takes_chance(connection)
        connection.commit()


def add_what_takes_chance(connection: sqlite3.Connection) -> None:
    """Add jobs in every state, two quotes of one message, and what only language models write."""
    connection.execute(_SOURCE, ("Porto",))
    [key] = connection.execute("SELECT key FROM cube WHERE owner = 'ann'").fetchone()
    [organize] = connection.execute("SELECT id FROM job WHERE state = 'queued' AND cube_key = ?", (key,)).fetchone()
    [memory] = connection.execute("SELECT id FROM memory WHERE cube_key = ? LIMIT 1", (key,)).fetchone()
    [segment] = connection.execute("SELECT id FROM segment WHERE cube_key = ? LIMIT 1", (key,)).fetchone()
    connection.execute("INSERT INTO relation VALUES (?, 'derived-from', ?, ?, 5)", (key, memory, segment))
    states = (("failed", 2, None, None, "oh"), ("dead", 5, None, None, "no"), ("running", 1, 99, "w", None))
    for number, (state, attempts, lease, worker, error) in enumerate(states):
        job = (f"{organize}-{number}", key, "reorganize" if number else "embed", state, attempts, 5, 7, lease, worker)
        connection.execute(f"{_JOB} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*job, error))
    connection.execute("UPDATE page SET chain_id = id WHERE segment_id IS NOT NULL")
    if connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'entity'").fetchone() == (1,):
        message = connection.execute("SELECT id FROM message WHERE cube_key = ? LIMIT 1", (key,)).fetchone()[0]
        entity = (f"{organize}-e", key, "Clara", "clara", "person", 5)
        connection.execute("INSERT INTO entity VALUES (?, ?, ?, ?, ?, ?)", entity)
        connection.execute("INSERT INTO mention VALUES (?, ?, ?)", (entity[0], message, "Clara"))
        call = (f"{organize}-c", key, "refine", "tiny", 5, 6, 7, 0.5, "ok")
        connection.execute("INSERT INTO model_call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", call)
        connection.execute("UPDATE segment SET title = 'Hiking', described = 2")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
