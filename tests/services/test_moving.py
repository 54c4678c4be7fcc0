"""A whole store is moved: every row arrives, searches answer the same, and what was interrupted goes on."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mnemic import ConflictError, InputError, Memory, StoreError
from mnemic.api import move, reopen
from mnemic.backends.sql import schema as s
from mnemic.backends.sql.moving import SHAPES
from mnemic.model.job import JobState
from mnemic.model.moving import MOVED, MOVING, STORE_ID, Moved
from mnemic.ports.moving import RawStore, RawWriting, Row, Shape
from mnemic.services.moving import PASSES, Move
from mnemic.wiring.moving import opened
from tests.databases import place_of
from tests.services.opened import Clock
from tests.services.stores import HASHING, answers, contents, fill, live, memory_at


@dataclass(frozen=True)
class Pair:
    """A store, and the empty place that it is moved to."""

    old: str
    new: str


@contextmanager
def paired(engines: str) -> Iterator[Pair]:
    before, after = engines.split("-")
    with place_of(before) as old, place_of(after) as new:
        yield Pair(str(old), str(new))


@pytest.fixture(params=["sqlite-sqlite", "sqlite-postgres", "postgres-sqlite", "postgres-postgres"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    with paired(request.param) as found:
        yield found


@pytest.fixture(params=["sqlite-postgres", "postgres-sqlite"])
def across(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Two engines."""
    with paired(request.param) as found:
        yield found


KEYS = (("cube", 0), ("entry", 1))


def notes_of(place: Path | str) -> Mapping[str, str]:
    with opened(str(place), there=True) as store, store.read() as reading:
        return reading.notes()


class Stopped(Exception):  # noqa: N818 - it is no error of a test
    """Stands for the end of a process."""


@dataclass
class Failing:
    """A store whose write transactions end with `Stopped` after so many."""

    store: RawStore
    writes: int
    before: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    @contextmanager
    def write(self, *, alone: bool = False) -> Iterator[RawWriting]:
        if self.writes == 0 and self.before:
            raise Stopped
        with self.store.write(alone=alone) as tx:
            yield tx
            if self.writes == 0:
                raise Stopped  # before it was committed
        self.writes -= 1


@contextmanager
def moving(source: Path | str, target: Path | str, **wrapped: Any) -> Iterator[Move]:
    with opened(str(source), there=True) as left, opened(str(target), there=False) as right:
        yield Move(left, Failing(right, **wrapped) if wrapped else right, Clock(), version="0")


def test_every_table_of_the_schema_is_moved_and_begins_with_its_cube() -> None:
    moved = {shape.name: shape for shape in SHAPES}
    assert moved.keys() == s.metadata.tables.keys() - {"store_info"} | {"entry_text"}
    assert {name for name, shape in moved.items() if shape.cube is None} == {
        table.name for table in s.REFERENCE if table not in (s.store_info, s.cube, s.cube_grant)
    }
    for table in s.CUBES:
        assert moved[table.name].key_of(tuple(table.columns.keys()))[0] == "cube_key"
        assert moved[table.name].columns == tuple(table.columns.keys())
    order = [shape.name for shape in SHAPES]
    for table in s.metadata.tables.values():
        referred = [key.column.table.name for key in table.foreign_keys]
        assert all(order.index(name) < order.index(table.name) for name in referred)


def test_rows_of_every_table_arrive_as_they_are(pair: Pair) -> None:
    fill(pair.old, cubes=250, rows=400)
    rows = contents(pair.old)
    assert all(rows.values()), "every table has some"
    moved = move(pair.new, pair.old)
    assert contents(pair.new) == rows
    assert moved.same and moved.cubes == 250 and moved.rows == sum(map(len, rows.values()))
    assert move(pair.new, pair.old, check=True).same


def test_between_two_folders_rows_stay_to_the_letter(tmp_path: Path) -> None:
    fill(tmp_path / "old", cubes=20, rows=200)
    move(tmp_path / "new", tmp_path / "old")
    assert contents(tmp_path / "new", raw=True) == contents(tmp_path / "old", raw=True)


