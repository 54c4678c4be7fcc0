"""What every `mnemic.ports.store.Store` must do, as plain functions that raise AssertionError.

An outside backend runs `for check in CHECKS: check(open_store)` in its own tests, where `open_store()` opens one
place, empty at first, again and again, as several processes would; vectors have `WIDTH` components. It relies on
nothing but the port, and says nothing about speed.
"""
# ruff: noqa: D401, S101 - a contract is made of asserts, and each docstring says what holds

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from mnemic.errors import ConflictError, NotFoundError, StoreError
from mnemic.ids import new_id
from mnemic.model.change import Action, MemoryChange, Step
from mnemic.model.index import CubeView, Entry, Vector
from mnemic.model.job import Job, JobState
from mnemic.model.memory import Change, Memory, MemoryKind, Source, Version
from mnemic.model.message import MessageRole, Page, StoredMessage
from mnemic.model.moment import to_micros
from mnemic.model.query import Compare
from mnemic.model.scope import Cube, CubeKind
from mnemic.ports.store import Store, Transaction
from mnemic.testing import documents_contract, jobs_contract, keys_contract
from mnemic.text import fold

OpenStore = Callable[[], Store]
"""Opens the place under test; each call as another process would."""

WIDTH: Final = 8
"""Components of the vectors that the checks store."""

NOON: Final = datetime(2024, 5, 1, 12, tzinfo=UTC)
PATIENCE: Final = 30  # seconds
_ODD: Final = "a lone \ud800 surrogate, a NUL \0, \u2028, e\u0301, {\"quote\": 'x'} \\_"


@contextmanager
def reading(store: Store) -> Iterator[Transaction]:
    """Open a snapshot that reaches all cubes: what a query does not show, it leaves out by itself."""
    with store.read() as tx:
        tx.enter_all()
        yield tx


@contextmanager
def writing(store: Store) -> Iterator[Transaction]:
    """Open a write transaction that reaches all cubes."""
    with store.write() as tx:
        tx.enter_all()
        yield tx


def new_cube(store: Store, owner: str = "ann", name: str = "personal", kind: CubeKind = CubeKind.PERSONAL) -> Cube:
    """Create a cube."""
    with writing(store) as tx:
        return tx.cubes.create(new_id(), name, kind, owner, NOON)


def vector(number: int) -> Vector:
    """Return a unit vector that differs from those of other numbers."""
    values = np.cos(np.arange(1, WIDTH + 1) * (number + 1)).astype(np.float32)
    return np.asarray(values / np.linalg.norm(values), dtype=np.float32)


def say(tx: Transaction, cube: Cube, texts: Sequence[str], *, session: str = "s", key: str | None = None) -> list[str]:
    """Add messages with their entries to a session, on one page for each call; return their ids."""
    revision = tx.cubes.touch(cube.key, said_at=NOON)
    tail = tx.messages.tail(cube.key, session, session_id=new_id(), at=NOON)
    first = tail.session.messages
    at = 0 if tail.page is None else tail.page.position + 1
    page = Page(
        new_id(), cube.key, tail.session.id, at, "ann", replied=False, started_at=NOON, ended_at=NOON,
        messages=len(texts),
    )  # fmt: skip
    messages = [
        StoredMessage(
            id=new_id(), cube_key=cube.key, session_id=tail.session.id, session=session, page_id=page.id,
            position=first + number, role=MessageRole.USER, speaker="ann", content=text, text=text,
            said_at=NOON + timedelta(minutes=first + number), stored_at=NOON, metadata={"number": number},
        )
        for number, text in enumerate(texts)
    ]  # fmt: skip
    counted = replace(tail.session, messages=first + len(texts))
    keyed = [(message, key or f"new:{message.id}") for message in messages]
    tx.messages.append(keyed, [page], counted)
    tx.index.add(cube.key, revision, [entry_of(message) for message in messages])
    return [message.id for message in messages]


def entry_of(message: StoredMessage) -> Entry:
    """Return the entry of a message."""
    return Entry(
        kind="message", owner=message.id, text=message.text, speaker=message.speaker,
        said_at=to_micros(message.said_at), vector=vector(message.position), session_id=message.session_id,
        position=message.position, end=len(message.text),
    )  # fmt: skip


