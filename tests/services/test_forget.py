from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from mnemic.api import Memory
from mnemic.errors import AccessError, InputError, NotFoundError
from mnemic.model.memory import Memory as MemoryRecord
from tests.services.opened import bytes_of, open_memory, talk

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        yield opened


def organized(memory: Memory, user: str = "ann") -> None:
    memory.jobs.wait(user=user)


def found(memory: Memory, query: str, user: str = "ann") -> str:
    kinds = ["message", "memory", "segment"]
    return "\n".join(hit.text for hit in memory.search(query, user=user, kinds=kinds, limit=50))


def memories(memory: Memory, user: str = "ann") -> list[MemoryRecord]:
    return [item for item in memory.list(user=user, kinds="memory", limit=1000) if isinstance(item, MemoryRecord)]


LONG_TALK = [
    ("ann", "I planted zucchini and tomatoes in the garden today."),
    ("bot", "How lovely, which tomatoes did you plant in the garden?"),
    ("ann", "Some heirloom tomatoes for the garden, and a quixotic pumpkin."),
    ("bot", "A pumpkin needs room in the garden."),
    ("ann", "The garden has room for tomatoes and for more."),
    ("bot", "Then tomatoes it is."),
    ("ann", "I work as a nurse in Porto."),
    ("bot", "A nurse is a fine thing to be."),
    ("ann", "My sister is called Clara."),
    ("bot", "Say hello to Clara."),
]


def test_an_erased_message_is_no_longer_found_and_its_neighbours_are(memory: Memory) -> None:
    ids = talk(memory, LONG_TALK)
    receipt = memory.forget(ids[2], user="ann")
    assert receipt.removed["message"] == 1
    assert receipt.ids == (ids[2],)
    assert "quixotic" not in found(memory, "quixotic pumpkin")
    assert "A pumpkin needs room" in found(memory, "quixotic pumpkin")
    with pytest.raises(NotFoundError):
        memory.get(ids[2], user="ann")


def test_segments_keep_nothing_of_an_erased_message(memory: Memory) -> None:
    ids = talk(memory, LONG_TALK)
    organized(memory)
    segments = memory.stats(user="ann").segments
    assert any("quixotic" in warm.segment.summary for warm in segments), "the summary shows it before"
    memory.forget(ids[2], user="ann")
    organized(memory)
    left = memory.stats(user="ann").segments
    assert left and all("quixotic" not in f"{warm.segment.summary} {warm.segment.keywords}" for warm in left)
    assert "quixotic" not in found(memory, "quixotic")


def test_a_segment_without_pages_goes(memory: Memory) -> None:
    talk(memory, LONG_TALK)
    organized(memory)
    assert memory.stats(user="ann").segments
    receipt = memory.forget(user="ann", session="s1")
    stats = memory.stats(user="ann")
    assert receipt.removed["segment"] >= 1
    assert (stats.messages, stats.pages, stats.sessions, len(stats.segments), dict(stats.memories)) == (0, 0, 0, 0, {})


def test_a_memory_goes_with_its_last_source(memory: Memory) -> None:
    ids = talk(memory, LONG_TALK)
    organized(memory)
    assert any("Clara" in each.current.text for each in memories(memory))
    receipt = memory.forget([ids[8], ids[9]], user="ann")
    organized(memory)
    assert receipt.removed["memory"] >= 1
    assert not any("Clara" in each.current.text for each in memories(memory))
    assert any("nurse" in each.current.text for each in memories(memory)), "others stay"


def test_a_memory_that_another_message_supports_stays(memory: Memory) -> None:
    first = talk(memory, [("ann", "I live in Porto.")], session="a", day=1)
    talk(memory, [("ann", "I live in Porto.")], session="b", day=20)
    organized(memory)
    before = memories(memory)
    memory.forget(first, user="ann")
    organized(memory)
    after = memories(memory)
    assert [each.id for each in after] == [each.id for each in before]
    assert first[0] not in {source.message_id for source in after[0].current.sources}


def test_words_that_only_the_erased_message_had_do_not_stay_in_a_supported_memory(memory: Memory) -> None:
    first = talk(memory, [("ann", "I have a dog named Zyzzyva.")], session="a", day=1)
    talk(memory, [("ann", "I have a dog.")], session="b", day=20)
    organized(memory)
    memory.forget(first, user="ann")
    organized(memory)
    left = memories(memory)
    assert any("dog" in each.current.text for each in left), "the other message is read again"
    assert not any("zyzzyva" in f"{each.versions}{each.value_key}".lower() for each in left)


