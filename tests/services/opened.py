"""A memory to test services with: a hashing embedder, no thread of its own, and a clock that the test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mnemic import wiring
from mnemic.api import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.sql.sqlite import DATABASE_FILE
from mnemic.backends.sql.store import SqlStore
from mnemic.config import Settings
from mnemic.ports.embedder import Embedder
from mnemic.runtime.metered import MeteredStore
from tests.databases import address_of, known_address, rows_of


class Clock:
    """Stands still but for a millisecond a look."""

    def __init__(self, at: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)) -> None:
        self.at = at

    def now(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at


class SteppedClock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def forward(self, by: timedelta) -> None:
        self._now += by


@lru_cache(maxsize=1)
def _empty_store() -> bytes:
    """Return a new store's file: making one takes a third of a second, copying it none."""
    with TemporaryDirectory() as folder:
        Memory(settings=Settings(home=folder, worker=False), embedder=HashingEmbedder(64)).close()
        return (Path(folder) / DATABASE_FILE).read_bytes()


def new_store(folder: Path) -> HashingEmbedder:
    """Put a new store where none is yet, when it is to be a file; return the embedder that it is for."""
    if not address_of(folder) and not (folder / DATABASE_FILE).exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DATABASE_FILE).write_bytes(_empty_store())
    return HashingEmbedder(64)


def open_parts(folder: Path, clock: SteppedClock | None, **settings: Any) -> wiring.Parts:
    """Open the parts of a memory without threads of their own, under a clock that the test moves or the machine's."""
    given = Settings(home=str(folder), database_url=address_of(folder), worker=False, **settings)
    return wiring.build(given, embedder=new_store(folder), clock=clock)


def open_memory(folder: Path, *, embedder: Embedder | None = None, clock: Clock | None = None) -> Memory:
    """Open a memory whose background work runs in `jobs.wait`; two pages stay in short-term memory."""
    address = address_of(folder)
    settings = Settings(home=str(folder), database_url=address, worker=False, stm_pages=2, heat_threshold=3.0)
    return Memory(settings=settings, embedder=embedder or new_store(folder), clock=clock or Clock())


def sql_store(memory: Memory) -> SqlStore:
    """Return the store of a memory, without what watches it."""
    store = memory._parts.store
    found = store._store if isinstance(store, MeteredStore) else store
    assert isinstance(found, SqlStore)
    return found


def talk(
    memory: Memory, turns: list[tuple[str, str]], *, user: str = "ann", session: str = "s1", day: int = 1
) -> list[str]:
    """Add turns of (speaker, text), a minute apart on a day of January 2026; return their ids."""
    start = datetime(2026, 1, day, 9, tzinfo=UTC)
    messages = [
        {"role": "assistant" if name == "bot" else "user", "name": name, "content": text,
         "at": start + timedelta(minutes=number)}
        for number, (name, text) in enumerate(turns)
    ]  # fmt: skip
    return list(memory.add(messages, user=user, session=session).message_ids)


def bytes_of(folder: Path) -> bytes:
    """Return all bytes of all files of a folder; of a database that stands for it, of all rows."""
    if address := known_address(folder):
        return rows_of(address)
    return b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
