from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic.api import Memory
from mnemic.core.changing import Edit, Wording, corrected, joined, merged, retracted
from mnemic.errors import ConflictError, InputError, NotFoundError
from mnemic.ids import new_id
from mnemic.model.change import Action, MemoryChange
from mnemic.model.memory import Change
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.services.changing import Made, make, vectors_of
from tests.services.opened import bytes_of, open_memory, talk
from tests.services.test_curate import about
from tests.services.test_forget import grant, memories

pytestmark = pytest.mark.usefixtures("engine")

TALK = [
    ("ann", "I am allergic to peanuts."),
    ("bot", "I will keep that in mind."),
    ("ann", "I work at Acme."),
    ("bot", "Acme is a fine place."),
    ("ann", "I live in Paris."),
    ("bot", "How is Paris?"),
    ("ann", "My sister is called Nora."),
]
QUESTIONS = ["Am I allergic to peanuts?", "Where do I live?", "Where do I work?", "What is my sister's name?"]

Editing = Callable[[MemoryRecord], MemoryRecord]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        talk(opened, TALK)
        opened.jobs.wait(user="ann")
        yield opened


def changed(memory: Memory, *edits: tuple[Action, MemoryRecord, Editing], user: str = "ann") -> Made:
    """Make a change of some memories, as feedback and reorganizing do."""
    parts = memory._parts
    made = [Edit(action, each, editing(each), "because") for action, each, editing in edits]
    with parts.store.write() as tx:
        tx.enter_all()
        key = edits[0][1].cube_key
        change = MemoryChange(new_id(), key, "feedback", "asked for", parts.clock.now(), ())
        return make(tx, tx.cubes.touch(key), made, vectors_of(parts.embedder, made), change)


def remove(memory: Memory) -> Editing:
    return lambda each: retracted(each, version_id=new_id(), recorded_at=memory._parts.clock.now(), reason="a joke")


def correct(memory: Memory, old: str, new: str) -> Editing:
    return lambda each: corrected(
        each, Wording(each.current.text.replace(old, new)), version_id=new_id(), recorded_at=memory._parts.clock.now()
    )


def held(memory: Memory) -> dict[str, object]:
    """Return what memory holds: live memories, profile, what it held before, counts."""
    return {
        "live": sorted((each.id, each.current.text, each.current.valid_from, each.current.valid_to)
                       for each in memories(memory)),
        "profile": sorted((each.attribute, each.value, each.text, each.since) for each in memory.profile(user="ann")),
        "then": [hit.text for hit in memory.search(
            "Where did I live?", user="ann", kinds="memory", as_of=datetime(2026, 2, 1, tzinfo=UTC))],
        "counts": dict(memory.stats(user="ann").memories),
    }  # fmt: skip


def shown(memory: Memory) -> dict[str, object]:
    """Return what memory holds and tells: in which order, what it finds, what it answers."""
    return {
        **held(memory),
        "order": [entry.memory_id for entry in memory.profile(user="ann")],
        "hits": [[(hit.kind, hit.text, hit.valid_to) for hit in memory.search(asked, user="ann", kinds="memory")]
                 for asked in QUESTIONS],
        "answers": [memory.ask(asked, user="ann", mode="extractive").text for asked in QUESTIONS],
    }  # fmt: skip


def test_what_is_taken_back_is_nowhere_but_in_its_history(memory: Memory) -> None:
    peanuts = about(memory, "peanuts")
    made = changed(memory, (Action.REMOVE, peanuts, remove(memory)))
    assert made.change is not None and made.skipped == ()
    step = made.change.steps[0]
    assert (step.before, step.after, step.before_version) == (peanuts.current.text, None, peanuts.current.id)
    assert not any("peanut" in each.current.text for each in memories(memory))
    assert not any("peanut" in entry.text for entry in memory.profile(user="ann"))
    assert not any("peanut" in hit.text for hit in memory.search("peanuts", user="ann", kinds="memory", limit=50))
    as_of = datetime(2026, 1, 20, tzinfo=UTC)
    then = memory.search("peanuts", user="ann", kinds="memory", limit=50, as_of=as_of)
    assert not any("peanut" in hit.text for hit in then), "it never held"
    told = memory.context("Am I allergic to peanuts?", user="ann").text.splitlines()
    assert all("[taken back " in line for line in told if "is allergic" in line)
    history = memory.history(peanuts.id, user="ann")
    assert [version.change for version in history] == [Change.ADDED, Change.RETRACTED]
    assert all(version.valid_to == version.valid_from for version in history)
    assert (history[1].reason, history[1].sources) == ("a joke", history[0].sources)
    assert memory.stats(user="ann").memories["fact"] == len([m for m in memories(memory) if m.kind.value == "fact"])


