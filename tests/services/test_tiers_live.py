"""Pages move from short-term memory into topics, topics warm and are promoted, and nothing is lost on the way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mnemic import Memory
from mnemic.model.job import ORGANIZE, queued
from mnemic.model.message import StoredMessage
from tests.faults.counting import faults
from tests.services.opened import Clock, open_memory, talk

TOPICS = {
    "garden": "The garden needs water, the tomatoes in the garden are ripe",
    "engine": "The engine of the car is loud, the mechanic looked at the engine",
    "violin": "I practise the violin, my violin teacher is patient",
}


def chat(memory: Memory, topic: str, turns: int, *, session: str = "s1", day: int = 1) -> list[str]:
    said = [("ann", f"{TOPICS[topic]} {number}.") if number % 2 == 0 else ("bot", f"The {topic}, I see, {number}.")
            for number in range(turns)]  # fmt: skip
    return talk(memory, said, session=session, day=day)


def messages(memory: Memory) -> list[StoredMessage]:
    found = memory.list(user="ann", kinds="message", limit=1_000)
    return [item for item in found if isinstance(item, StoredMessage)]


def test_pages_beyond_the_capacity_leave_short_term_memory_oldest_first(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        ids = chat(memory, "garden", 12)
        before = memory.stats(user="ann")
        assert (before.pages, before.short_term, before.capacity, len(before.segments)) == (6, 6, 2, 0)
        assert memory.explain(ids[0], user="ann").tier == "short-term"
        memory.jobs.wait(user="ann")
        after = memory.stats(user="ann")
        assert (after.pages, after.short_term) == (6, 2)
        assert sum(warm.segment.pages for warm in after.segments) == 4
        assert memory.explain(ids[0], user="ann").tier == "mid-term"
        assert memory.explain(ids[-1], user="ann").tier == "short-term"
        assert [message.id for message in messages(memory)] == ids
    assert faults(tmp_path, finished=True) == []


def test_topics_become_segments_of_their_own(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        ids = {topic: chat(memory, topic, 12, session=topic) for topic in TOPICS}
        memory.jobs.wait(user="ann")
        homes = {}
        for topic, said in ids.items():
            held = memory.explain(said[0], user="ann").segment
            assert held is not None
            assert topic in f"{held.summary} {held.keywords}".lower()
            homes[topic] = held.id
        assert len(set(homes.values())) == len(TOPICS)
    assert faults(tmp_path, finished=True) == []


def test_a_session_that_others_have_left_behind_leaves_short_term_memory(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        chat(memory, "garden", 4, session="old", day=1)
        memory.jobs.wait(user="ann")
        assert memory.stats(user="ann").short_term == 2
        chat(memory, "violin", 4, session="new", day=9)
        memory.jobs.wait(user="ann")
        left = memory.stats(user="ann")
        assert left.short_term == 2
        assert sum(warm.segment.pages for warm in left.segments) == 2


def test_heat_falls_with_time_and_rises_with_visits(tmp_path: Path) -> None:
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        chat(memory, "garden", 12)
        memory.jobs.wait(user="ann")
        [first] = memory.stats(user="ann").segments[:1]
        for _ in range(3):
            memory.search("tomatoes in the garden", user="ann", kinds="message")
        memory.add("Something else.", user="ann", wait=True)
        memory.jobs.wait(user="ann")
        [visited] = [warm for warm in memory.stats(user="ann").segments if warm.segment.id == first.segment.id]
        assert visited.visits > first.visits
        assert visited.heat == visited.visits + visited.pages + visited.recency
        clock.at += timedelta(days=3)
        [cooled] = [warm for warm in memory.stats(user="ann").segments if warm.segment.id == first.segment.id]
        assert cooled.heat < visited.heat
        assert (cooled.visits, cooled.pages) == (visited.visits, visited.pages)


def test_a_warm_topic_is_promoted_once(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        chat(memory, "garden", 20)
        memory.add("Fine.", user="ann")  # so late that the session before it is over
        memory.jobs.wait(user="ann")
        insights = memory.list(user="ann", kinds="insight")
        assert insights
        assert len({item.id for item in insights}) == len(insights)
        versions = [len(memory.history(item.id, user="ann")) for item in insights]
        for _ in range(3):
            memory.add("Fine.", user="ann", wait=True)
            memory.jobs.wait(user="ann")
        again = memory.list(user="ann", kinds="insight")
        assert [item.id for item in again] == [item.id for item in insights]
        assert [len(memory.history(item.id, user="ann")) for item in again] == versions
    assert faults(tmp_path, finished=True) == []


def test_the_coldest_topics_are_archived_and_searched_no_more_but_their_messages_are(tmp_path: Path) -> None:
    settings = {"embedder": "hashing", "worker": False, "stm_pages": 1, "mtm_segments": 1}
    with Memory(tmp_path, settings=settings) as memory:
        for day, topic in enumerate(TOPICS, 1):
            chat(memory, topic, 10, session=topic, day=day)
        memory.jobs.wait(user="ann")
        stats = memory.stats(user="ann")
        assert len(stats.segments) == 1
        assert stats.archived >= 2
        assert len(memory.search("garden engine violin", user="ann", kinds="segment", limit=50)) == 1
        for topic in TOPICS:
            assert topic in memory.search(topic, user="ann", kinds="message")[0].text
        assert stats.messages == 30
    assert faults(tmp_path, finished=True) == []


def test_the_tiers_are_the_same_whether_messages_come_one_by_one_or_at_once(tmp_path: Path) -> None:
    said = [("ann", f"{text} {number}.") for number in range(4) for text in TOPICS.values()]
    found = []
    for name, size in (("single", 1), ("batch", len(said))):
        with open_memory(tmp_path / name) as memory:
            for start in range(0, len(said), size):
                turns = [{"content": text, "name": who, "at": f"2026-01-01T09:{start + number:02}:00Z"}
                         for number, (who, text) in enumerate(said[start : start + size])]  # fmt: skip
                memory.add(turns, user="ann", session="s")
            memory.jobs.wait(user="ann")
            stats = memory.stats(user="ann")
            found.append((stats.pages, stats.short_term, sorted(warm.segment.pages for warm in stats.segments),
                          sorted(stats.memories.items())))  # fmt: skip
    assert found[0] == found[1]


def test_jobs_that_were_cut_off_leave_no_half_of_a_step(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        chat(memory, "garden", 30)
        steps = 0

        class CutError(Exception):
            pass

        def tick(_: int) -> None:
            nonlocal steps
            steps += 1
            raise CutError

        handlers = memory._parts.worker._handlers
        with closing(sqlite3.connect(tmp_path / "mnemic.db")) as connection:
            key = connection.execute("SELECT key FROM cube").fetchone()[0]
        for _ in range(100):
            before = steps
            try:
                handlers["organize"](queued("j", key, ORGANIZE, datetime.now(UTC)), tick)
            except CutError:
                assert faults(tmp_path, finished=False) == []
            if steps == before:
                break
        assert steps > 2
        assert all(job.attempts <= 1 for job in memory.jobs.wait(user="ann"))
    assert faults(tmp_path, finished=True) == []
