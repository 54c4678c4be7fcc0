"""A store and its embedder: a change by another process is told, and what an outage left out is made up for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic import Memory, wiring
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.config import Settings
from mnemic.errors import EmbedderError, StoreModelError
from mnemic.model.index import CubeView
from mnemic.model.job import KINDS, REFINE, JobState
from tests.services.opened import Clock, open_memory, talk


class Renamed:
    """Embeds by hashing, under another name; fails while it is down."""

    def __init__(self, name: str = "another") -> None:
        self._inner = HashingEmbedder(64)
        self.name, self.width = name, self._inner.width
        self.down = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.down:
            raise EmbedderError("the embedder is down")
        return self._inner.embed(texts)


def test_a_memory_whose_store_another_process_moved_to_another_embedder_says_so(tmp_path: Path) -> None:
    with open_memory(tmp_path, embedder=Renamed("first")) as memory:
        memory.add("I live in Porto.", user="ann")
        memory.search("Where do I live?", user="ann")
        settings = Settings(home=str(tmp_path), worker=False)
        parts = wiring.build(settings, embedder=Renamed("second"), replacing=True)
        for call in (lambda: memory.add("I moved.", user="ann"), lambda: memory.search("Where?", user="ann")):
            with pytest.raises(StoreModelError, match="second"):
                call()
        parts.reindex.run()
        parts.close()
        with pytest.raises(StoreModelError, match="second"):
            memory.add("I moved.", user="ann")
    with open_memory(tmp_path, embedder=Renamed("second")) as memory:
        assert memory.search("Where do I live?", user="ann")[0].text == "I live in Porto."


def test_what_could_not_be_embedded_for_long_is_embedded_with_the_next_work_of_its_cube(tmp_path: Path) -> None:
    embedder, clock = Renamed(), Clock()
    with open_memory(tmp_path, embedder=embedder, clock=clock) as memory:
        embedder.down = True
        memory.add("I live in Porto.", user="ann")
        for _ in range(KINDS[REFINE].tries):
            while memory._parts.worker.run_once():
                pass
            clock.at += timedelta(minutes=5)
        assert {job.state for job in memory.jobs.list(user="ann")} == {JobState.DEAD}
        embedder.down = False
        memory.add("I like tea.", user="ann")
        while memory._parts.worker.run_once():
            pass
        cube = memory._parts.scoping.known("ann")
        assert cube is not None
        with memory._parts.store.read() as tx:
            assert tx.index.count_without_vector(cube.key) == 0
        assert {job.state for job in memory.jobs.list(user="ann")} == {JobState.DONE}


def test_jobs_that_are_done_do_not_pile_up(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for number in range(300):
            memory.add(f"Turn {number}.", user="ann")
            while memory._parts.worker.run_once():
                pass
        assert memory.stats(user="ann").jobs["done"] <= 200 + 64, "they are cleared away now and then"


def test_topics_that_formed_while_the_embedder_was_down_are_embedded_later(tmp_path: Path) -> None:
    embedder = Renamed()
    with open_memory(tmp_path, embedder=embedder) as memory:
        embedder.down = True
        talk(memory, [(who, f"The garden, row {number}.") for number in range(9) for who in ("ann", "bot")])
        cube = memory._parts.scoping.known("ann")
        assert cube is not None
        assert sum(memory._parts.organize._tiering.run(cube.key)) > 0
        embedder.down = False
        memory.jobs.wait(user="ann")
        view = view_of(memory, cube.key)
        assert "segment" in view.kind_names
        assert bool(view.vectors.any(axis=1).all())


def view_of(memory: Memory, cube_key: int) -> CubeView:
    with memory._parts.store.read() as tx:
        return tx.index.view(cube_key)


def test_a_view_follows_vectors_that_came_later_like_one_that_is_read_afresh(tmp_path: Path) -> None:
    embedder = Renamed()
    with open_memory(tmp_path, embedder=embedder) as memory:
        memory.add("I live in Porto.", user="ann")
        embedder.down = True
        memory.add("My cat is called Miso.", user="ann")
        embedder.down = False
        memory.add("She sleeps all day.", user="ann")
        cube = memory._parts.scoping.known("ann")
        assert cube is not None
        view_of(memory, cube.key)
        while memory._parts.worker.run_once():
            pass
        followed = view_of(memory, cube.key)
        with open_memory(tmp_path, embedder=Renamed()) as other:
            fresh = view_of(other, cube.key)
        assert followed.keys.tolist() == fresh.keys.tolist()
        assert followed.previous.tolist() == fresh.previous.tolist()
        assert np.allclose(followed.pair_norms, fresh.pair_norms, atol=1e-5)
        assert np.allclose(followed.vectors, fresh.vectors)


class Prefixed(Renamed):
    """Has another prefix for questions than for passages, as some models do."""

    def __init__(self, prefix: str = "passage:") -> None:
        super().__init__()
        self.prefix = prefix
        self.seen: list[str] = []
        self.questions: Prefixed | None = None

    def for_queries(self) -> Prefixed:
        self.questions = Prefixed("query:")
        return self.questions

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        return super().embed([f"{self.prefix} {text}" for text in texts])


def test_questions_are_embedded_as_questions(tmp_path: Path) -> None:
    embedder = Prefixed()
    with open_memory(tmp_path, embedder=embedder) as memory:
        memory.add("I live in Porto.", user="ann")
        memory.search("Where do I live?", user="ann")
    assert embedder.questions is not None
    assert embedder.questions.seen == ["Where do I live?"]
    assert embedder.seen == ["I live in Porto."]
