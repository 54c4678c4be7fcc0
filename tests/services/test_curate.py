from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic.api import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.errors import AccessError, ConflictError, EmbedderError, InputError, NotFoundError, StaleError
from mnemic.model.job import JobState
from mnemic.model.memory import Change, MemoryKind
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.model.message import StoredMessage
from mnemic.text import fold
from tests.services.opened import open_memory, talk
from tests.services.test_forget import LONG_TALK, grant, memories

pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as opened:
        talk(opened, LONG_TALK)
        opened.jobs.wait(user="ann")
        yield opened


def about(memory: Memory, word: str) -> MemoryRecord:
    return next(each for each in memories(memory) if fold(word) in fold(each.current.text))


def test_an_update_takes_the_place_of_the_current_version_and_keeps_it_as_history(memory: Memory) -> None:
    before = about(memory, "nurse")
    after = memory.update(before.id, before.current.text.replace("nurse", "midwife"), user="ann")
    assert memory.get(before.id, user="ann") == after
    assert "midwife" in after.current.text and "midwife" in after.current.value
    assert after.current.change is Change.EDITED
    assert after.current.sources == before.current.sources
    assert after.current.valid_from == before.current.valid_from
    versions = memory.history(before.id, user="ann")
    assert [version.text for version in versions] == [before.current.text, after.current.text]
    assert [version.number for version in versions] == [1, 2]


def test_an_updated_memory_is_found_by_its_new_words_and_not_by_its_old_ones(memory: Memory) -> None:
    nurse = about(memory, "nurse")
    memory.update(nurse.id, "Ann works as a midwife.", user="ann")
    hits = memory.search("midwife", user="ann", kinds="memory")
    assert hits[0].id == nurse.id and hits[0].text == "Ann works as a midwife."
    texts = [hit.text for hit in memory.search("nurse", user="ann", kinds="memory")]
    assert not any("nurse" in text for text in texts)
    assert memory.jobs.list(user="ann", open_only=True) == ()


def test_what_is_said_later_does_not_bring_back_what_was_corrected(memory: Memory) -> None:
    sister = about(memory, "Clara")
    memory.update(sister.id, sister.current.text.replace("Clara", "Beatriz"), user="ann")
    talk(memory, [("ann", "My sister is called Beatriz."), ("ann", "I work as a teacher now.")], session="s2", day=20)
    memory.jobs.wait(user="ann")
    assert not any("Clara" in each.current.text for each in memories(memory))
    assert about(memory, "Beatriz").id == sister.id


@pytest.mark.parametrize("words", ["ann lives in Aveiro.", "ann has a flat in Porto.", "ann lives in Zurich."])
@pytest.mark.parametrize("later", ["I live in Porto.", "I live in Aveiro.", "I moved to Lisbon, I live in Lisbon now."])
def test_a_corrected_version_stays_history_whatever_is_said_later(tmp_path: Path, words: str, later: str) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, [("ann", "I live in Porto.")], session="a", day=2)
        memory.jobs.wait(user="ann")
        home = about(memory, "porto")
        memory.update(home.id, words, user="ann")
        talk(memory, [("ann", later)], session="b", day=20)
        memory.jobs.wait(user="ann")
        first, second = memory.history(home.id, user="ann")[:2]
        assert (first.text, first.valid_to) == (home.current.text, first.valid_from)
        assert (second.text, second.change) == (words, Change.EDITED)
        assert second.valid_to is None or second.valid_to.day == 20


def test_restore_lets_the_version_before_the_current_hold_again(memory: Memory) -> None:
    nurse = about(memory, "nurse")
    memory.update(nurse.id, "Ann works as a midwife.", user="ann")
    back = memory.restore(nurse.id, user="ann")
    assert back.current.text == nurse.current.text and back.current.change is Change.RESTORED
    assert back.current.sources == nurse.current.sources
    assert [version.number for version in back.versions] == [1, 2, 3]
    assert memory.search("nurse", user="ann", kinds="memory")[0].text == nurse.current.text
    again = memory.restore(nurse.id, user="ann", version=2)
    assert again.current.text == "Ann works as a midwife."


def test_an_undone_change_answers_from_its_time_on_and_the_past_stays(memory: Memory) -> None:
    talk(memory, [("ann", "I live in Porto.")], session="a", day=2)
    talk(memory, [("ann", "I moved to Lisbon, I live in Lisbon now.")], session="b", day=20)
    memory.jobs.wait(user="ann")
    home = about(memory, "lisbon")
    back = memory.restore(home.id, user="ann")
    assert "Porto" in back.current.text and back.current.valid_from == home.current.valid_from
    late = memory.search("Where does Ann live?", user="ann", kinds="fact", as_of=datetime(2026, 2, 1, tzinfo=UTC))
    assert "Lisbon" not in next(hit.text for hit in late if hit.id == home.id)


