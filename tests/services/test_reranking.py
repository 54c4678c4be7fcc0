"""A reranker puts the best hits in order; when it cannot, the ranking stands and the results say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from mnemic.api import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.config import Settings
from mnemic.errors import InputError, ModelError
from mnemic.ports.store import Store
from mnemic.services.reranking import DEPTH, Reranking
from mnemic.testing.model_says import fails
from mnemic.testing.model_server import ModelServer
from tests.services.opened import Clock, open_memory, talk

TALK = [("Ann", f"I bought a blue bicycle number {number} in Lisbon.") for number in range(40)]
QUESTION = "Which bicycle did Ann buy?"


class Watched:
    """A store that counts the snapshots that are being read."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.reading = 0

    @contextmanager
    def read(self) -> Iterator[Any]:
        self.reading += 1
        try:
            with self._store.read() as tx:
                yield tx
        finally:
            self.reading -= 1


class Fake:
    """Prefers the highest number in a text, or fails; it keeps what it was asked."""

    name = "fake-reranker"

    def __init__(self, store: Watched) -> None:
        self.asked: list[tuple[str, Sequence[str]]] = []
        self.broken = False
        self._store = store

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        assert self._store.reading == 0, "nothing is held while it answers"
        self.asked.append((question, list(texts)))
        if self.broken:
            raise ModelError("it is gone")
        return [float("".join(filter(str.isdigit, text)) or -1) for text in texts]

    def close(self) -> None: ...


@contextmanager
def reranked(folder: Path, clock: Clock | None = None) -> Iterator[tuple[Memory, Fake]]:
    clock = clock or Clock()
    with open_memory(folder, clock=clock) as memory:
        store = Watched(memory._parts.store)
        fake = Fake(store)
        talk(memory, TALK, user="ann")
        memory._parts.recall._store = cast("Store", store)
        memory._parts.recall.reranking = Reranking(fake, clock)
        yield memory, fake


def test_the_best_hits_come_in_the_rerankers_order_with_the_scores_of_their_places(tmp_path: Path) -> None:
    with reranked(tmp_path) as (memory, fake):
        found = memory.search(QUESTION, user="ann", limit=5)
        ((question, texts),) = fake.asked
        memory._parts.recall.reranking = None
        plain = memory.search(QUESTION, user="ann", limit=DEPTH)
    assert question == QUESTION
    assert [text.removeprefix("Ann: ") for text in texts] == [hit.text for hit in plain]
    best = sorted(plain, key=lambda hit: -int("".join(filter(str.isdigit, hit.text))))[:5]
    assert [hit.id for hit in found] == [hit.id for hit in best]
    assert [hit.score for hit in found] == [hit.score for hit in plain[:5]]
    assert found.confidence == plain.confidence
    assert found.notes == ()


def test_more_hits_than_are_reranked_follow_in_the_order_of_the_ranking(tmp_path: Path) -> None:
    with reranked(tmp_path) as (memory, fake):
        found = memory.search(QUESTION, user="ann", limit=40)
        memory._parts.recall.reranking = None
        plain = memory.search(QUESTION, user="ann", limit=40)
    assert len(fake.asked[0][1]) == DEPTH
    assert [hit.id for hit in found[DEPTH:]] == [hit.id for hit in plain[DEPTH:]]
    assert {hit.id for hit in found} == {hit.id for hit in plain}


def test_a_reranker_that_fails_leaves_the_ranking_and_the_results_say_so(tmp_path: Path) -> None:
    with reranked(tmp_path) as (memory, fake):
        fake.broken = True
        found = memory.search(QUESTION, user="ann")
        memory._parts.recall.reranking = None
        plain = memory.search(QUESTION, user="ann")
    assert found.hits == plain.hits and len(found) == 10
    assert found.notes == ("not reranked: fake-reranker did not answer: it is gone",)


def test_of_many_questions_none_waits_for_a_reranker_that_failed_for_another(tmp_path: Path) -> None:
    with reranked(tmp_path) as (memory, fake):
        fake.broken = True
        found = memory.search_many([QUESTION, "Where is the bicycle?", "What is blue?"], user="ann")
    assert len(fake.asked) == 1
    assert all("not reranked" in results.notes[0] for results in found)


def test_after_five_failures_it_is_left_alone_and_then_asked_again(tmp_path: Path) -> None:
    clock = Clock()
    with reranked(tmp_path, clock) as (memory, fake):
        fake.broken = True
        notes = [memory.search(QUESTION, user="ann").notes[0] for _ in range(7)]
        assert len(fake.asked) == 5
        assert "is asked again in 10 s" in notes[-1]
        fake.broken = False
        clock.at += timedelta(seconds=11)
        assert memory.search(QUESTION, user="ann").notes == ()


def test_one_hit_or_none_needs_no_reranker(tmp_path: Path) -> None:
    with reranked(tmp_path) as (memory, fake):
        assert len(memory.search(QUESTION, user="nobody")) == 0
        memory.add("I like tea.", user="carl")
        assert len(memory.search("What does he like?", user="carl", kinds="message")) == 1
    assert fake.asked == []


def test_a_threshold_cuts_the_same_number_of_hits(tmp_path: Path) -> None:
    with reranked(tmp_path) as (memory, _):
        scores = [hit.score for hit in memory.search(QUESTION, user="ann", limit=10)]
        bar = (scores[3] + scores[4]) / 2
        found = memory.search(QUESTION, user="ann", limit=10, threshold=bar)
        expected = sum(score >= bar for score in scores)
    assert (len(found), found.cut) == (expected, 10 - expected)


def test_a_configured_reranker_is_asked_over_http(tmp_path: Path) -> None:
    with ModelServer([honestly, fails(401, "no such key")]) as server:
        settings = Settings(home=str(tmp_path), worker=False, rerank_base_url=server.url, rerank_model="r-1")
        with Memory(settings=settings, embedder=HashingEmbedder(64)) as memory:
            talk(memory, [("Ann", "I drink tea."), ("Ann", "My bicycle is blue."), ("Ann", "Lisbon is far.")])
            found = memory.search("bicycle blue my is", user="ann", explain=True)
            assert found[0].text == "My bicycle is blue."
            assert found[0].why is not None and found[0].why.channels["rerank"][0] == 1
            failed = memory.search("bicycle blue my is", user="ann")
        assert [request.path for request in server.requests] == ["/v1/rerank"] * 2
    assert server.requests[0].body["model"] == "r-1"
    assert failed.notes[0].startswith("not reranked: r-1 did not answer:") and "check the API key" in failed.notes[0]
    assert len(failed) == len(found)


def honestly(asked: object) -> None:
    """Leave the answer to the server."""


def test_an_address_that_cannot_be_is_named_when_the_memory_is_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rerank_base_url"):
        Memory(settings=Settings(home=str(tmp_path), rerank_base_url="localhost:8080"), embedder=HashingEmbedder(64))