def test_there_and_back_again_all_comes_but_nul_in_what_was_derived(postgres: str, tmp_path: Path) -> None:
    fill(tmp_path / "old", cubes=20, rows=200)
    move(postgres, tmp_path / "old")
    move(tmp_path / "new", postgres)
    old, new = (contents(tmp_path / name, raw=True) for name in ("old", "new"))
    terms, back = old.pop("entry_text"), new.pop("entry_text")
    assert len(terms) == len(back) and contents(tmp_path / "new") == contents(tmp_path / "old")
    assert new == {name: sorted(map(without_nul, rows), key=repr) for name, rows in old.items()}


def without_nul(row: Row) -> Row:
    plain = [value.replace("\0", "\ufffd") if isinstance(value, str) else value for value in row]
    return tuple(plain)


def test_very_long_words_are_found_after_each_move(postgres: str, tmp_path: Path) -> None:
    word = "Donaudampfschifffahrts" * 14
    with memory_at(tmp_path / "old") as memory:
        memory.add([f"They call it {word}.", "They call it something.", "Nobody calls."], user="user 0")
    move(postgres, tmp_path / "old")
    move(tmp_path / "new", postgres)
    for place in (tmp_path / "old", postgres, tmp_path / "new"):
        with memory_at(place) as memory:
            hits = memory.search(word, user="user 0", explain=True)
            assert word in hits[0].text and hits[0].why is not None
        assert answers(place, word) == answers(tmp_path / "old", word)


def test_a_moved_store_answers_as_before_to_the_last_digit(pair: Pair) -> None:
    live(pair.old)
    before = answers(pair.old)
    move(pair.new, pair.old)
    assert answers(pair.new) == before
    with memory_at(pair.new) as memory:
        assert [name for name, well, _ in memory.check() if not well] in ([], ["durability"])  # tests do not sync
        added = memory.add("I have a cat now.", user="user 0")
        assert memory.search("cat", user="user 0")[0].id == added.message_ids[0]


def test_keys_go_on_behind_the_highest_that_came(pair: Pair) -> None:
    live(pair.old, users=2, messages=2)
    move(pair.new, pair.old)
    before = contents(pair.new)
    with memory_at(pair.new) as memory:
        memory.add("hello", user="somebody new")
    after = contents(pair.new)
    new = {name: {row[at] for row in after[name]} - {row[at] for row in before[name]} for name, at in KEYS}
    assert new["cube"] == {len(before["cube"]) + 1}
    highest = max(int(str(row[1])) for row in before["entry"])
    assert new["entry"] and all(int(str(key)) > highest for key in new["entry"])


def test_a_store_keeps_its_id_and_what_was_counted(tmp_path: Path) -> None:
    live(tmp_path / "old", users=1, messages=2)
    move(tmp_path / "new", tmp_path / "old")
    old, new = notes_of(tmp_path / "old"), notes_of(tmp_path / "new")
    assert new[STORE_ID] == old[STORE_ID]
    assert new["embedder"] == old["embedder"] and new["reading"] == old["reading"]
    assert '"message": [7, ' in new[MOVED] and MOVING not in new and MOVED not in old


def test_work_that_ran_is_due_again_and_what_waited_waits(pair: Pair) -> None:
    with memory_at(pair.old) as memory:
        memory.add("I live in Porto.", user="ann")
        memory.add("I live in Oslo.", user="bob")
    with opened(pair.old, there=True) as store, store.write() as tx:
        connection = tx._connection  # type: ignore[attr-defined]
        running = s.job.c.cube_key == 1
        values = {"state": "running", "place": None, "worker": "w", "lease_until": 2**52, "attempts": 1}
        connection.execute(s.job.update().where(running).values(values))
        connection.execute(s.job.update().where(~running).values(place=s.OFFERED, lease_until=2**52))
        connection.execute(s.periodic.insert().values(name="upkeep", next_due=5, worker="w", lease_until=2**52))
    move(pair.new, pair.old)
    assert {row[-1] for row in contents(pair.new, raw=True)["periodic"]} == {0}
    with memory_at(pair.new, worker=True) as memory:
        for user in ("ann", "bob"):
            memory.jobs.wait(user=user, timeout=60)  # some may have been done before it began to wait
            assert {job.state for job in memory.jobs.list(user=user)} == {JobState.DONE}
            assert memory.list(user=user, kinds="fact")