def seen(view: CubeView) -> list[tuple[object, ...]]:
    """Return what a view tells, row by row, whatever numbers it gives to names and places."""
    keys = [int(key) for key in view.keys]

    def key_at(place: int) -> int | None:
        return None if place < 0 else keys[place]

    return [
        (
            keys[row],
            view.kind_names[view.kinds[row]],
            view.owners[row],
            view.versions[row],
            view.session_ids[view.sessions[row]] if view.sessions[row] >= 0 else None,
            view.speaker_names[view.speakers[row]],
            *(int(column[row]) for column in (view.positions, view.said_at, view.valid_to, view.lengths, view.starts)),
            bool(view.live[row]),
            key_at(int(view.previous[row])),
            key_at(int(view.following[row])),
            round(float(view.pair_norms[row]), 4),
            tuple(round(float(value), 3) for value in view.vectors[row]),
        )
        for row in range(len(view))
    ]


def holding(tx: Transaction, cube: Cube, stem: str) -> int:
    """Return in how many entries of a cube a stem stands."""
    [(keys, counts)] = tx.index.postings(cube.key, [stem])
    assert len(keys) == len(counts), "each entry comes with its count"
    assert list(keys) == sorted(set(keys)), "entries come in order, each once"
    return len(keys)


def refused(attempt: Callable[[], object], error: type[Exception]) -> bool:
    """Tell whether an attempt ends in this error."""
    try:
        attempt()
    except error:
        return True
    return False


def view_of(store: Store, cube: Cube) -> CubeView:
    """Return a cube's view in a snapshot of its own."""
    with reading(store) as tx:
        return tx.index.view(cube.key)


def check_all_or_nothing(open_store: OpenStore) -> None:
    """A write block that raises leaves no row, no entry, no job and no revision behind."""
    with closing(open_store()) as store:
        cube = new_cube(store)
        before = seen(view_of(store, cube))
        assert refused(lambda: _half(store, cube), _StopError)
        with reading(store) as tx:
            assert not tx.messages.list(cube.key), "messages are left of a transaction that failed"
            assert not tx.messages.sessions(cube.key), "a session is left of a transaction that failed"
            assert not tx.jobs.list(cube.key), "a job is left of a transaction that failed"
            assert not holding(tx, cube, "half"), "words are left of a transaction that failed"
            assert seen(tx.index.view(cube.key)) == before, "entries are left of a transaction that failed"
        with writing(store) as tx:
            say(tx, cube, ["another thing"])
        assert len(view_of(store, cube)) == 1, "the entries of a failed transaction come up in a later one"


def check_durable_and_seen_by_others(open_store: OpenStore) -> None:
    """What a write block stored is there when it ends: for other stores on the same place, and after opening again."""
    with closing(open_store()) as first, closing(open_store()) as second:
        cube = new_cube(first)
        with writing(first) as tx:
            ids = say(tx, cube, ["plover", _ODD])
        with reading(second) as tx:
            kept = tx.messages.get(cube.key, ids)
            assert [kept[each].content for each in ids] == ["plover", _ODD], "text does not come back verbatim"
            assert holding(tx, cube, "plover") == 1, "another store does not find the words"
    with closing(open_store()) as third, reading(third) as tx:
        assert [message.id for message in tx.messages.list(cube.key)] == ids, "messages are lost when a store is closed"


def check_snapshot(open_store: OpenStore) -> None:
    """A read transaction sees one moment, whatever is written meanwhile, and does not wait for writers."""
    with closing(open_store()) as store, closing(open_store()) as other:
        cube = new_cube(store)
        with writing(store) as tx:
            say(tx, cube, ["first"])
        with reading(store) as tx:
            before = seen(tx.index.view(cube.key))
            with writing(other) as beside:
                say(beside, cube, ["second"])
            assert len(tx.messages.list(cube.key)) == 1, "a snapshot shows what was written after it"
            assert seen(tx.index.view(cube.key)) == before, "a snapshot's view shows what was written after it"
            assert len(view_of(other, cube)) == 2
        assert len(view_of(store, cube)) == 2, "a later snapshot does not show what another store wrote"


def check_scopes(open_store: OpenStore) -> None:
    """Rows of one cube are invisible with the key of another, and cubes are visible to those with a role only."""
    with closing(open_store()) as store:
        mine, yours = new_cube(store), new_cube(store, "bob")
        with writing(store) as tx:
            ids = say(tx, mine, ["the plover"])
            tx.jobs.put(_job(mine))
            memory = _memory(mine, ids[0])
            tx.memories.put(memory)
        with reading(store) as tx:
            assert tx.cubes.get("bob", mine.id) is None
            assert [cube.id for cube, _ in tx.cubes.list("bob")] == [yours.id]
            assert not tx.messages.get(yours.key, ids)
            assert not tx.messages.list(yours.key)
            assert not tx.messages.known_in(yours.key, "s", [f"new:{ids[0]}"])
            assert not tx.messages.find_matching(yours.key, Compare("speaker", None, "eq", "ann"))
            assert not tx.memories.get(yours.key, [memory.id])
            assert not tx.memories.of_messages(yours.key, ids)
            assert not holding(tx, yours, "plover")
            assert tx.index.frequencies(yours.key, ["plover"]) == ({"plover": 0}, 0)
            assert not len(tx.index.view(yours.key))
            assert not tx.jobs.list(yours.key)
            assert len(tx.messages.get(mine.key, ids)) == 1
        assert refused(lambda: new_cube(store), ConflictError), "a name that its owner has taken is taken twice"