@pytest.mark.parametrize("question", ["Am I allergic to peanuts?", "What am I allergic to?"])
def test_an_answer_says_that_what_a_message_said_was_taken_back(memory: Memory, question: str) -> None:
    assert "peanuts" in memory.ask(question, user="ann").text.lower()
    changed(memory, (Action.REMOVE, about(memory, "peanuts"), remove(memory)))
    said = memory.ask(question, user="ann")
    assert "aken back" in said.text or not said.found
    assert not said.text.startswith("Yes") and said.text != "Peanuts"


def test_reading_the_messages_again_does_not_bring_back_what_was_taken_back(memory: Memory) -> None:
    changed(memory, (Action.REMOVE, about(memory, "peanuts"), remove(memory)))
    before = shown(memory)
    memory.rebuild(user="ann", wait=True)
    assert not any("peanut" in each.current.text for each in memories(memory))
    assert shown(memory)["profile"] == before["profile"]


def test_what_was_taken_back_holds_again_when_it_is_said_anew(memory: Memory) -> None:
    peanuts = about(memory, "peanuts")
    made = changed(memory, (Action.REMOVE, peanuts, remove(memory)))
    talk(memory, [("ann", "I am allergic to peanuts, I have been tested.")], session="s2", day=20)
    memory.jobs.wait(user="ann")
    again = about(memory, "peanuts")
    assert again.id == peanuts.id and again.current.valid_from.day == 20
    assert made.change is not None
    with pytest.raises(ConflictError, match="changed since"):
        memory.undo(made.change.id, user="ann")
    assert about(memory, "peanuts") == again


def test_restoring_by_hand_lets_what_was_taken_back_hold_again(memory: Memory) -> None:
    peanuts = about(memory, "peanuts")
    changed(memory, (Action.REMOVE, peanuts, remove(memory)))
    memory.restore(peanuts.id, user="ann")
    assert about(memory, "peanuts").current.valid_from == peanuts.current.valid_from
    memory.rebuild(user="ann", wait=True)
    assert len([each for each in memories(memory) if "peanut" in each.current.text]) == 1


def test_undoing_gives_what_there_was_before(memory: Memory) -> None:
    talk(memory, [("ann", "I moved to Lisbon, I live in Lisbon now.")], session="s2", day=20)
    memory.jobs.wait(user="ann")
    before = shown(memory)
    peanuts, home, sister = about(memory, "peanuts"), about(memory, "Lisbon"), about(memory, "Nora")
    made = changed(
        memory,
        (Action.REMOVE, peanuts, remove(memory)),
        (Action.REMOVE, home, lambda each: retracted(
            each, version_id=new_id(), recorded_at=memory._parts.clock.now(), whole=False)),
        (Action.CORRECT, sister, correct(memory, "Nora", "Noor")),
    )  # fmt: skip
    assert made.change is not None
    assert "Paris" in about(memory, "lives in").current.text, "what Lisbon had taken the place of goes on"
    assert "Noor" in memory.ask("What is my sister's name?", user="ann").text
    assert shown(memory) != before
    undone = memory.undo(made.change.id, user="ann")
    assert {step.memory_id for step in undone.undone} == {peanuts.id, home.id, sister.id} and undone.left == ()
    assert shown(memory) == before
    assert memory.get(peanuts.id, user="ann").current.change is Change.RESTORED  # type: ignore[union-attr]
    assert memory.jobs.list(user="ann", open_only=True) == ()
    memory.rebuild(user="ann", wait=True)
    after = shown(memory)
    assert [text for _, text, _, _ in after["live"]] and after["profile"] == before["profile"]  # type: ignore[attr-defined]


