"""Topics in the background and in searches: what promotion, archiving, visits and `as_of` promise of segments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import Engine, event

from mnemic import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.config import Settings
from mnemic.services.tiering import DRAWN
from tests.databases import address_of
from tests.services.opened import Clock, open_memory, talk

pytestmark = pytest.mark.usefixtures("engine")

GARDEN = [("ann", f"The garden needs water, tomatoes in the garden, row {number}.") for number in range(12)]
VIOLIN = [("ann", f"I practise the violin, a violin lesson, piece {number}.") for number in range(12)]


def paged(turns: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [each for turn in turns for each in (turn, ("bot", "I see."))]


def insights(memory: Memory, **options: datetime) -> list[str]:
    found = memory.search("What does Ann talk about?", user="ann", kinds="insight", as_of=options.get("as_of"))
    return [hit.text for hit in found]


@contextmanager
def statements(memory: Memory) -> Iterator[list[int]]:
    """Count the statements that the store runs in the block."""
    seen: list[int] = []

    def note(_connection: object, _cursor: object, _sql: str, parameters: object, *_: object) -> None:
        seen.append(len(parameters) if isinstance(parameters, list) else 1)

    event.listen(Engine, "before_cursor_execute", note)
    yield seen
    event.remove(Engine, "before_cursor_execute", note)


class Interrupted:
    """Embeds by hashing; does something else once when it is asked for an insight."""

    def __init__(self) -> None:
        self._inner = HashingEmbedder(64)
        self.name, self.width = self._inner.name, self._inner.width
        self.then: list[Callable[[], object]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.then and any("talk" in text and "exchanges" in text for text in texts):
            self.then.pop()()
        return self._inner.embed(texts)


def test_an_insight_tells_nothing_that_was_forgotten_while_it_was_made(tmp_path: Path) -> None:
    embedder = Interrupted()
    with open_memory(tmp_path, embedder=embedder) as memory:
        talk(memory, paged(GARDEN))
        embedder.then = [lambda: memory.forget(about="tomatoes", user="ann")]
        memory.jobs.wait(user="ann")
        assert embedder.then == []
        lines = "\n".join(memory.export(user="ann"))
        assert "tomato" not in lines


def test_each_search_is_a_visit_of_the_topic_that_it_finds(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, paged(GARDEN))
        memory.jobs.wait(user="ann")
        before = sum(warm.segment.visits for warm in memory.stats(user="ann").segments)
        for _ in range(3):
            memory.search("tomatoes in row 0", user="ann", limit=1)
        memory._parts.organize.settle()
        assert sum(warm.segment.visits for warm in memory.stats(user="ann").segments) == before + 3


def test_what_a_threshold_cuts_is_no_visit_and_is_counted_among_the_hits_asked_for(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, paged(GARDEN))
        memory.jobs.wait(user="ann")
        found = memory.search("tomatoes in row 0", user="ann", limit=3, threshold=1)
        assert (len(found), found.cut) == (0, 3)
        memory._parts.organize.settle()
        assert all(warm.segment.visits == 0 for warm in memory.stats(user="ann").segments)


def test_the_past_is_not_told_what_a_topic_became(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, paged(GARDEN), day=3)
        memory.jobs.wait(user="ann")
        talk(memory, paged(GARDEN), day=20, session="s2")
        memory.jobs.wait(user="ann")
        now = insights(memory)
        past = insights(memory, as_of=datetime(2026, 1, 10, tzinfo=UTC))
        assert now
        assert not set(past) & set(now)
        assert insights(memory, as_of=datetime(2026, 1, 2, tzinfo=UTC)) == []
        assert list(memory.search("garden", user="ann", kinds="segment", as_of=datetime(2026, 1, 2, tzinfo=UTC))) == []


@pytest.fixture
def archived(tmp_path: Path) -> Iterator[Memory]:
    """A memory with room for one topic that has talked about two."""
    settings = Settings(
        home=str(tmp_path), database_url=address_of(tmp_path), worker=False, stm_pages=1, mtm_segments=1
    )
    with Memory(settings=settings, embedder=HashingEmbedder(64), clock=Clock()) as memory:
        talk(memory, paged(GARDEN), day=1)
        talk(memory, paged(VIOLIN[:4]), day=9, session="s2")
        memory.jobs.wait(user="ann")
        assert memory.stats(user="ann").archived > 0
        yield memory


def test_archived_topics_are_found_when_they_are_asked_for(archived: Memory) -> None:
    live = {hit.id for hit in archived.search("garden violin", user="ann", kinds="segment")}
    gone = {hit.id for hit in archived.search("garden violin", user="ann", kinds="archived")}
    assert len(live) == 1
    assert len(gone) == archived.stats(user="ann").archived
    assert {hit.kind for hit in archived.search("garden violin", user="ann", kinds=["archived"])} == {"segment"}
    both = {hit.id for hit in archived.search("garden violin", user="ann", kinds=["segment", "archived"])}
    assert both == live | gone


def test_a_filter_lets_a_topic_through_by_any_of_its_messages(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, paged(GARDEN))
        memory.jobs.wait(user="ann")
        assert memory.search("garden", user="ann", kinds="segment", where={"speaker": "ann"})
        assert memory.search("garden", user="ann", kinds="segment", where={"kind": "segment"})
        assert not memory.search("garden", user="ann", kinds="segment", where={"speaker": "bob"})


def test_moving_more_pages_takes_no_more_statements_for_each(tmp_path: Path) -> None:
    spent = []
    for pages in (40, 160):
        with open_memory(tmp_path / str(pages)) as memory:
            talk(memory, paged([("ann", f"Turn {number} about topic {number % 3}.") for number in range(pages)]))
            cube = memory._parts.scoping.known("ann")
            assert cube is not None
            with statements(memory) as seen:
                moved = sum(memory._parts.organize._tiering.run(cube.key))
            spent.append(sum(seen) / moved)
    assert spent[1] < spent[0] * 1.2


def test_embedding_anew_with_the_same_vectors_leaves_topics_where_they_are(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, paged(GARDEN))
        talk(memory, paged(VIOLIN), day=5, session="s2")
        memory.jobs.wait(user="ann")
        cube = memory._parts.scoping.known("ann")
        assert cube is not None
        with memory._parts.store.read() as tx:
            tx.enter_all()
            before = {segment.id: centroid for segment, centroid in tx.segments.list(cube.key)}
        memory._parts.reindex.run()
        with memory._parts.store.read() as tx:
            tx.enter_all()
            after = {segment.id: centroid for segment, centroid in tx.segments.list(cube.key)}
        assert before.keys() == after.keys()
        assert all(float(before[each] @ after[each]) > 0.98 for each in before)


def test_a_message_that_continues_a_page_in_a_topic_is_of_its_chain(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, paged(GARDEN))
        memory.jobs.wait(user="ann")
        cube = memory._parts.scoping.known("ann")
        assert cube is not None
        with memory._parts.store.read() as tx:
            tx.enter_all()
            held = [segment.id for segment, _ in tx.segments.list(cube.key)]
            moved = [page for each in held for page in tx.pages.of_segment(cube.key, each)]
        assert moved
        assert len({page.chain_id for page in moved}) == 1


def test_a_topic_of_many_pages_is_described_by_what_was_said_last(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        old = [("ann", f"The garden has tomatoes in row {number}.") for number in range(DRAWN)]
        new = [("ann", f"The garden has tomatoes and pumpkins in row {number}.") for number in range(DRAWN)]
        talk(memory, paged([*old, *new]))
        memory.jobs.wait(user="ann")
        warmest = memory.stats(user="ann").segments[0].segment
        assert warmest.pages > DRAWN
        assert any("pumpkin" in each for each in warmest.keywords)
        assert "pumpkin" in warmest.summary