def test_what_superseded_is_erased_and_the_earlier_version_holds_again(memory: Memory) -> None:
    talk(memory, [("ann", "I live in Porto.")], session="a", day=1)
    second = talk(memory, [("ann", "I moved to Lisbon, I live in Lisbon now.")], session="b", day=20)
    organized(memory)
    home = next(each for each in memories(memory) if "Porto" in str(each.versions))
    assert "Lisbon" in home.current.text
    memory.forget(second, user="ann")
    organized(memory)
    home = next(each for each in memories(memory) if "Porto" in str(each.versions))
    assert "Porto" in home.current.text and home.current.valid_to is None
    assert not any("Lisbon" in str(each) for each in memories(memory))


def test_a_forgotten_memory_does_not_come_back_and_its_messages_stay(memory: Memory) -> None:
    talk(memory, LONG_TALK)
    organized(memory)
    nurse = next(each for each in memories(memory) if "nurse" in each.current.text)
    receipt = memory.forget(nurse.id, user="ann")
    talk(memory, [("ann", "Good morning!")], session="s2", day=9)
    organized(memory)
    assert receipt.removed["memory"] == 1
    assert not any("nurse" in each.current.text for each in memories(memory))
    assert "I work as a nurse" in found(memory, "nurse")


def test_about_takes_messages_and_memories_that_mention_the_words_in_order(memory: Memory) -> None:
    talk(memory, LONG_TALK)
    said = ["The green house has a blue door.", "My GREEN—house is cold.", "House and green are words.", "Greenhouses."]
    talk(memory, [("ann", words) for words in said], session="s2", day=3)
    organized(memory)
    receipt = memory.forget(user="ann", about="green house")
    assert receipt.removed["message"] == 2
    left = found(memory, "green house")
    assert "blue door" not in left and "cold" not in left
    assert "House and green" in left and "Greenhouses" in left
    memory.forget(user="ann", about="clara")
    assert "Clara" not in found(memory, "Clara sister")
    assert "Clara" not in "".join(str(each) for each in memories(memory))


@pytest.mark.parametrize(
    "said,about",
    [("東京に住んでいます", "東京"), ("私は猫が好き", "猫"), ("Zoë's café, naïve", "ZOE"), ("I ♥ it 🎉 now", "🎉"),
     ("O'Brien came", "o'brien"), ("ticket AB-1234 is open", "ab 1234"),
     ("long " * 1_000 + "needle " + "end " * 1_000, "needle")],
)  # fmt: skip
def test_about_finds_words_of_any_script_anywhere(memory: Memory, said: str, about: str) -> None:
    talk(memory, [("ann", said), ("bot", "Something else.")])
    assert memory.forget(user="ann", about=about).removed["message"] == 1
    assert memory.stats(user="ann").messages == 1


def test_about_words_that_nobody_said_removes_nothing_and_says_so(memory: Memory) -> None:
    talk(memory, LONG_TALK)
    receipt = memory.forget(user="ann", about="submarine")
    assert not any(receipt.removed.values()) and receipt.ids == ()
    assert memory.stats(user="ann").messages == len(LONG_TALK)


def test_everything_leaves_an_empty_cube_and_another_user_untouched(memory: Memory) -> None:
    talk(memory, LONG_TALK)
    talk(memory, LONG_TALK, user="bob")
    organized(memory)
    receipt = memory.forget(user="ann", everything=True)
    assert receipt.removed["message"] == len(LONG_TALK)
    assert memory.list(user="ann") == () and memory.stats(user="ann").sessions == 0
    assert memory.stats(user="bob").messages == len(LONG_TALK)
    assert memory.add("I am back.", user="ann").stored == 1


@pytest.mark.parametrize("how", ["id", "about", "session", "everything", "cube"])
def test_the_words_leave_the_files(tmp_path: Path, how: str) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, LONG_TALK, session="other")
        ids = talk(
            memory, [("ann", "My sister is called Xyloquartz, and xyloquartz is a rare name.")], session="s9", day=9
        )
        talk(memory, LONG_TALK, session="another", day=12)
        organized(memory)
        assert b"xyloquartz" in bytes_of(tmp_path).lower()
        cube = memory.cubes.list(user="ann")[0].id
        match how:
            case "id":
                memory.forget(ids, user="ann")
            case "about":
                memory.forget(user="ann", about="Xyloquartz")
            case "session":
                memory.forget(user="ann", session="s9")
            case "everything":
                memory.forget(user="ann", everything=True)
            case _:
                memory.cubes.delete(cube, user="ann")
        assert b"xyloquartz" not in bytes_of(tmp_path).lower()
        organized(memory)
        assert b"xyloquartz" not in bytes_of(tmp_path).lower()


def test_adding_goes_on_after_forgetting_in_the_middle_of_a_session(memory: Memory) -> None:
    ids = talk(memory, LONG_TALK)
    memory.forget([ids[0], ids[9]], user="ann")
    talk(memory, [("ann", "And another thing."), ("bot", "Yes?")], day=2)
    assert memory.stats(user="ann").messages == 10
    assert memory.sessions(user="ann")[0].messages == 10
    organized(memory)
    assert "another thing" in found(memory, "another thing")


