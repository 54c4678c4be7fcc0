"""What editors say in conversation is remembered in knowledge bases that learn, and goes when it is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic import AccessError, InputError, Memory, NotFoundError
from tests.services.opened import open_memory

pytestmark = pytest.mark.usefixtures("engine")

SAID = "The boiler of house 7 was replaced by a heat pump."
AT = datetime(2026, 2, 1, 9, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        yield opened


@pytest.fixture
def base(memory: Memory) -> str:
    base = memory.knowledge.create("houses", user="ann", learns=True).cube.id
    memory.knowledge.bind(base, "bob", user="ann", role="editor")
    memory.knowledge.bind(base, "cleo", user="ann")
    return base


def told(memory: Memory, cube: str, user: str = "ann") -> list[str]:
    return [getattr(item, "text", "") for item in memory.list(user=user, cube=cube, kinds="message")]


def test_what_an_editor_says_is_found_by_all_who_search_the_base(memory: Memory, base: str) -> None:
    turns = [
        {"role": "user", "name": "bob", "content": SAID, "at": AT, "id": "m1", "metadata": {"mood": "glad"}},
        {"role": "assistant", "content": "I have noted the heat pump.", "at": AT},
    ]
    added = memory.add(turns, user="bob", session="visit", learn=[base, base])
    assert any("'houses'" in note for note in added.notes)
    assert told(memory, base) == [SAID]  # what a program replied is no knowledge
    hit = memory.search("What replaced the boiler of house 7?", user="cleo")[0]
    assert (hit.text, hit.speaker, hit.said_at, hit.cube) == (SAID, "bob", AT, base)
    assert hit.metadata == {
        "said_in": {"cube": added.cube, "session": "visit", "message": added.message_ids[0]}
    }  # fmt: skip
    assert len(memory.search("What replaced the boiler of house 7?", user="bob").hits) >= 1


def test_nothing_is_learned_unless_it_is_asked_for(memory: Memory, base: str) -> None:
    memory.add(SAID, user="bob")
    assert told(memory, base) == []


def test_saying_it_again_is_no_second_copy(memory: Memory, base: str) -> None:
    said = {"content": SAID, "at": AT, "id": "m1"}
    memory.add(said, user="bob", learn=base)
    assert memory.add(said, user="bob", learn=base).skipped
    assert told(memory, base) == [SAID]


@pytest.mark.parametrize("who", ["cleo", "dan"])
def test_who_is_no_editor_teaches_nothing_and_nothing_is_stored(memory: Memory, base: str, who: str) -> None:
    with pytest.raises((AccessError, NotFoundError)):
        memory.add(SAID, user=who, learn=base)
    assert memory.search("boiler", user=who, kinds="message").hits == ()
    assert told(memory, base) == []


def test_a_base_that_does_not_learn_and_a_cube_that_is_none_are_refused(memory: Memory, base: str) -> None:
    memory.knowledge.update(base, user="ann", learns=False)
    with pytest.raises(InputError, match="does not learn"):
        memory.add(SAID, user="ann", learn=base)
    project = memory.cubes.create("garden", user="ann").id
    with pytest.raises(InputError, match="no knowledge base"):
        memory.add(SAID, user="ann", learn=project)
    assert memory.list(user="ann") == ()


def test_forgetting_a_message_takes_its_copy_along(memory: Memory, base: str) -> None:
    first = memory.add({"content": SAID, "at": AT}, user="bob", session="visit", learn=base).message_ids[0]
    memory.add("The roof of house 7 leaks.", user="bob", session="later", learn=base)
    memory.forget(first, user="bob")
    assert told(memory, base) == ["The roof of house 7 leaks."]
    memory.forget(user="bob", everything=True)
    assert told(memory, base) == []


def test_forgetting_one_s_own_leaves_what_others_said(memory: Memory, base: str) -> None:
    memory.add(SAID, user="ann", learn=base)
    memory.add("The roof of house 7 leaks.", user="bob", learn=base)
    memory.forget(user="bob", everything=True)
    assert told(memory, base) == [SAID]
