"""Adding is durable and findable when it returns, with or without an embedder, and the reply says what happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.errors import EmbedderError
from mnemic.model.job import JobState
from mnemic.model.message import StoredMessage
from tests.services.opened import Clock, open_memory

pytestmark = pytest.mark.usefixtures("engine")


class Moody:
    """An embedder that counts the texts it was given, and fails on demand."""

    def __init__(self) -> None:
        self._inner = HashingEmbedder(64)
        self.calls: list[int] = []
        self.failing = False

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def width(self) -> int:
        return self._inner.width

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.failing:
            raise EmbedderError("the server is on fire")
        self.calls.append(len(texts))
        return self._inner.embed(texts)


@pytest.fixture
def embedder() -> Moody:
    return Moody()


@pytest.fixture
def memory(tmp_path: Path, embedder: Moody) -> Iterator[Memory]:
    with open_memory(tmp_path, embedder=embedder) as opened:
        yield opened


def stored(memory: Memory, session: str | None = None) -> list[StoredMessage]:
    found = memory.list(user="ann", kinds="message", session=session, limit=1_000)
    return [item for item in found if isinstance(item, StoredMessage)]


def test_what_was_added_is_found_at_once_and_after_opening_again(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        added = memory.add("The key lies under the third stone.", user="ann")
        assert (added.stored, added.session, added.skipped, added.notes) == (1, "default", (), ())
        assert memory.search("third stone", user="ann")[0].id == added.message_ids[0]
        assert [job.id for job in memory.jobs.list(user="ann")] == [added.job]
        assert memory.jobs.list(user="ann")[0].state is JobState.QUEUED
    with open_memory(tmp_path) as memory:
        assert memory.search("third stone", user="ann")[0].id == added.message_ids[0]
        assert [job.state for job in memory.jobs.wait(added.job, user="ann")] == [JobState.DONE]


def test_a_batch_is_embedded_in_one_call(memory: Memory, embedder: Moody) -> None:
    memory.add([f"Line {number}." for number in range(50)], user="ann")
    assert embedder.calls == [50]


def test_what_is_stored_already_is_not_embedded_again(memory: Memory, embedder: Moody) -> None:
    batch = [{"content": f"Line {number}.", "id": number} for number in range(10)]
    first = memory.add(batch, user="ann")
    again = memory.add([*batch, {"content": "new", "id": 10}], user="ann")
    assert (again.stored, len(again.skipped)) == (1, 10)
    assert again.message_ids[:10] == first.message_ids
    assert [skipped.id for skipped in again.skipped] == list(first.message_ids)
    assert [skipped.index for skipped in again.skipped] == list(range(10))
    assert embedder.calls == [10, 1]


def test_the_same_words_at_the_same_time_are_the_same_message(memory: Memory) -> None:
    said = {"content": "Good morning.", "at": "2026-01-01T09:00:00Z"}
    assert memory.add(said, user="ann").stored == 1
    assert memory.add(said, user="ann").stored == 0
    assert memory.add({**said, "at": "2026-01-01T10:00:00+01:00"}, user="ann").stored == 0, "the same moment"
    for other in ({"at": "2026-01-02T09:00:00Z"}, {"name": "Bob"}, {"role": "assistant"}, {"content": "Good night."}):
        assert memory.add({**said, **other}, user="ann").stored == 1
    assert memory.add(said, user="ann", session="other").stored == 1
    assert memory.add(said, user="bob").stored == 1


def test_an_outage_of_the_embedder_loses_nothing_and_is_made_up_for(memory: Memory, embedder: Moody) -> None:
    embedder.failing = True
    added = memory.add(["I live in Porto.", "A quixotic pumpkin."], user="ann")
    assert added.stored == 2
    assert "the server is on fire" in added.notes[0]
    found = memory.search("pumpkin", user="ann")
    assert (found[0].text, found.notes) == ("A quixotic pumpkin.", ("searched by words only: the server is on fire",))
    assert all("fire" not in message.text for message in stored(memory)), "an outage is never content"
    embedder.failing = False
    assert all(job.state is JobState.DONE for job in memory.jobs.wait(user="ann"))
    again = memory.search("pumpkins", user="ann", kinds="message", explain=True)
    assert again.notes == ()
    assert again[0].why is not None
    assert again[0].why.channels["dense"][1] > 0
    assert memory.search("Porto", user="ann", kinds="memory").hits


def test_a_job_that_always_fails_ends_dead_and_tells_why(tmp_path: Path, embedder: Moody) -> None:
    clock = Clock()
    with open_memory(tmp_path, embedder=embedder, clock=clock) as memory:
        embedder.failing = True
        memory.add("I live in Porto.", user="ann")
        worker = memory._parts.worker
        for _ in range(20):
            worker.run_once()
            clock.at += timedelta(minutes=10)
        dead = [job for job in memory.jobs.list(user="ann") if job.kind == "embed"]
        assert [job.state for job in dead] == [JobState.DEAD]
        assert "the server is on fire" in str(dead[0].error)
        assert memory.search("Porto", user="ann").hits, "what was said is found all the same"
        assert memory.stats(user="ann").jobs["dead"] >= 1


def test_sessions_keep_their_own_positions_and_pages(memory: Memory) -> None:
    for number in range(6):
        memory.add(f"Turn {number}.", user="ann", session=f"s{number % 2}")
    for name in ("s0", "s1"):
        assert [message.position for message in stored(memory, name)] == [0, 1, 2]
    assert [(session.name, session.messages) for session in memory.sessions(user="ann")] == [("s0", 3), ("s1", 3)]


def test_a_call_gives_ids_in_its_order_whatever_it_skipped(memory: Memory) -> None:
    memory.add({"content": "old", "id": "old"}, user="ann")
    added = memory.add(["one", " ", {"content": "old", "id": "old"}, "two"], user="ann")
    assert (added.stored, [skipped.index for skipped in added.skipped]) == (2, [1, 2])
    texts = {message.id: message.text for message in stored(memory)}
    assert [texts[each] for each in added.message_ids] == ["one", "old", "two"]


def test_messages_go_to_the_cube_that_was_named(memory: Memory) -> None:
    cube = memory.cubes.create("garden", user="ann")
    added = memory.add("The beans are up.", user="ann", cube=cube.id)
    assert added.cube == cube.id
    assert memory.search("beans", user="ann").hits == ()
    assert [hit.cube for hit in memory.search("beans", user="ann", cubes=cube.id)] == [cube.id]
    personal = memory.add("And so are the weeds.", user="ann").cube
    both = memory.search("beans weeds", user="ann", cubes=[personal, cube.id])
    assert {hit.cube for hit in both} == {personal, cube.id}


def test_a_message_of_reasoning_only_is_stored_as_it_came(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Where did they say it was?"}]}
        added = memory.add([thought], user="ann")
        assert added.stored == 1
        kept = memory.get(added.message_ids[0], user="ann")
        assert isinstance(kept, StoredMessage)
        assert kept.content == thought["content"]
        assert not memory.search("Where did they say it was?", user="ann", threshold=0.5)


def test_a_message_stored_under_an_id_is_known_when_it_comes_again_without_one(tmp_path: Path) -> None:
    turn = {"role": "user", "content": "I planted leeks.", "at": "2026-02-01T10:00:00+00:00"}
    with open_memory(tmp_path) as memory:
        named = memory.add({**turn, "id": "m1"}, user="ann")
        again = memory.add(turn, user="ann")
        assert (again.stored, again.message_ids, again.skipped[0].id) == (0, named.message_ids, named.message_ids[0])
        assert memory.add({**turn, "content": "I planted beans."}, user="ann").stored == 1
        assert memory.add({**turn, "name": "Bo"}, user="ann").stored == 1
        assert memory.add({**turn, "id": "m2"}, user="ann").stored == 1, "another id is another message"