# -- targets ---------------------------------------------------------------------------------------------------------


def test_only_an_empty_target_is_taken(tmp_path: Path) -> None:
    live(tmp_path / "old", users=1, messages=1)
    live(tmp_path / "new", users=1, messages=1)
    kept = contents(tmp_path / "new")
    with pytest.raises(ConflictError, match="holds memories already"):
        move(tmp_path / "new", tmp_path / "old")
    with pytest.raises(InputError, match="the store itself"):
        move(tmp_path / "old" / ".", tmp_path / "old")
    with pytest.raises(InputError, match="mysql:// is not known"):
        move("mysql://x/y", tmp_path / "old")
    with pytest.raises(StoreError, match="there is no memory in"):
        move(tmp_path / "new", tmp_path / "nowhere")
    assert contents(tmp_path / "new") == kept
    assert not (tmp_path / "nowhere").exists()


def test_a_store_that_was_opened_and_left_empty_is_taken(tmp_path: Path) -> None:
    live(tmp_path / "old", users=1, messages=1)
    Memory(tmp_path / "new", settings={"embedder": "bundled", "worker": False}).close()
    move(tmp_path / "new", tmp_path / "old")
    assert answers(tmp_path / "new", users=1) == answers(tmp_path / "old", users=1)


def test_nothing_opens_a_store_that_has_not_arrived(tmp_path: Path) -> None:
    live(tmp_path / "old", users=2, messages=4)
    live(tmp_path / "other", users=1, messages=1)
    memory = Memory(tmp_path / "new", settings=HASHING)  # open all the while
    with moving(tmp_path / "old", tmp_path / "new", writes=3) as use_case, pytest.raises(Stopped):
        use_case.run()
    command = f"mnemic migrate --from {tmp_path / 'old'} --to {tmp_path / 'new'}` goes on"
    with pytest.raises(StoreError, match=command):
        memory.add("hello", user="ann")
    memory.close()
    with pytest.raises(StoreError, match=command):
        Memory(tmp_path / "new", settings=HASHING)
    with pytest.raises(StoreError, match="cannot be moved: a move into this store is not finished"):
        move(tmp_path / "newer", tmp_path / "new")
    with pytest.raises(ConflictError, match="a move from another store"):
        move(tmp_path / "new", tmp_path / "other")
    assert move(tmp_path / "new", tmp_path / "old").resumed
    assert answers(tmp_path / "new", users=2) == answers(tmp_path / "old", users=2)


def stopping(source: Path | str, target: Path | str, writes: int, *, before: bool) -> Moved | None:
    """Move, and stop after so many transactions; return what was done when it came to an end before that."""
    try:
        with moving(source, target, writes=writes, before=before) as use_case:
            return use_case.run()
    except Stopped:
        return None


# -- interruptions ---------------------------------------------------------------------------------------------------


