"""`watch`: what is stored or changed is told while it happens, whichever process writes it, and nothing else is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mnemic.api import Memory
from mnemic.errors import InputError, NotFoundError, StoreError
from mnemic.model.item import Item
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.model.message import StoredMessage
from mnemic.services import newest
from tests.services.opened import Clock, open_memory, talk

pytestmark = pytest.mark.usefixtures("engine")

PATIENCE = 30.0  # seconds that a test waits for what must come
QUIET = 0.3  # seconds without news after which a watch of a test ends


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        yield opened


class Listening:
    """Hears a watch to its end, on a thread."""

    def __init__(self, items: Iterator[Item]) -> None:
        self.heard: list[Item] = []
        self._items = items
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        with suppress(StoreError):  # the test is over, and its memory closed
            for item in self._items:
                with self._changed:
                    self.heard.append(item)
                    self._changed.notify_all()

    def until(self, enough: Callable[[list[Item]], bool]) -> list[Item]:
        with self._changed:
            assert self._changed.wait_for(lambda: enough(self.heard), PATIENCE), self.heard
        return self.heard

    def to_the_end(self) -> list[Item]:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return self.heard


def texts(items: list[Item]) -> list[str]:
    return [item.text if isinstance(item, StoredMessage) else item.current.text for item in items]


def test_what_is_added_while_somebody_watches_is_told_in_order_and_what_was_there_is_not(memory: Memory) -> None:
    talk(memory, [("ann", "I live in Porto.")])
    memory.jobs.wait(user="ann")
    watch = memory.watch(user="ann", timeout=QUIET)
    talk(memory, [("ann", "I like tea."), ("bot", "Me too."), ("ann", "I like tea.")], session="s2")
    assert texts(list(watch)) == ["I like tea.", "Me too.", "I like tea."]


def test_a_message_is_told_once_however_many_passages_it_has(memory: Memory) -> None:
    watch = memory.watch(user="ann", timeout=QUIET)
    memory.add("A long story about the sea. " * 3_000, user="ann")
    [told] = list(watch)
    assert isinstance(told, StoredMessage) and told == memory.get(told.id, user="ann")


def test_what_is_only_indexed_anew_is_not_told(memory: Memory) -> None:
    [said] = talk(memory, [("ann", "I live in Porto.")])
    cube_key = memory.get(said, user="ann").cube_key
    watch = memory.watch(user="ann", timeout=QUIET)
    with memory._parts.store.write() as tx:
        tx.enter(cube_key)
        [(_, key, owner)] = tx.index.changed(cube_key, (0, 0), 10)
        tx.index.set_vectors(cube_key, tx.cubes.touch(cube_key), [(key, tx.index.no_vector)])
    assert owner == said and list(watch) == []


def test_what_is_derived_and_what_changes_is_told_as_it_is_by_then(memory: Memory) -> None:
    heard = Listening(memory.watch(user="ann", timeout=5))
    [said] = talk(memory, [("ann", "I live in Porto.")])
    heard.until(lambda items: [item.id for item in items] == [said])
    memory.jobs.wait(user="ann")
    derived = heard.until(lambda items: len(items) == 2)[1]
    assert isinstance(derived, MemoryRecord) and derived == memory.get(derived.id, user="ann")
    changed = memory.update(derived.id, "Ann lives in Faro.", user="ann")
    assert heard.until(lambda items: len(items) == 3)[2] == changed
    locked = memory.lock(derived.id, user="ann")
    assert locked.locked
    assert heard.until(lambda items: len(items) == 4)[3] == locked
    memory.forget(derived.id, user="ann")
    assert len(heard.to_the_end()) == 4


def test_a_watch_may_begin_before_there_is_anything(memory: Memory) -> None:
    heard = Listening(memory.watch(user="new", timeout=3))
    memory.add("hello", user="new")
    assert texts(heard.until(lambda items: len(items) == 1)) == ["hello"]


def test_what_another_process_writes_is_told(memory: Memory, tmp_path: Path) -> None:
    watch = memory.watch(user="ann", timeout=QUIET)
    with open_memory(tmp_path) as other:
        other.add("from elsewhere", user="ann")
    assert texts(list(watch)) == ["from elsewhere"]


def test_a_watch_sees_only_its_own_cube(memory: Memory) -> None:
    cube = memory.cubes.create("work", user="ann")
    personal = memory.watch(user="ann", timeout=QUIET)
    of_cube = memory.watch(user="ann", cube=cube.id, timeout=QUIET)
    memory.add("at home", user="ann")
    memory.add("at work", user="ann", cube=cube.id)
    memory.add("elsewhere", user="bob")
    assert texts(list(personal)) == ["at home"]
    assert texts(list(of_cube)) == ["at work"]


def test_much_that_came_at_once_is_told_whole(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newest, "PAGE", 4)
    watch = memory.watch(user="ann", timeout=QUIET)
    said = [f"note {number}" for number in range(11)]
    memory.add(said, user="ann")
    assert texts(list(watch)) == said


def test_a_watch_of_what_is_not_there_is_refused_when_it_is_asked_for(memory: Memory) -> None:
    cube = memory.cubes.create("private", user="bob")
    for given in (cube.id, "nowhere"):
        with pytest.raises(NotFoundError):
            memory.watch(user="ann", cube=given)
    with pytest.raises(InputError) as told:
        memory.watch(user="")
    assert told.value.field == "user"


@pytest.mark.parametrize("given", [-1, float("nan"), True, "9"], ids=repr)
def test_a_watch_for_what_is_no_time_is_refused(memory: Memory, given: Any) -> None:
    with pytest.raises(InputError) as told:
        memory.watch(user="ann", timeout=given)
    assert told.value.field == "timeout"


def test_a_watch_ends_with_an_error_when_its_cube_is_deleted_or_the_memory_closed(tmp_path: Path) -> None:
    memory = open_memory(tmp_path, clock=Clock())
    cube = memory.cubes.create("gone", user="ann")
    watch = memory.watch(user="ann", cube=cube.id, timeout=PATIENCE)
    personal = memory.watch(user="ann", timeout=PATIENCE)
    memory.cubes.delete(cube.id, user="ann")
    with pytest.raises(NotFoundError):
        next(watch)
    memory.close()
    with pytest.raises(StoreError):
        next(personal)


def test_a_personal_cube_that_is_made_anew_is_told_from_its_beginning(memory: Memory) -> None:
    cube = memory.add(["one", "two", "three"], user="ann").cube
    heard = Listening(memory.watch(user="ann", timeout=3))
    memory.cubes.delete(cube, user="ann")
    memory.add("again", user="ann")
    assert texts(heard.until(lambda items: len(items) == 1)) == ["again"]


def test_who_stops_listening_leaves_nothing_behind(memory: Memory) -> None:
    watch = memory.watch(user="ann", timeout=PATIENCE)
    memory.add("hello", user="ann")
    next(watch)
    watch.close()  # type: ignore[attr-defined] # a generator, which promises to be an iterator
    bell = memory._parts.store.bell
    listeners = getattr(bell, "_listeners", None) or getattr(getattr(bell, "_here", None), "_listeners", [])
    assert listeners == []
