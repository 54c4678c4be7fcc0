"""Searches find by words, meaning, names and times, tell why, read one moment, and never the present for the past."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic import InputError, Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.config import Settings
from mnemic.core.learned import LEARNED
from tests.databases import address_of
from tests.services.opened import open_memory, talk

pytestmark = pytest.mark.usefixtures("engine")

TURNS = [
    ("Ann", "I moved from Lisbon to Porto."),
    ("bot", "How do you like the river?"),
    ("Ann", "The river is lovely, and I bought a kayak."),
    ("Ben", "My sister paints boats for a living."),
    ("Ann", "Let us invite her to the harbour fair."),
]


@pytest.fixture(scope="module")
def memory(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with open_memory(tmp_path_factory.mktemp("recall")) as opened:
        talk(opened, TURNS)
        opened.jobs.wait(user="ann")
        yield opened


def test_the_best_hit_comes_first_with_its_sources(memory: Memory) -> None:
    hit = memory.search("Who paints boats?", user="ann", kinds="message")[0]
    assert (hit.text, hit.speaker, hit.session) == (TURNS[3][1], "Ben", "s1")
    assert [source.message_id for source in hit.sources] == [hit.id]
    assert hit.why is None


def test_scores_fall_and_lie_between_0_and_1(memory: Memory) -> None:
    scores = [hit.score for hit in memory.search("river kayak harbour", user="ann", limit=100)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_a_hit_explains_its_score(memory: Memory) -> None:
    for hit in memory.search("What did Ann buy at the river?", user="ann", kinds="message", explain=True):
        assert hit.why is not None
        parts = sum(part for _, part in hit.why.channels.values()) + sum(hit.why.boosts.values())
        assert 1 / (1 + math.exp(-parts)) == pytest.approx(hit.score, abs=0.002)
        assert all(rank >= 1 for rank, _ in hit.why.channels.values())
    named = memory.search("What paints the sister of Ben?", user="ann", kinds="message", explain=True)[0]
    assert named.speaker == "Ben"
    assert named.why is not None
    assert named.why.boosts["speaker"] > 0


def test_the_learned_table_weighs_every_feature_and_no_other(memory: Memory) -> None:
    recall = memory._parts.recall
    _, view, looked = next(iter(recall.look("What did Ann buy at the river?", user="ann")))
    assert set(looked.features) == set(LEARNED.rows)
    assert {values.shape for values in looked.features.values()} == {looked.places.shape}
    assert len(view) >= len(looked.places) > 0


def test_the_plain_sum_ranks_when_it_is_asked_for(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path), database_url=address_of(tmp_path), worker=False, ranking="plain")
    with Memory(settings=settings, embedder=HashingEmbedder(64)) as plain:
        plain.add("I bought a boat.", user="ann")
        hit = plain.search("What did I buy last year?", user="ann", explain=True)[0]
        assert hit.why is not None
        assert "question" not in hit.why.boosts
    with pytest.raises(InputError, match="ranking"):
        Memory(settings=replace(settings, ranking="best"))


def test_the_parts_of_a_search_for_bare_words_add_up_to_its_score(memory: Memory) -> None:
    for hit in memory.search("Porto river", user="ann", kinds="message", explain=True):
        assert hit.why is not None
        parts = sum(part for _, part in hit.why.channels.values()) + sum(hit.why.boosts.values())
        assert parts == pytest.approx(hit.score, abs=0.002)


def test_kinds_choose_what_is_found(memory: Memory) -> None:
    for kinds in ("message", "segment", "fact", "memory", ["message", "segment"]):
        wanted = {kinds} if isinstance(kinds, str) else set(kinds)
        wanted |= {"fact", "preference", "event", "insight"} if "memory" in wanted else set()
        found = {hit.kind for hit in memory.search("Porto river", user="ann", kinds=kinds)}
        assert found
        assert found <= wanted
    assert "segment" not in {hit.kind for hit in memory.search("Porto river", user="ann", limit=100)}


def test_a_segment_stands_on_all_its_messages(memory: Memory) -> None:
    hit = memory.search("river", user="ann", kinds="segment")[0]
    assert hit.sources
    assert {source.session for source in hit.sources} == {"s1"}


def test_a_search_does_not_change_what_it_finds(memory: Memory) -> None:
    first = [(hit.id, round(hit.score, 3)) for hit in memory.search("boats", user="ann")]
    for _ in range(5):
        assert [(hit.id, round(hit.score, 3)) for hit in memory.search("boats", user="ann")] == first


def test_nobody_searches_an_empty_memory_in_vain(memory: Memory) -> None:
    for user in ("nobody", 0):
        assert memory.search("boats", user=user).hits == ()
        assert memory.context("boats", user=user).text == ""
        assert not memory.ask("Who paints boats?", user=user).found
        assert memory.list(user=user) == ()
        assert memory.stats(user=user).messages == 0
    assert not memory.cubes.list(user="nobody"), "reading makes nothing"


def test_the_past_is_answered_from_the_past(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, [("ann", "I live in Lisbon.")], day=1)
        talk(memory, [("ann", "I live in Porto now.")], day=20)
        memory.jobs.wait(user="ann")

        def homes(**options: str) -> set[str]:
            found = memory.search("Where do I live?", user="ann", kinds="memory", **options)  # type: ignore[arg-type]
            return {str(hit.metadata["value"]) for hit in found}

        assert homes() == {"Porto"}
        assert homes(as_of="2026-01-10") == {"Lisbon"}
        assert homes(as_of="2026-01-25") == {"Porto"}
        assert homes(as_of="2025-12-01") == set()
        assert [hit.text for hit in memory.search("live", user="ann", kinds="message", as_of="2026-01-10")] == [
            "I live in Lisbon."
        ]
        context = memory.context("Where do I live?", user="ann", as_of="2026-01-10").text
        assert "Porto" not in context


def test_a_time_in_the_question_counts_from_the_reference_time(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for day in range(1, 29, 3):
            talk(memory, [("ann", "I went swimming.")], day=day, session=f"s{day}")
        found = memory.search(
            "When did I go swimming last week?", user="ann", kinds="message", limit=2,
            reference_time="2026-01-21T12:00:00Z",
        )  # fmt: skip
        assert {hit.said_at.day for hit in found} <= set(range(12, 19))


def test_a_context_tells_turns_in_order_of_time_within_its_budget(memory: Memory) -> None:
    context = memory.context("river kayak", user="ann", kinds="message", budget=200)
    lines = context.text.splitlines()
    assert lines == sorted(lines), "each opens with its date"
    assert context.tokens <= 200
    assert len(context.hits) == len(lines)
    assert any("bot: How do you like the river?" in line for line in lines)


def test_near_repeats_do_not_crowd_out_the_rest(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for number in range(10):
            talk(memory, [("ann", "I love jazz.")], session=f"s{number}", day=number + 1)
        talk(memory, [("ann", "I play the trumpet in a jazz band.")], session="band", day=20)
        memory.jobs.wait(user="ann")
        found = memory.search("jazz", user="ann", kinds="memory")
        assert len({hit.text for hit in found}) == len(found)
        assert any(
            "trumpet" in hit.text for hit in memory.search("What do I play in the jazz band?", user="ann", limit=3)
        )
