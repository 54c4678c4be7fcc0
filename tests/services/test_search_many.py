"""Several questions at once get what each would get alone, in one embedding and from one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic import InputError, Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.errors import EmbedderError
from tests.services.opened import open_memory, talk

pytestmark = pytest.mark.usefixtures("engine")

QUESTIONS = ["Who paints boats?", "Where did Ann move?", "What about the river?", "Who paints boats?"]
TURNS = [
    ("Ann", "I moved from Lisbon to Porto."),
    ("bot", "How do you like the river?"),
    ("Ann", "The river is lovely, and I bought a kayak."),
    ("Ben", "My sister paints boats for a living."),
]


class Watched:
    """Counts what it is asked to embed, and can be told to fail or to wait for others."""

    def __init__(self) -> None:
        self._inner = HashingEmbedder(64)
        self.name, self.width = self._inner.name, self._inner.width
        self.asked: list[list[str]] = []
        self.failing = False
        self.together: Barrier | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        if self.failing:
            raise EmbedderError("the model is away")
        if self.together is not None:
            self.together.wait(30)
        return self._inner.embed(texts)


@pytest.fixture
def embedder() -> Watched:
    return Watched()


@pytest.fixture
def memory(tmp_path: Path, embedder: Watched) -> Iterator[Memory]:
    with open_memory(tmp_path, embedder=embedder) as opened:
        talk(opened, TURNS)
        opened.jobs.wait(user="ann")
        shared = opened.cubes.create("boats", user="ann")
        opened.add("Boats are painted in spring.", user="ann", cube=shared.id)
        embedder.asked.clear()
        yield opened


@pytest.mark.parametrize(
    "options",
    [{}, {"limit": 2, "explain": True}, {"kinds": "message", "where": {"speaker": "Ann"}}, {"threshold": 0.3}],
)
def test_each_question_gets_what_it_would_get_alone(memory: Memory, options: dict[str, object]) -> None:
    given = {"reference_time": "2026-02-01", **options}
    many = memory.search_many(QUESTIONS, user="ann", **given)  # type: ignore[arg-type]
    alone = [memory.search(question, user="ann", **given) for question in QUESTIONS]  # type: ignore[arg-type]
    assert list(many) == alone
    assert any(results.hits for results in many)


def test_questions_are_embedded_together_and_once(memory: Memory, embedder: Watched) -> None:
    memory.search(QUESTIONS[1], user="ann")
    memory.search_many(QUESTIONS, user="ann")
    memory.search_many(QUESTIONS, user="ann")
    assert len(embedder.asked) == 2, "what was asked before is embedded again, or each question by itself"
    every = [text for texts in embedder.asked for text in texts]
    assert len(every) == len(set(every)) >= 3


def test_no_questions_get_no_answers(memory: Memory) -> None:
    assert list(memory.search_many([], user="ann")) == []
    for wrong in ("one question", None, 5):
        with pytest.raises(InputError, match="queries"):
            memory.search_many(wrong, user="ann")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="query"):
        memory.search_many(["fine", ""], user="ann")


def test_without_the_embedder_new_questions_are_searched_by_words(memory: Memory, embedder: Watched) -> None:
    memory.search(QUESTIONS[0], user="ann")
    embedder.failing = True
    known, new = memory.search_many([QUESTIONS[0], "river"], user="ann")
    assert "by words only" in known.notes[0] and known.notes == new.notes
    assert any("river" in hit.text for hit in new)


def test_threads_with_the_same_new_question_do_not_wait_for_each_other(memory: Memory, embedder: Watched) -> None:
    embedder.together = Barrier(2)  # breaks after 30 s if one waits for the other's embedding
    found: list[list[str]] = []
    threads = [
        Thread(target=lambda: found.append([hit.id for hit in memory.search("Who paints?", user="ann")]))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 2 and found[0] == found[1] and found[0]