def test_a_locked_memory_stays_as_it_is_until_it_is_unlocked(memory: Memory) -> None:
    talk(memory, [("ann", "I live in Porto.")], session="a", day=2)
    memory.jobs.wait(user="ann")
    home = about(memory, "lives in porto")
    assert memory.lock(home.id, user="ann").locked
    talk(memory, [("ann", "I moved to Lisbon, I live in Lisbon now.")], session="b", day=20)
    memory.jobs.wait(user="ann")
    held = memory.get(home.id, user="ann")
    assert isinstance(held, MemoryRecord) and held.locked and held.versions == home.versions
    assert not memory.lock(home.id, user="ann", locked=False).locked


def test_the_same_text_makes_no_version(memory: Memory) -> None:
    nurse = about(memory, "nurse")
    assert memory.update(nurse.id, f" {nurse.current.text}\n", user="ann") == nurse


def test_bad_corrections_name_what_is_wrong(memory: Memory) -> None:
    nurse = about(memory, "nurse")
    message = next(item for item in memory.list(user="ann", kinds="message"))
    for text in ("", " \n", None, 3):
        with pytest.raises(InputError, match="text"):
            memory.update(nurse.id, text, user="ann")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is a message"):
        memory.update(message.id, "Other words.", user="ann")
    with pytest.raises(InputError, match="is a message"):
        memory.history(message.id, user="ann")
    for version in (0, -1, 99):
        with pytest.raises(NotFoundError):
            memory.restore(nurse.id, user="ann", version=version)
    for bad in (True, "1", 1.0):
        with pytest.raises(InputError, match="version"):
            memory.restore(nurse.id, user="ann", version=bad)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="version"):
        memory.restore(nurse.id, user="ann")
    with pytest.raises(InputError, match="holds already"):
        memory.restore(nurse.id, user="ann", version=1)
    with pytest.raises(InputError, match="locked"):
        memory.lock(nurse.id, user="ann", locked="yes")  # type: ignore[arg-type]
    assert memory.get(nurse.id, user="ann") == nurse


def test_ids_that_are_not_there_or_belong_to_others_are_not_found(memory: Memory) -> None:
    nurse = about(memory, "nurse")
    memory.add("Hello.", user="bob")
    for user, name in (("bob", nurse.id), ("nobody", nurse.id), ("ann", "x"), ("ann", "/?#%&= '\"")):
        for call in (memory.get, memory.history, memory.explain, memory.lock, memory.restore):
            with pytest.raises(NotFoundError):
                call(name, user=user)
        with pytest.raises(NotFoundError):
            memory.update(name, "Mine now.", user=user)
    for bad in ("", "  ", None, True, 1.5, "a\0b"):
        with pytest.raises(InputError, match="id"):
            memory.get(bad, user="ann")  # type: ignore[arg-type]


def test_a_reader_reads_and_does_not_write(memory: Memory) -> None:
    cube = memory.cubes.create("family", user="ann")
    memory.add([{"role": "user", "name": "ann", "content": "I work as a nurse."}], user="ann", cube=cube.id)
    memory.jobs.wait(user="ann", cube=cube.id)
    grant(memory, cube.key, "eve", "reader")
    item = next(i for i in memory.list(user="eve", kinds="memory", cube=cube.id))
    assert memory.get(item.id, user="eve", cube=cube.id) == item
    with pytest.raises(AccessError):
        memory.update(item.id, "Ann works as a spy.", user="eve", cube=cube.id)
    with pytest.raises(AccessError):
        memory.lock(item.id, user="eve", cube=cube.id)
    with pytest.raises(AccessError):
        memory.restore(item.id, user="eve", cube=cube.id)


def test_hostile_words_can_be_stored_in_a_correction(memory: Memory) -> None:
    nurse = about(memory, "nurse")
    text = "Ann\0 says \ud800 {x} ``` </think> \u2028 \ufeff\u0130stanbul"
    after = memory.update(nurse.id, text, user="ann")
    stored = memory.get(nurse.id, user="ann")
    assert stored == after
    assert memory.search("istanbul", user="ann", kinds="memory")[0].id == nurse.id