def check_keys_of_messages_are_taken_once(open_store: OpenStore) -> None:
    """A dedupe key names one message of its session, and other sessions may use it as well."""
    with closing(open_store()) as store:
        cube = new_cube(store)
        with writing(store) as tx:
            [first] = say(tx, cube, ["one"], key="id:1")
            [second] = say(tx, cube, ["two"], session="other", key="id:1")
        with reading(store) as tx:
            assert tx.messages.known_in(cube.key, "s", ["id:1", "id:2"]) == {"id:1": first}
            assert tx.messages.known_in(cube.key, "other", ["id:1"]) == {"id:1": second}
            assert tx.messages.known_in(cube.key, "nowhere", ["id:1"]) == {}


def check_the_end_of_a_session(open_store: OpenStore) -> None:
    """The newest messages of a session come in order, of this cube and this name alone."""
    with closing(open_store()) as store:
        cube, other = new_cube(store), new_cube(store, "ben")
        with writing(store) as tx:
            say(tx, cube, ["one", "two"])
            say(tx, cube, ["aside"], session="t")
            say(tx, other, ["foreign"])
            say(tx, cube, ["three"])
        with reading(store) as tx:
            for count, texts in ((2, ["two", "three"]), (3, ["one", "two", "three"]), (9, ["one", "two", "three"])):
                found = [message.text for message in tx.messages.last(cube.key, "s", count)]
                assert found == texts, "the end of a session is not what was said last, in order"
            assert not tx.messages.last(cube.key, "no such", 3), "a session that is none has messages"


def check_views_follow_other_stores(open_store: OpenStore) -> None:
    """Two open stores that write in turn, and take things out, give the view that a newly opened one gives."""
    with closing(open_store()) as first, closing(open_store()) as second:
        cube = new_cube(first)
        said: list[str] = []
        for turn in range(6):
            writer, reader = (first, second) if turn % 2 else (second, first)
            with writing(writer) as tx:
                said += say(tx, cube, [f"turn {turn}", f"again {turn}"], session=f"s{turn % 3}")
            with writing(reader) as tx:
                tx.cubes.touch(cube.key)
                assert tx.index.remove(cube.key, [said.pop(turn % len(said))]) == 1
            with closing(open_store()) as fresh:
                expected = seen(view_of(fresh, cube))
            assert seen(view_of(reader, cube)) == expected, f"the reader's view differs after turn {turn}"
            assert seen(view_of(writer, cube)) == expected, f"the writer's view differs after turn {turn}"
            assert sorted(row[2] for row in expected) == sorted(said)  # type: ignore[type-var]  # owners are strings


def check_names_leave_with_what_bore_them(open_store: OpenStore) -> None:
    """A view names the speakers, kinds and sessions of its entries and no others."""
    with closing(open_store()) as store:
        cube = new_cube(store)
        with writing(store) as tx:
            [gone] = say(tx, cube, ["leaving"], session="left")
            say(tx, cube, ["staying"])
        assert len(view_of(store, cube).session_ids) == 2
        with writing(store) as tx:
            tx.cubes.touch(cube.key)
            tx.index.remove(cube.key, [gone])
        assert len(view_of(store, cube).session_ids) == 1, "a view goes on naming what was taken out"


def check_versions_are_indexed_once(open_store: OpenStore) -> None:
    """`sync` adds new versions, changes the validity of known ones and drops the others."""
    with closing(open_store()) as store:
        cube = new_cube(store)
        one, two, three = (
            Entry("fact", "m", f"version {number}", "ann", number, vector(number), version_id=f"v{number}")
            for number in range(3)
        )
        for entries in ([one], [replace(one, valid_to=1, live=False), two], [two, three], [], [three]):
            with writing(store) as tx:
                tx.index.sync(cube.key, tx.cubes.touch(cube.key), "m", entries)
            with closing(open_store()) as fresh:
                expected = seen(view_of(fresh, cube))
            assert seen(view_of(store, cube)) == expected
            assert [row[3] for row in expected] == [entry.version_id for entry in entries]
            assert [row[11] for row in expected] == [entry.live for entry in entries]