def test_a_change_is_listed_and_undone_once(memory: Memory) -> None:
    made = changed(memory, (Action.REMOVE, about(memory, "peanuts"), remove(memory))).change
    assert made is not None
    assert memory.changes(user="ann") == (made,)
    memory.undo(made.id, user="ann")
    assert memory.changes(user="ann")[0].undone_at is not None
    with pytest.raises(ConflictError, match="already"):
        memory.undo(made.id, user="ann")


def test_undoing_leaves_what_has_changed_since_and_says_so(memory: Memory) -> None:
    sister, work = about(memory, "Nora"), about(memory, "Acme")
    made = changed(
        memory,
        (Action.CORRECT, sister, correct(memory, "Nora", "Noor")),
        (Action.REPLACE, work, correct(memory, "Acme", "Apex")),
    ).change
    assert made is not None
    mine = memory.update(sister.id, sister.current.text.replace("Nora", "Nour"), user="ann")
    undone = memory.undo(made.id, user="ann")
    assert [(step.memory_id, step.reason) for step in undone.left] == [(sister.id, "it has changed since")]
    assert [step.memory_id for step in undone.undone] == [work.id]
    assert memory.get(sister.id, user="ann") == mine
    assert "Acme" in about(memory, "Acme").current.text


def test_locked_memories_are_neither_changed_nor_taken_back(memory: Memory) -> None:
    peanuts, sister = about(memory, "peanuts"), about(memory, "Nora")
    memory.lock(peanuts.id, user="ann")
    made = changed(
        memory,
        (Action.REMOVE, about(memory, "peanuts"), remove(memory)),
        (Action.CORRECT, sister, correct(memory, "Nora", "Noor")),
    )
    assert [(step.memory_id, step.reason) for step in made.skipped] == [(peanuts.id, "its owner locked this memory")]
    assert made.change is not None and [step.memory_id for step in made.change.steps] == [sister.id]
    memory.lock(sister.id, user="ann")
    with pytest.raises(ConflictError, match="locked"):
        memory.undo(made.change.id, user="ann")
    assert memory.changes(user="ann")[0].undone_at is None
    assert about(memory, "Noor").id == sister.id
    only = changed(memory, (Action.REMOVE, about(memory, "peanuts"), remove(memory)))
    assert only.change is None and len(memory.changes(user="ann")) == 1


def test_a_plan_from_an_older_look_changes_nothing(memory: Memory) -> None:
    sister = about(memory, "Nora")
    memory.update(sister.id, sister.current.text.replace("Nora", "Nour"), user="ann")
    made = changed(memory, (Action.REMOVE, sister, remove(memory)))
    assert made.change is None and made.skipped[0].reason == "it has changed since"
    assert "Nour" in about(memory, "Nour").current.text


def test_a_merged_memory_is_said_by_the_other_and_comes_back_when_undone(memory: Memory) -> None:
    talk(memory, [("ann", "I play tennis."), ("ann", "I love a game of tennis on grass.")], session="s2", day=3)
    memory.jobs.wait(user="ann")
    two = [each for each in memories(memory) if "tennis" in each.current.text][:2]
    assert len(two) == 2
    before = shown(memory)
    now = memory._parts.clock.now()
    one, other = two
    made = changed(
        memory,
        (Action.MERGE, other, lambda each: merged(each, version_id=new_id(), recorded_at=now)),
        (Action.SUPPLEMENT, one, lambda each: joined(
            each, other.current.sources, version_id=new_id(), recorded_at=now)),
    ).change  # fmt: skip
    assert made is not None
    left = [each for each in memories(memory) if "tennis" in each.current.text]
    assert [each.id for each in left] == [one.id]
    assert {source.message_id for source in left[0].current.sources} == {
        source.message_id for each in two for source in each.current.sources
    }
    memory.undo(made.id, user="ann")
    assert shown(memory) == before