def test_a_list_is_in_order_of_storing_and_paged(memory: Memory) -> None:
    everything = memory.list(user="ann")
    assert [item.id for item in everything] == sorted(item.id for item in everything)
    assert {type(item) for item in everything} == {StoredMessage, MemoryRecord}
    pages: list[object] = []
    after = None
    while page := memory.list(user="ann", after=after, limit=4):
        assert len(page) <= 4
        pages += page
        after = page[-1].id
    assert pages == list(everything)


@pytest.mark.parametrize("chosen", [{}, {"session": "s1"}, {"kinds": "memory"}, {"kinds": "memory", "session": "s1"}])
def test_a_list_from_the_newest_back_is_the_same_list_turned(memory: Memory, chosen: dict[str, str]) -> None:
    everything = memory.list(user="ann", **chosen)  # type: ignore[arg-type]
    pages: list[object] = []
    after: str | None = None
    while page := memory.list(user="ann", after=after, limit=2, newest=True, **chosen):  # type: ignore[arg-type]
        pages += page
        after = page[-1].id
    assert len(pages) > 2
    assert pages == list(reversed(everything))


def test_a_list_can_be_of_some_kinds_and_of_one_session(memory: Memory) -> None:
    talk(memory, [("ann", "My brother is called Hugo.")], session="s2", day=9)
    memory.jobs.wait(user="ann")
    facts = memory.list(user="ann", kinds=MemoryKind.FACT)
    assert facts and all(isinstance(item, MemoryRecord) and item.kind is MemoryKind.FACT for item in facts)
    second = memory.list(user="ann", session="s2")
    assert [type(item) for item in second] == [StoredMessage, MemoryRecord]
    assert len(memory.list(user="ann", session="s1", kinds="message")) == len(LONG_TALK)
    assert memory.list(user="a stranger") == ()