def check_writers_queue_up(open_store: OpenStore) -> None:
    """Writers of several threads and stores wait for each other: no write is lost, positions are 0..n-1."""
    with closing(open_store()) as first, closing(open_store()) as second:
        cube = new_cube(first)
        failed: list[BaseException] = []

        def work(store: Store) -> None:
            try:
                for _ in range(10):
                    with writing(store) as tx:
                        say(tx, cube, ["one"])
            except BaseException as error:
                failed.append(error)
                raise

        threads = [threading.Thread(target=work, args=(store,)) for store in (first, first, second, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert not failed, failed
        assert not any(thread.is_alive() for thread in threads), "writers wait for each other without an end"
        with reading(first) as tx:
            assert sorted(message.position for message in tx.messages.list(cube.key)) == list(range(40))
            assert [session.messages for session in tx.messages.sessions(cube.key)] == [40]
        assert len(view_of(first, cube)) == len(view_of(second, cube)) == 40


def check_changes_and_marks(open_store: OpenStore) -> None:
    """Changes come back as stored, newest first, of their cube only; erasing takes steps out; marks can be lifted."""
    with closing(open_store()) as store:
        cube, other = new_cube(store), new_cube(store, "bob")
        held = (("v1", 5, None), ("v2", 5, 9))
        one, two = (
            Step(Action.REMOVE, memory_id, "Ann", "a.b", "before", None, "v1", "v2", reason=_ODD, source="q", held=held)
            for memory_id in ("m1", "m2")
        )
        first = MemoryChange("c1", cube.key, "feedback", "first asked", NOON, (one, two))
        second = MemoryChange("c2", cube.key, "feedback", "asked", NOON, (replace(one, source="r"),))
        with writing(store) as tx:
            tx.changes.put(first)
            tx.changes.put(second)
            tx.changes.set_undone(cube.key, "c2", NOON)
            tx.memories.disown(cube.key, ["x", "y"])
            tx.memories.own_again(cube.key, ["x", "z"])
            tx.memories.own_again(other.key, ["y"])
            assert tx.memories.disowned(cube.key, ["x", "y"]) == {"y"}, "a mark of another cube was lifted"
        with writing(store) as tx:
            assert tx.changes.list(cube.key) == [replace(second, undone_at=NOON), first]
            assert tx.changes.list(cube.key, limit=1) == [replace(second, undone_at=NOON)]
            assert tx.changes.get(other.key, "c1") is None, "a change is reached from another cube"
            assert tx.changes.erase(other.key, ["m1"], ["q"]) == 0
            assert tx.changes.erase(cube.key, [], ["q"]) == 0
            assert tx.changes.get(cube.key, "c1") == replace(
                first, asked="", steps=(replace(one, reason=""), replace(two, reason=""))
            ), "words of an erased message are left"
            assert tx.changes.erase(cube.key, ["m1"]) == 2
            assert tx.changes.list(cube.key) == [replace(first, asked="", steps=(replace(two, reason=""),))]


def check_long_names(open_store: OpenStore) -> None:
    """Names as long as callers may choose them are kept, found again and told apart, in any script."""
    rocks = "".join(chr(0x1F600 + number * 7 % 500) for number in range(512))  # 2,048 bytes that no packing shortens
    other = f"{rocks[:-1]}!"
    with closing(open_store()) as store:
        with writing(store) as tx:
            cubes = [tx.cubes.create(new_id(), name, CubeKind.PROJECT, rocks, NOON) for name in (rocks, other)]
        assert refused(lambda: new_cube(store, rocks, rocks, CubeKind.PROJECT), ConflictError), (
            "a long name is taken twice"
        )
        cube = cubes[0]
        with writing(store) as tx:
            ids = [say(tx, cube, ["plover"], session=name, key=f"id:{name}")[0] for name in (rocks, other)]
            memories = [
                replace(_memory(cube, ids[0]), subject=f"{rocks}{rocks}{tail}", value_key=rocks) for tail in "ab"
            ]
            for memory in memories:
                tx.memories.put(memory)
            entity = tx.entities.note(cube.key, rocks * 3, "person", {ids[0]: "q"}, entity_id=new_id(), at=NOON)
            job = tx.jobs.put(_job(cube))
            tx.jobs.note_task(cube.key, rocks, job)
        with reading(store) as tx:
            assert [found.id for found, _ in tx.cubes.list(rocks)] == [each.id for each in cubes]
            assert tx.cubes.find(rocks, CubeKind.PROJECT, other) == cubes[1]
            assert tx.messages.known_in(cube.key, rocks, [f"id:{rocks}", f"id:{other}"]) == {f"id:{rocks}": ids[0]}
            assert [session.name for session in tx.messages.sessions(cube.key)] == [rocks, other]
            for memory in memories:
                found = tx.memories.find(cube.key, fold(memory.subject), memory.attribute)
                assert [each.id for each in found] == [memory.id], "one long name is taken for another"
                assert found[0].subject == memory.subject
            assert [each.name for each in tx.entities.list(cube.key)] == [rocks * 3]
            assert tx.jobs.of_task(cube.key, rocks) == [job]
        with writing(store) as tx:
            again = tx.entities.note(cube.key, rocks * 3, "person", {ids[1]: "q"}, entity_id=new_id(), at=NOON)
            assert again == entity, "a long name is not known again"


def check_deleted_cube_is_gone(open_store: OpenStore) -> None:
    """A cube that one store deleted is unknown to the others: writing raises `NotFoundError`, and so does its view."""
    with closing(open_store()) as first, closing(open_store()) as second:
        cube = new_cube(first)
        with writing(first) as tx:
            say(tx, cube, ["plover"])
        assert len(view_of(second, cube)) == 1
        with writing(first) as tx:
            tx.cubes.delete(cube.key, NOON)
        assert refused(lambda: view_of(second, cube), NotFoundError), "a deleted cube can still be read"
        assert refused(lambda: _touch(second, cube), NotFoundError), "a deleted cube can still be written to"
        again = new_cube(second)
        assert again.key != cube.key, "the key of a deleted cube is used again"
        with reading(second) as tx:
            assert not holding(tx, cube, "plover"), "words of a deleted cube are left"


def check_sizes(open_store: OpenStore) -> None:
    """A store tells how much it holds, all cubes together; about, where it may, but never nothing for something."""
    with closing(open_store()) as store:
        empty = store.sizes()
        assert (empty.cubes, empty.entries, empty.vectors, empty.cached_cubes) == (0, 0, 0, 0), empty
        for cube in (new_cube(store, "ann"), new_cube(store, "bo")):
            with writing(store) as tx:
                say(tx, cube, ["a plover", "a heron"])
        assert len(view_of(store, cube)) == 2, "what was said is there"
        full = store.sizes()
        assert min(full.cubes, full.entries, full.vectors, full.database_bytes) > 0, full
        assert full.cached_cubes == 1, full


def check_closed_store(open_store: OpenStore) -> None:
    """A closed store says so, and closing it again does nothing."""
    store = open_store()
    for _ in range(2):
        store.close()
    assert refused(lambda: store.read().__enter__(), StoreError), "a closed store is read"
    assert refused(lambda: store.write().__enter__(), StoreError), "a closed store is written to"


CHECKS: Final[tuple[Callable[[OpenStore], None], ...]] = (
    check_all_or_nothing,
    check_durable_and_seen_by_others,
    check_snapshot,
    check_scopes,
    check_keys_of_messages_are_taken_once,
    check_the_end_of_a_session,
    check_views_follow_other_stores,
    check_names_leave_with_what_bore_them,
    check_versions_are_indexed_once,
    check_writers_queue_up,
    *jobs_contract.CHECKS,
    *keys_contract.CHECKS,
    *documents_contract.CHECKS,
    check_changes_and_marks,
    check_long_names,
    check_deleted_cube_is_gone,
    check_sizes,
    check_closed_store,
)
"""All checks; each needs an empty place."""


class _StopError(Exception):
    """Ends a transaction."""


def _half(store: Store, cube: Cube) -> None:
    """Write, see what was written, and fail."""
    with writing(store) as tx:
        say(tx, cube, ["a half", "done thing"])
        tx.jobs.put(_job(cube))
        assert len(tx.index.view(cube.key)) == 2, "a transaction does not see what it wrote"
        raise _StopError


def _touch(store: Store, cube: Cube) -> None:
    with writing(store) as tx:
        tx.cubes.touch(cube.key)


def _job(cube: Cube, kind: str = "organize") -> Job:
    return Job(new_id(), cube.key, kind, JobState.QUEUED, 0, NOON, NOON)


def _memory(cube: Cube, message_id: str) -> Memory:
    version = Version(
        new_id(), 1, "Ann likes plovers.", "plovers", 1, NOON, None, None, NOON, 0.9, Change.ADDED,
        (Source(message_id, "the plover", NOON),),
    )  # fmt: skip
    return Memory(
        new_id(), cube.key, MemoryKind.PREFERENCE, "Ann", "preference.animal", "plovers",
        locked=False, created_at=NOON, versions=(version,),
    )  # fmt: skip
