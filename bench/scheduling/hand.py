"""One process that does one thing as often as it can: `python -m bench.scheduling.hand WHAT SECONDS SETTINGS NUMBER`.

It says `ready`, waits for a line on stdin, and prints how often it did it in a second. It loads only what it needs, so
that several start soon.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

Deed = Callable[[int], object]
Settings = Mapping[str, str]


def bare_insert(settings: Settings, _number: int = 0) -> Deed:
    """Insert a row and commit, durably."""
    return _insert_into_postgres(settings) if "database_url" in settings else _insert_into_sqlite(settings)


def _insert_into_sqlite(settings: Settings) -> Deed:
    connection = sqlite3.connect(Path(settings["home"]) / "bare.db", isolation_level=None, timeout=60)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS bare (key INTEGER PRIMARY KEY, text TEXT NOT NULL)")

    def insert(number: int) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO bare (text) VALUES (?)", (f"note {number}",))
        connection.execute("COMMIT")

    return insert


def _insert_into_postgres(settings: Settings) -> Deed:
    import psycopg  # noqa: PLC0415 - an extra

    connection = psycopg.connect(settings["database_url"], autocommit=True)
    connection.execute("SELECT pg_advisory_lock(1)")
    connection.execute("CREATE TABLE IF NOT EXISTS bare (key bigserial PRIMARY KEY, text text NOT NULL)")
    connection.execute("SELECT pg_advisory_unlock(1)")

    def insert(number: int) -> None:
        with connection.transaction():
            connection.execute("INSERT INTO bare (text) VALUES (%s)", (f"note {number}",))

    return insert


def _stream(settings: Settings, number: int) -> Deed:
    """Add an entry, read one as a member of the group, acknowledge it."""
    from redis import Redis, ResponseError  # noqa: PLC0415 - an extra

    client: Any = Redis.from_url(settings["redis_url"])
    try:
        client.xgroup_create("bare", "hands", mkstream=True)
    except ResponseError as error:
        if "BUSYGROUP" not in str(error):
            raise

    def pass_on(entry: int) -> None:
        client.xadd("bare", {"job": entry}, maxlen=1_000, approximate=True)
        for _, entries in client.xreadgroup("hands", f"hand{number}", {"bare": ">"}, count=1):
            client.xack("bare", "hands", *(each for each, _ in entries))

    return pass_on


def _add(settings: Settings, number: int) -> Deed:
    """Add a message to the memory of a user of its own."""
    from mnemic import Memory  # noqa: PLC0415 - the bare loops do without

    memory = Memory(settings={**settings, "worker": False})
    user = f"hand{number}"

    def add(message: int) -> None:
        memory.add(f"I live in Porto now, says note {message} about gardens and music.", user=user)

    add(-1)
    return add


_DEEDS: Final[Mapping[str, Callable[[Settings, int], Deed]]] = {"insert": bare_insert, "stream": _stream, "add": _add}


def main() -> None:
    """Do it until the time is over."""
    what, seconds, settings, number = sys.argv[1:]
    deed = _DEEDS[what](json.loads(settings), int(number))
    print("ready", flush=True)
    sys.stdin.readline()
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < float(seconds):
        deed(done)
        done += 1
    print(done / (time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