@pytest.mark.parametrize(
    "options",
    [{"limit": 0}, {"limit": -1}, {"limit": 10**9}, {"limit": True}, {"kinds": "segment"}, {"kinds": []},
     {"after": ""}, {"session": ""}, {"kinds": ["message", "gossip"]}],
)  # fmt: skip
def test_a_list_names_the_option_that_is_wrong(memory: Memory, options: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        memory.list(user="ann", **options)  # type: ignore[arg-type]


def test_an_explanation_names_tier_sources_and_what_was_derived(memory: Memory) -> None:
    nurse = about(memory, "nurse")
    source = nurse.current.sources[0].message_id
    why = memory.explain(source, user="ann")
    assert nurse.id in {each.id for each in why.derived}
    assert why.sources[0].message_id == source
    assert why.tier in ("short-term", "mid-term") and (why.segment is None) == (why.tier == "short-term")
    derived = memory.explain(nurse.id, user="ann")
    assert (derived.tier, derived.sources) == ("long-term", nurse.current.sources)
    first = memory.list(user="ann", kinds="message", limit=1)[0]
    assert memory.explain(first.id, user="ann").tier == "mid-term"


def test_stats_count_what_there_is(memory: Memory) -> None:
    nurse = about(memory, "nurse")
    memory.update(nurse.id, "Ann works as a midwife.", user="ann")
    stats = memory.stats(user="ann")
    assert (stats.messages, stats.sessions, stats.pages, stats.capacity) == (10, 1, 5, 2)
    assert stats.short_term == 2 and sum(warm.segment.pages for warm in stats.segments) == 3
    heats = [warm.heat for warm in stats.segments]
    assert heats == sorted(heats, reverse=True)
    assert all(abs(warm.heat - warm.visits - warm.pages - warm.recency) < 1e-9 for warm in stats.segments)
    assert sum(stats.memories.values()) == len(memories(memory)) and stats.superseded == 1
    assert stats.jobs == {JobState.DONE: 1} and stats.bytes_on_disk > 10_000
    empty = memory.stats(user="a stranger")
    assert (empty.messages, empty.memories, empty.segments, empty.latest_said) == (0, {}, (), None) and empty.notes


def test_cubes_are_created_listed_and_refused(memory: Memory) -> None:
    cube = memory.cubes.create("garden", user="ann", kind="knowledge")
    assert [each.name for each in memory.cubes.list(user="ann")] == ["personal", "garden"]
    assert memory.cubes.list(user="bob") == ()
    assert (cube.owner, cube.kind) == ("ann", "knowledge")
    with pytest.raises(ConflictError):
        memory.cubes.create("garden", user="ann", kind="knowledge")
    for options in ({"name": ""}, {"name": "x", "kind": "personal"}, {"name": "x", "kind": "castle"}):
        with pytest.raises(InputError):
            memory.cubes.create(user="ann", **options)


class Failing(HashingEmbedder):
    """An embedder that can be switched off."""

    broken = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.broken:
            raise EmbedderError("it is down")
        return super().embed(texts)


def test_a_correction_during_an_outage_of_the_embedder_is_kept_and_embedded_later(tmp_path: Path) -> None:
    embedder = Failing(64)
    with open_memory(tmp_path, embedder=embedder) as memory:
        talk(memory, LONG_TALK)
        memory.jobs.wait(user="ann")
        nurse = about(memory, "nurse")
        embedder.broken = True
        memory.update(nurse.id, "Ann works as a midwife.", user="ann")
        assert memory.search("midwife", user="ann", kinds="memory")[0].id == nurse.id
        embedder.broken = False
        assert [job.kind for job in memory.jobs.wait(user="ann")] == ["embed"]


def test_a_correction_is_found_beside_the_message_that_it_corrects_and_read_as_a_value(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, [("ann", "My favourite colour is teal.")])
        memory.jobs.wait(user="ann")
        colour = about(memory, "teal")
        memory.update(colour.id, "Ann's favourite colour is orange.", user="ann")
        hits = memory.search("What is my favourite colour?", user="ann")
        assert sorted(hit.kind for hit in hits if "colour" in hit.text) == ["message", "preference"]
        assert "orange" in memory.context("What is my favourite colour?", user="ann").text
        assert [entry.value for entry in memory.profile(user="ann")] == ["orange"]
        assert memory.ask("What is my favourite colour?", user="ann").text == "Orange"


def test_an_update_of_a_version_that_holds_no_more_changes_nothing(memory: Memory) -> None:
    nurse = about(memory, "nurse")
    first = nurse.current.number
    changed = memory.update(nurse.id, "Ann works as a midwife.", user="ann", if_version=first)
    assert changed.current.number == first + 1
    with pytest.raises(StaleError) as told:
        memory.update(nurse.id, "Ann works as a doctor.", user="ann", if_version=first)
    assert told.value.fields == {"id": nurse.id, "version": first + 1}
    assert memory.get(nurse.id, user="ann") == changed
    assert memory.update(nurse.id, "Ann is retired.", user="ann", if_version=first + 1).current.number == first + 2


def test_of_two_updates_of_one_version_one_is_stale(memory: Memory) -> None:
    nurse = about(memory, "nurse")
    curate = memory._parts.curate
    embed, both = curate._embed, threading.Barrier(2, timeout=30)

    def meeting(texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        found = embed(texts)
        both.wait()  # both have read version 1, and neither has written
        return found

    curate._embed = meeting  # type: ignore[method-assign]
    ended: list[object] = []

    def change(text: str) -> None:
        try:
            ended.append(memory.update(nurse.id, text, user="ann", if_version=nurse.current.number))
        except StaleError as error:
            ended.append(error)

    threads = [threading.Thread(target=change, args=(f"Ann is a {job}.",)) for job in ("midwife", "doctor")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    [stale] = [each for each in ended if isinstance(each, StaleError)]
    [changed] = [each for each in ended if isinstance(each, MemoryRecord)]
    assert memory.get(nurse.id, user="ann") == changed
    assert stale.fields["version"] == changed.current.number


@pytest.mark.parametrize("given", [0, -1, True, "1", 1.5, 2**80], ids=repr)
def test_a_version_that_is_no_number_is_refused(memory: Memory, given: Any) -> None:
    with pytest.raises(InputError) as told:
        memory.update(about(memory, "nurse").id, "Ann is a doctor.", user="ann", if_version=given)
    assert told.value.field == "if_version"


def test_all_items_are_yielded_over_the_ends_of_pages(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.services.listing.PAGE", 3)
    every = list(memory.iterate(user="ann"))
    assert every == list(memory.list(user="ann", limit=1000)) and len(every) > 7
    assert list(memory.iterate(user="ann", kinds="message", session="s1")) == [
        item for item in every if isinstance(item, StoredMessage) and item.session == "s1"
    ]
    assert list(memory.iterate(user="ann", after=every[4].id)) == every[5:]
    assert list(memory.iterate(user="ann", newest=True)) == every[::-1]
    assert list(memory.iterate(user="nobody")) == []
    with pytest.raises(InputError):
        memory.iterate(user="ann", kinds="dreams")
