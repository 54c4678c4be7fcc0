"""Whole stores for tests that move them: one that people have lived in, and one whose every table holds odd rows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Final

from sqlalchemy import Boolean, Column, Float, LargeBinary, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from mnemic import Memory
from mnemic.backends.sql import schema as s
from mnemic.ports.moving import RawReading, RawStore, Row
from mnemic.text import fold
from mnemic.wiring.moving import opened

HASHING: Final = {"embedder": "hashing", "worker": False, "heat_threshold": 3.0, "stm_pages": 2}
ODD: Final = (
    "",
    " ",
    "O'Neil; DROP TABLE cube; --",
    "名前\u200d👩‍👩‍👧",
    "a\u0301",
    "%s ? :x $1",
    "\\x00\\",
    "x" * 500,
    "\r\n\t",
    "ſß",
)
"""Texts that are odd, but that every column must keep."""

DERIVED: Final = ("nul \0 and more", "𐍈" * 2_000, "long " * 1_000)
"""What only columns hold that were derived from what people wrote."""

QUESTIONS: Final = ("Where does Ann live?", "garden music", "notes of 7", "der Garten", "プリン")


class Standing:
    """A clock that stands still, so that nothing is older when it is looked at again."""

    def now(self) -> datetime:
        return datetime(2099, 1, 1, tzinfo=UTC)


def memory_at(place: str | Path, clock: Any = None, **settings: Any) -> Memory:
    """Open a memory in a folder, or in the database at an address."""
    at = {"home": gettempdir(), "database_url": place} if "://" in str(place) else {"home": str(place)}
    return Memory(settings={**HASHING, **at, **settings}, clock=clock)


def live(place: str | Path, *, users: int = 3, messages: int = 12, **settings: Any) -> None:
    """Let some users talk in a store, with things in it that are hard to move, and let the work be done."""
    with memory_at(place, worker=True, **settings) as memory:
        for user in range(users):
            for number in range(messages):
                said = {"content": f"I live in Leeds, note {user}x{number} tells of a garden and music.", "name": "Ann"}
                memory.add(said, user=f"user {user}", session=f"s{number % 3}")
        hostile = [
            "nul \0 and a lone \ud800 surrogate",
            "word " * 17_600,
            "Ich wohne im Garten in Köln.",
            "プリンが好き",
        ]
        memory.add(hostile, user="user 0", session="ödd/../s'\n", wait=True)
        memory.add({"content": "I moved to Porto.", "id": "м1/'", "metadata": {"a": "\0\ud800"}}, user="user 0")
        memory.update(_fact(memory), "Ann lives in Faro.", user="user 0")
        if users > 1:
            memory.forget(session="s1", user="user 1")
        for user in range(users):
            memory.jobs.wait(user=f"user {user}", timeout=120)


def _fact(memory: Memory) -> str:
    return memory.list(user="user 0", kinds="fact")[0].id


def answers(place: str | Path, *more: str, users: int = 3) -> list[Any]:
    """Return all that searches of a store bring: ids, texts and scores, in order."""
    found = []
    with memory_at(place, Standing()) as memory:
        for user in range(users):
            for question in (*QUESTIONS, *more):
                hits = memory.search(question, user=f"user {user}", limit=20)
                found.append([(hit.id, hit.text, hit.score) for hit in hits])
    assert any(found)
    return found


def contents(place: str | Path, *, raw: bool = False) -> dict[str, list[Row]]:
    """Return every row that a store gives, by table; as every engine could hold it, or raw."""
    with opened(str(place), there=True) as store, store.read() as reading:
        return {name: sorted(rows, key=repr) for name, rows in _tables(store, reading, raw=raw)}


def _tables(store: RawStore, reading: RawReading, *, raw: bool) -> Iterator[tuple[str, list[Row]]]:
    for shape in store.shapes:
        rows: list[Row] = []
        while page := reading.rows(shape, None, shape.key_of(rows[-1]) if rows else None, 1_000):
            rows += page
        yield shape.name, rows if raw or shape.plain is None else list(map(shape.plain, rows))


def fill(place: str | Path, *, cubes: int, rows: int, seed: int = 7) -> None:
    """Put rows of chance into every table that the schema has, whatever it is for, with odd texts in them."""
    chance = random.Random(seed)
    made: dict[str, list[dict[str, Any]]] = {}
    with opened(str(place), there=False) as store, store.write() as tx:
        for shape in store.shapes:
            if shape.name == "entry_text":
                tx.put(shape, [(each["cube_key"], each["key"], _terms(each["cube_key"])) for each in made["entry"]])
                continue
            table = s.metadata.tables[shape.name]
            count = cubes if shape.name == "cube" else rows
            found = list(_rows(table, made, chance, count))
            made[table.name] = found
            tx.put(shape, [tuple(row[name] for name in shape.columns) for row in found])
        tx.note("embedder", "hashing-256", was=None)


def _terms(cube_key: int) -> str:
    return " ".join(f"{cube_key:x}:{stem}" for stem in ("hike", "z" * 300, "hike", "de_feier", *["often"] * 300))


def _rows(
    table: Table, made: Mapping[str, Sequence[dict[str, Any]]], chance: random.Random, count: int
) -> Iterator[dict[str, Any]]:
    references = sorted(table.foreign_key_constraints, key=lambda each: len(each.columns))
    parents = {reference.referred_table.name: _by_cube(made[reference.referred_table.name]) for reference in references}
    unique = [each.columns for each in table.constraints if isinstance(each, PrimaryKeyConstraint | UniqueConstraint)]
    taken: set[tuple[Any, ...]] = set()
    for number in range(count):
        row = {column.name: _value(column, number, chance) for column in table.columns}
        for reference in references:
            held = parents[reference.referred_table.name]
            alone = len(reference.columns) == 1
            fitting = held[chance.choice(list(held))] if alone else held.get(row["cube_key"])
            parent = chance.choice(fitting) if fitting else None
            for element in reference.elements:
                if parent is not None:
                    row[element.parent.name] = parent[element.column.name]
                elif element.parent.name != "cube_key":
                    row[element.parent.name] = None
        row |= {at.name: fold(row[at.info[s.FOLDED]]) for at in table.columns if isinstance(at.type, s.Sought)}
        keys = {(place, *(row[column.name] for column in columns)) for place, columns in enumerate(unique)}
        whole = all(column.nullable or row[column.name] is not None for column in table.columns)
        if whole and not keys & taken:  # a cube without a row to refer to has none that refers
            taken |= keys
            yield row


def _by_cube(rows: Sequence[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["key"] if "owner" in row and "created_at" in row else row["cube_key"], []).append(row)
    return found


def _value(column: Column[Any], number: int, chance: random.Random) -> Any:
    if column.nullable and chance.random() < 0.3:
        return None
    if isinstance(column.type, Boolean):
        return chance.random() < 0.5
    if isinstance(column.type, Float):
        return chance.choice([0.0, -0.0, 1 / 3, 1e300, 5e-324, chance.random()])
    if isinstance(column.type, LargeBinary):
        return chance.randbytes(chance.randrange(40))
    if isinstance(column.type, Text | s.Words):
        return f"{chance.choice(ODD if isinstance(column.type, Text) else (*ODD, *DERIVED))}{number}"
    if column.primary_key:
        return number + 1
    return chance.randrange(1 << 15)