def test_forgetting_takes_the_steps_about_what_is_forgotten_out_of_the_changes(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        ids = talk(memory, [*TALK, ("bot", "And"), ("ann", "I am allergic to xyloquartz.")])
        memory.jobs.wait(user="ann")
        quartz, sister = about(memory, "xyloquartz"), about(memory, "Nora")
        made = changed(
            memory,
            (Action.REMOVE, quartz, remove(memory)),
            (Action.CORRECT, sister, correct(memory, "Nora", "Noor")),
        ).change
        assert made is not None and b"xyloquartz" in bytes_of(tmp_path)
        memory.forget(ids[-1], user="ann")
        kept = memory.changes(user="ann")
        assert [step.memory_id for each in kept for step in each.steps] == [sister.id]
        assert (kept[0].asked, kept[0].steps[0].reason) == ("", "")
        assert b"xyloquartz" not in bytes_of(tmp_path)
        assert [step.memory_id for step in memory.undo(made.id, user="ann").undone] == [sister.id]


def test_a_retraction_travels_with_an_export(memory: Memory, tmp_path: Path) -> None:
    peanuts = about(memory, "peanuts")
    changed(memory, (Action.REMOVE, peanuts, remove(memory)))
    with open_memory(tmp_path / "other") as other:
        other.load(list(memory.export(user="ann")), user="ann")
        other.jobs.wait(user="ann")
        assert not any("peanut" in each.current.text for each in memories(other))
        assert other.history(peanuts.id, user="ann") == memory.history(peanuts.id, user="ann")
        assert other.changes(user="ann") == ()
        other.rebuild(user="ann", wait=True)
        assert not any("peanut" in each.current.text for each in memories(other))


@pytest.mark.parametrize("bad", ["", "  ", None, True, 1.5, "a\0b"])
def test_a_bad_id_is_named(memory: Memory, bad: object) -> None:
    with pytest.raises(InputError, match="change"):
        memory.undo(bad, user="ann")  # type: ignore[arg-type]
    for limit in (0, -1, True, 10**9):
        with pytest.raises(InputError, match="limit"):
            memory.changes(user="ann", limit=limit)


def test_changes_of_others_do_not_exist(memory: Memory) -> None:
    made = changed(memory, (Action.REMOVE, about(memory, "peanuts"), remove(memory))).change
    assert made is not None
    memory.add("Hello.", user="bob")
    for user in ("bob", "nobody"):
        with pytest.raises(NotFoundError):
            memory.undo(made.id, user=user)
        assert memory.changes(user=user) == ()
    cube = memory.cubes.create("family", user="ann")
    grant(memory, cube.key, "eve", "reader")
    with pytest.raises(NotFoundError):
        memory.undo(made.id, user="ann", cube=cube.id)


def test_a_message_that_was_taken_back_says_so_wherever_it_is_shown(memory: Memory) -> None:
    memory.add({"content": "I'm allergic to peanuts.", "at": "2025-01-01"}, user="ann", wait=True)
    assert memory.search("peanuts", user="ann", kinds="message")[0].note == ""
    given = memory.feedback("Forget the peanut thing, it was a joke.", user="ann", mode="rules")
    assert given.change is not None
    hit = next(
        each for each in memory.search("allergic to peanuts", user="ann") if each.text.startswith("I'm allergic")
    )
    assert hit.note.startswith("taken back ")
    assert hit.note.endswith("ann is allergic to peanuts.")
    assert "[taken back " in memory.context("Am I allergic to peanuts?", user="ann").text
    memory.undo(given.change, user="ann")
    assert all(not each.note for each in memory.search("allergic to peanuts", user="ann"))


def test_a_correction_by_hand_is_a_change_that_the_message_tells_of(memory: Memory) -> None:
    memory.add({"content": "My sister is called Nora.", "at": "2025-01-01"}, user="ann", wait=True)
    held = [each for each in memory.list(user="ann", limit=1000) if isinstance(each, MemoryRecord)]
    sister = next(each for each in held if each.attribute == "relation.sister")
    updated = memory.update(sister.id, sister.current.text.replace("Nora", "Noor"), user="ann")
    hits = memory.search("sister called Nora", user="ann", kinds="message")
    hit = next(each for each in hits if each.text == "My sister is called Nora.")
    assert hit.note.endswith(updated.current.text)
    change = memory.changes(user="ann")[0]
    assert (change.kind, change.steps[0].after) == ("edit", updated.current.text)
    memory.undo(change.id, user="ann")
    assert not any(each.note for each in memory.search("sister called Nora", user="ann", kinds="message"))