def test_a_move_that_stops_anywhere_goes_on_and_comes_to_the_same(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.services.carrying.BYTES", 30_000)
    fill(pair.old, cubes=120, rows=80)
    chance = random.Random(11)
    ends = [stopping(pair.old, pair.new, 5, before=False)]
    while (moved := ends[-1]) is None:
        assert len(ends) < 100
        ends.append(stopping(pair.old, pair.new, chance.randrange(4, 16), before=len(ends) % 2 == 0))
    assert len(ends) > 2 and moved.resumed and moved.same and moved.again == ()
    assert contents(pair.new) == contents(pair.old)


@pytest.mark.parametrize("change", ["talk", "forget", "erase", "replace"])
def test_what_changed_while_a_move_was_stopped_is_moved_again(
    across: Pair, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.services.carrying.BYTES", 10_000)
    live(across.old, users=4, messages=4)
    assert stopping(across.old, across.new, 7, before=False) is None
    with memory_at(across.old, worker=True) as memory:
        CHANGES[change](memory)
    assert move(across.new, across.old).resumed
    assert contents(across.new) == contents(across.old)


def _talk(memory: Memory) -> None:
    for user in ("user 0", "user 2", "newcomer"):
        memory.add("I live in Cairo now, and I play chess.", user=user, session="another", wait=True)


def _forget(memory: Memory) -> None:
    memory.forget(session="s0", user="user 0")
    memory.forget(everything=True, user="user 2")


def _erase(memory: Memory) -> None:
    memory.cubes.delete(memory.cubes.list(user="user 3")[0].id, user="user 3")


def _replace(memory: Memory) -> None:
    """Another cube gets the name of one that is gone."""
    memory.cubes.delete(memory.cubes.list(user="user 1")[0].id, user="user 1")
    memory.add("I am the other one.", user="user 1")


CHANGES = {"talk": _talk, "forget": _forget, "erase": _erase, "replace": _replace}


def test_of_two_movers_the_later_one_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.services.carrying.BYTES", 5_000)
    live(tmp_path / "old", users=2, messages=8)
    told: list[str] = []

    def second(done: int, total: int | None) -> None:
        if done and not told:
            told.append("began")
            with moving(tmp_path / "old", tmp_path / "new") as other:
                assert other.run().resumed

    with (
        moving(tmp_path / "old", tmp_path / "new") as first,
        pytest.raises(ConflictError, match="another process moves"),
    ):
        first.run(progress=second)
    assert contents(tmp_path / "new") == contents(tmp_path / "old")


# -- writers meanwhile -----------------------------------------------------------------------------------------------


def test_what_is_written_while_a_store_is_moved_comes_too(tmp_path: Path) -> None:
    live(tmp_path / "old", users=3, messages=4)
    with Memory(tmp_path / "old", settings=HASHING) as memory:
        name = memory.cubes.list(user="user 1")[0].id
        left = [2]

        def writing(done: int, total: int | None) -> None:
            if done == total and left[0]:
                left[0] -= 1
                memory.add(f"I was told something at the last moment, {left[0]}.", user="user 1")

        moved = move(tmp_path / "new", tmp_path / "old", progress=writing)
    assert moved.again == (name,)
    assert contents(tmp_path / "new") == contents(tmp_path / "old")


def test_writers_that_never_rest_are_told_of_by_cube_and_kept_out_in_the_end(pair: Pair) -> None:
    live(pair.old, users=2, messages=2)
    old, new = (place.rpartition("@")[2] for place in (pair.old, pair.new))
    with memory_at(pair.old) as memory:
        name = memory.cubes.list(user="user 1")[0].id
        passes = []

        def writing(done: int, total: int | None) -> None:
            if done == total:
                passes.append(done)
                memory.add(f"Here is more, {len(passes)}.", user="user 1")

        with pytest.raises(StoreError, match=f"{old} was .* at last {name}; stop what writes to it, or add --final"):
            move(pair.new, pair.old, progress=writing)
        assert len(passes) >= PASSES
        moved = move(pair.new, pair.old, final=True)
        assert moved.closed and moved.resumed
        assert contents(pair.new) == contents(pair.old)
        with pytest.raises(StoreError, match=f"was moved to .*{new} on .* and is closed"):
            memory.add("Anybody there?", user="user 1")
        with pytest.raises(StoreError, match="mnemic migrate --reopen"):
            memory.search("more", user="user 1")
    with pytest.raises(StoreError, match="is closed"):
        memory_at(pair.old)
    assert str(reopen(pair.old)).endswith(new)
    assert reopen(pair.old) is None
    assert answers(pair.new, users=2) == answers(pair.old, users=2)


def test_writers_that_are_at_work_when_a_store_is_closed_come_along_or_are_refused(pair: Pair) -> None:
    live(pair.old, users=1, messages=2)
    done = threading.Event()
    said: list[str] = []
    refused: list[str] = []
    with memory_at(pair.old) as memory:

        def talk(user: str) -> None:
            while not done.is_set():
                try:
                    said.extend(memory.add(f"I said {len(said)}.", user=user).message_ids)
                except StoreError as error:
                    refused.append(str(error))
                    return

        threads = [threading.Thread(target=talk, args=(f"talker {number}",)) for number in range(3)]
        for thread in threads:
            thread.start()
        try:
            moved = move(pair.new, pair.old, final=True)
        finally:
            done.set()
            for thread in threads:
                thread.join(60)
    assert moved.closed and all("is closed" in each for each in refused)
    assert len(refused) == 3 and said
    assert set(said) <= {row[1] for row in contents(pair.new)["message"]}


# -- what arrives ----------------------------------------------------------------------------------------------------


@dataclass
class Lossy:
    """A store that loses, doubles or changes what it is given of a table, as often as it is told."""

    store: RawStore
    table: str
    change: Any
    times: int
    seen: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    @contextmanager
    def write(self, *, alone: bool = False) -> Iterator[Any]:
        with self.store.write(alone=alone) as tx:
            yield _LossyWriting(tx, self)


@dataclass
class _LossyWriting:
    tx: RawWriting
    of: Lossy

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tx, name)

    def put(self, shape: Shape, rows: Sequence[Row]) -> None:
        if shape.name == self.of.table and len(self.of.seen) < self.of.times:
            self.of.seen.append(shape.name)
            rows = self.of.change(shape, rows)
        self.tx.put(shape, rows)


def _lose(shape: Shape, rows: Sequence[Row]) -> Sequence[Row]:
    return rows[1:]


def _alter(shape: Shape, rows: Sequence[Row]) -> Sequence[Row]:
    at = shape.columns.index("length" if shape.name == "entry" else "quote" if shape.name == "source" else "terms")
    first = rows[0]
    value: Any = "[]" if isinstance(first[at], str) else 4_711
    return [(*first[:at], value, *first[at + 1 :]), *rows[1:]]


@pytest.mark.parametrize("change", [_lose, _alter])
@pytest.mark.parametrize("table", ["source", "entry_text"])
def test_what_does_not_arrive_is_noticed_and_sent_again(tmp_path: Path, table: str, change: Any) -> None:
    live(tmp_path / "old", users=2, messages=4)
    with opened(str(tmp_path / "old"), there=True) as source, opened(str(tmp_path / "new"), there=False) as target:
        Move(source, Lossy(target, table, change, times=1), Clock(), version="0").run()
    assert contents(tmp_path / "new") == contents(tmp_path / "old")


@pytest.mark.parametrize("table", ["source", "entry_text", "virtual_time"])
def test_a_store_that_keeps_losing_is_never_called_moved(tmp_path: Path, table: str) -> None:
    live(tmp_path / "old", users=2, messages=4)
    with opened(str(tmp_path / "old"), there=True) as source, opened(str(tmp_path / "new"), there=False) as target:
        lossy: Any = Lossy(target, table, _lose, times=1_000)
        with pytest.raises(StoreError, match=r"is not in .* as it was sent"):
            Move(source, lossy, Clock(), version="0").run()
    with pytest.raises(StoreError, match="is not finished"):
        Memory(tmp_path / "new", settings=HASHING)
    assert move(tmp_path / "new", tmp_path / "old").same


def test_a_comparison_names_what_differs_and_changes_nothing(tmp_path: Path) -> None:
    live(tmp_path / "old", users=2, messages=4)
    move(tmp_path / "new", tmp_path / "old")
    with Memory(tmp_path / "new", settings=HASHING) as memory:
        memory.add("I am new here.", user="user 1")
        memory.add("So am I.", user="newcomer")
        names = {memory.cubes.list(user=user)[0].id for user in ("user 1", "newcomer")}
    before = contents(tmp_path / "new")
    found = move(tmp_path / "new", tmp_path / "old", check=True)
    assert set(found.differing) == names and not found.same
    assert {each.table for each in found.tables if not each.same} >= {"message", "entry", "cube", "entry_text"}
    assert contents(tmp_path / "new") == before
    with pytest.raises(StoreError, match="there is no memory in"):
        move(tmp_path / "newer", tmp_path / "old", check=True)
    assert not (tmp_path / "newer").exists()