def test_an_erased_message_can_be_added_again(memory: Memory) -> None:
    ids = talk(memory, LONG_TALK)
    memory.forget(ids[3], user="ann")
    assert memory.stats(user="ann").messages == 9
    talk(memory, LONG_TALK)
    assert memory.stats(user="ann").messages == 10


@pytest.mark.parametrize(
    "options",
    [{}, {"id": "x", "about": "y"}, {"about": "x", "everything": True}, {"session": "s1", "id": "x"}, {"about": "  "},
     {"id": []}, {"id": ""}, {"everything": 1}, {"about": 3}],
)  # fmt: skip
def test_exactly_one_condition_is_needed(memory: Memory, options: dict[str, object]) -> None:
    talk(memory, LONG_TALK)
    with pytest.raises(InputError):
        memory.forget(user="ann", **options)  # type: ignore[arg-type]
    assert memory.stats(user="ann").messages == len(LONG_TALK)


def test_what_is_not_there_is_an_error_and_nothing_is_erased(memory: Memory) -> None:
    ids = talk(memory, LONG_TALK)
    theirs = talk(memory, [("bob", "Mine.")], user="bob")
    misses: list[dict[str, Any]] = [{"id": [ids[0], "nothing"]}, {"session": "s77"}, {"id": theirs}]
    for options in misses:
        with pytest.raises(NotFoundError):
            memory.forget(user="ann", **options)
    with pytest.raises(NotFoundError):
        memory.forget(ids[0], user="bob")
    with pytest.raises(NotFoundError):
        memory.forget(ids[0], user="a stranger")
    assert memory.stats(user="ann").messages == len(LONG_TALK)
    assert not any(memory.forget(user="a stranger", everything=True).removed.values())


def test_only_its_owner_deletes_a_cube(memory: Memory) -> None:
    cube = memory.cubes.create("garden", user="ann")
    memory.add("Tomatoes need water.", user="ann", cube=cube.id)
    with pytest.raises(NotFoundError):
        memory.cubes.delete(cube.id, user="bob")
    grant(memory, cube.key, "bob", "editor")
    grant(memory, cube.key, "eve", "reader")
    with pytest.raises(AccessError):
        memory.cubes.delete(cube.id, user="bob")
    with pytest.raises(AccessError):
        memory.forget(user="eve", everything=True, cube=cube.id)
    assert memory.forget(user="bob", about="water", cube=cube.id).removed["message"] == 1
    assert memory.cubes.delete(cube.id, user="ann").removed["cube"] == 1
    assert memory.cubes.list(user="ann") == ()


def grant(memory: Memory, cube_key: int, principal: str, role: str) -> None:
    with memory._parts.store.write() as tx:
        tx.enter_all()
        values = {"cube": cube_key, "principal": principal, "role": role}
        tx.connection.execute(  # type: ignore[attr-defined]
            text("INSERT INTO cube_grant (cube_key, principal, role) VALUES (:cube, :principal, :role)"), values
        )


def test_what_is_known_about_somebody_goes_with_their_name_whatever_its_words(memory: Memory) -> None:
    memory.add({"role": "user", "name": "Ben", "content": "I live in Porto."}, user="ann")
    memory.jobs.wait(user="ann")
    entry = next(iter(memory.profile(user="ann", subject="Ben")))
    memory.update(entry.memory_id, "Lives by the river.", user="ann")
    memory.forget(about="Ben", user="ann")
    assert len(memory.profile(user="ann", subject="Ben")) == 0


def test_an_open_export_does_not_hold_up_forgetting_and_the_receipt_tells_of_it(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for number in range(20):
            memory.add(f"The xylophone number {number} is loud.", user="ann")
        lines = memory.export(user="ann")
        next(lines)
        started = time.monotonic()
        receipt = memory.forget(about="number 7", user="ann")
        assert time.monotonic() - started < 20
        assert (receipt.removed["message"], len(receipt.notes)) == (1, 1)
        lines.close()  # type: ignore[attr-defined]
        memory._parts.settle()
        assert memory.forget(about="number 8", user="ann").notes == ()
        log = tmp_path / "mnemic.db-wal"
        assert not log.exists() or log.stat().st_size == 0


def test_deleting_a_cube_by_another_process_does_not_keep_exports_out(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory, open_memory(tmp_path) as other:
        added = memory.add("I live in Porto.", user="ann")
        lines = list(memory.export(user="ann"))
        other.cubes.delete(added.cube, user="ann")
        assert memory.load(lines, user="ann").stored["message"] == 1
