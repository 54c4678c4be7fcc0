"""Threads and processes add to one store at once: nothing is lost, nobody is locked out, every order is kept."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from mnemic import Memory, NotFoundError
from mnemic.model.job import JobState
from mnemic.model.message import StoredMessage
from tests.faults.adding import SETTINGS, text_of
from tests.faults.counting import faults

PATIENCE = 120  # seconds before a test that hangs is a failure; it needs a few
ADDING = Path(__file__).with_name("adding.py")


def open_memory(folder: Path) -> Memory:
    return Memory(folder, settings=SETTINGS)


def together(calls: Sequence[Callable[[], object]]) -> None:
    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result(timeout=PATIENCE)


def texts(memory: Memory, user: str, session: str | None = None) -> list[str]:
    found = memory.list(user=user, kinds="message", session=session, limit=1_000)
    said = [item for item in found if isinstance(item, StoredMessage)]
    return [message.text for message in sorted(said, key=lambda message: (message.session, message.position))]


def in_order(found: list[str], name: str, count: int) -> bool:
    return [text for text in found if f" {name}x" in text] == [text_of(name, number) for number in range(count)]


def test_eight_threads_and_four_processes_add_and_search_in_one_store(tmp_path: Path) -> None:
    count, names = 20, [f"thread{number}" for number in range(8)]
    helpers = [f"process{number}" for number in range(4)]
    started = [
        subprocess.Popen(
            [sys.executable, str(ADDING), str(tmp_path), "crowd", "plaza", name, str(count)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for name in helpers
    ]  # fmt: skip
    with open_memory(tmp_path) as memory:

        def add(name: str) -> None:
            for number in range(count):
                text = text_of(name, number)
                memory.add({"content": text, "name": name}, user="crowd", session="plaza")
                if number % 10 == 9:
                    found = memory.search(f"note {name}x{number}", user="crowd", kinds="message", limit=1)
                    assert found[0].text == text

        together([partial(add, name) for name in names])
        for process in started:
            out, err = process.communicate(timeout=PATIENCE)
            assert (process.returncode, err) == (0, "")
            assert out.count("added") == count
        assert all(job.state is JobState.DONE for job in memory.jobs.wait(user="crowd", timeout=PATIENCE))
        found = texts(memory, "crowd", "plaza")
        assert len(found) == count * 12
        assert all(in_order(found, name, count) for name in names + helpers)
    assert faults(tmp_path, finished=True) == []


def test_parallel_adds_to_one_session_keep_order_and_count(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        batches = [[{"content": text_of(name, number), "name": name} for number in range(40)] for name in "abc"]
        together([partial(memory.add, batch, user="ann", session="one") for batch in batches])
        found = texts(memory, "ann", "one")
        places = {name: [place for place, text in enumerate(found) if f" {name}x" in text] for name in "abc"}
        assert all(in_order(found, name, 40) for name in "abc")
        assert all(held == list(range(held[0], held[0] + 40)) for held in places.values()), "a call stays together"
        memory.jobs.wait(user="ann", timeout=PATIENCE)
    assert faults(tmp_path, finished=True) == []


def test_the_same_message_from_many_threads_is_stored_once(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        added: list[int] = []
        message = {"content": "once and only once", "id": "m1"}
        together([lambda: added.append(memory.add(message, user="ann").stored)] * 12)
        assert sorted(added) == [0] * 11 + [1]
        assert len(memory.cubes.list(user="ann")) == 1, "one personal cube, whoever was first"


def test_users_who_start_at_once_get_a_cube_each(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        users = [f"user{number % 5}" for number in range(40)]
        together([partial(memory.add, f"I am {user}.", user=user) for user in users])
        for user in set(users):
            assert texts(memory, user) == [f"I am {user}."] * 8


def test_searches_go_on_while_messages_are_forgotten(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        added = memory.add([text_of("gone", number) for number in range(16)], user="ann")
        kept = memory.add("note keptx1 about gardens stays", user="ann")
        gone = 0

        def forget() -> None:
            nonlocal gone
            for message_id in added.message_ids:
                assert memory.forget(message_id, user="ann").removed["message"] == 1
                gone += 1
                with pytest.raises(NotFoundError):
                    memory.get(message_id, user="ann")

        def search() -> None:
            while gone < 16:
                before = set(added.message_ids[:gone])
                found = memory.search("note about gardens", user="ann", kinds="message", limit=100)
                assert kept.message_ids[0] in {hit.id for hit in found}
                assert not before & {hit.id for hit in found}, "what was forgotten before the search is not found"
                assert memory.context("note about gardens", user="ann", budget=300).tokens <= 300

        together([forget, search, search])
        memory.jobs.wait(user="ann", timeout=PATIENCE)
        assert texts(memory, "ann") == ["note keptx1 about gardens stays"]


def use(memory: Memory, cube: str) -> None:
    """Write and search in a cube until it is gone."""
    try:
        while True:
            memory.add(text_of("late", 1), user="ann", cube=cube)
            memory.search("gardens", user="ann", cubes=cube)
    except NotFoundError:
        return


def delete(memory: Memory, cube: str) -> None:
    memory.cubes.delete(cube, user="ann")


def test_a_cube_is_deleted_while_others_write_and_search_in_it(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory, open_memory(tmp_path) as other:
        for _ in range(3):
            cube = memory.cubes.create("project", user="ann").id
            memory.add([text_of("project", number) for number in range(20)], user="ann", cube=cube)

            together([partial(use, memory, cube), partial(use, other, cube), partial(delete, memory, cube)])
        assert memory.cubes.list(user="ann") == other.cubes.list(user="ann")
    assert faults(tmp_path, finished=False) == []


def test_a_memory_closes_while_threads_use_it(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    acknowledged: list[str] = []

    def add() -> None:
        number = 0
        while True:
            text = text_of("closing", number)
            memory.add(text, user="ann")
            acknowledged.append(text)
            number += 1

    with ThreadPoolExecutor(2) as pool:
        adding = pool.submit(add)
        while len(acknowledged) < 10:
            assert not adding.done()
        memory.close()
        error = adding.exception(timeout=PATIENCE)
    assert "closed" in str(error)
    with open_memory(tmp_path) as memory:
        assert texts(memory, "ann")[: len(acknowledged)] == acknowledged
        memory.jobs.wait(user="ann", timeout=PATIENCE)
    assert faults(tmp_path, finished=True) == []
