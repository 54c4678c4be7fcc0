"""A job run twice changes nothing more, and one that was cut off anywhere ends as if it had not been.

Every kind of job has its row in `WORK`: what makes real work for it, of several steps where it has several.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic import Memory, wiring
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.sql.sqlite import DATABASE_FILE
from mnemic.backends.sql.store import SqlStore, SqlTransaction
from mnemic.config import Settings
from mnemic.errors import EmbedderError
from mnemic.model.job import DESCRIBE, EMBED, INGEST, KINDS, ORGANIZE, REFINE, REORGANIZE, RETEXT, Job, JobState
from mnemic.model.language import Prompt
from mnemic.runtime.worker import Handler, Stopping, Tick, Worker, Workplace
from mnemic.services.dispatching import LEASE, Dispatching, Limits
from mnemic.testing.scripted_model import ScriptedModel, said_to
from tests.services.contents import Row, contents, ids_in, rows_of
from tests.services.described import is_described, say_with_attachments, sensed
from tests.services.opened import SteppedClock, talk
from tests.services.scripted import reply, statement
from tests.services.shelved import PlainReader
from tests.services.test_retexting import read_before_an_upgrade

STEPS = {
    "mnemic.services.learning.BATCH": 4,
    "mnemic.services.tiering.BATCH": 2,
    "mnemic.services.embedding.BATCH": 3,
    "mnemic.services.retexting.BATCH": 5,
    "mnemic.services.publishing.BATCH": 3,
}
"""How much one step does, so that a little work has many."""

FIRST = [
    ("ann", "I live in Leeds."), ("bot", "How is it there?"),
    ("ann", "The garden needs water, tomatoes in the garden, row 1."), ("bot", "I see."),
    ("ann", "I have a dog named Rex."), ("bot", "Lovely!"),
    ("ann", "The garden needs water, tomatoes in the garden, row 2."), ("bot", "I see."),
]  # fmt: skip
THEN = [
    ("ann", "I moved to Porto last week."), ("bot", "Welcome."),
    ("ann", "I like green tea."), ("bot", "Noted."),
    ("ann", "I practise the violin, a violin lesson, piece 1."), ("bot", "I see."),
    ("ann", "I practise the violin, a violin lesson, piece 2."), ("bot", "I see."),
    ("ann", "The garden needs water, tomatoes in the garden, row 3."), ("bot", "I see."),
    ("ann", "I don't like green tea any more."), ("bot", "Oh."),
    ("ann", "I love coffee."), ("bot", "Me too."),
]  # fmt: skip
THEMES = [
    ("ann", "I like hiking in the Alps."),
    ("ann", "I love hiking with my dog."),
    ("ann", "I enjoy hiking in autumn."),
    ("ann", "I like hiking at dawn."),
    ("ann", "I love Porto."),
    ("ann", "I'm planning to learn the cello."),
    ("ann", "Siempre corro cada mañana en el parque"),
    ("ann", "Pues cada mañana corro en el parque"),
]
NUMBERED = re.compile(r"^(m\d+) \| [\d:]+ \| (.+?) \((\w+)\): (.*)$", re.MULTILINE)
TOPICS = re.compile(r"^(t\d+) \|", re.MULTILINE)
DRAWN: Mapping[str, Mapping[str, Any]] = {
    "practise the violin": {"attribute": "habit.regular", "value": "violin", "statement": "ann practises the violin."},
    "garden needs water": {"value": "garden", "statement": "ann has a garden that needs water."},
    "corro cada mañana en el parque": {
        "attribute": "habit.regular", "statement": "ann corre cada mañana en el parque.",
    },
    "cada mañana corro en el parque": {
        "attribute": "habit.regular", "statement": "ann corre cada mañana en el parque.", "value": "cada mañana corro",
    },
}  # fmt: skip


def says(prompt: Prompt) -> str:
    """Answer as a model that always answers alike, whatever ids things have."""
    asked = said_to(prompt)
    if "Messages to read" in asked or "There are no messages to read" in asked:
        found = [
            statement(number, quote, about=speaker, **changed)
            for number, speaker, _, text in NUMBERED.findall(prompt.turns[-1].text)
            for quote, changed in DRAWN.items()
            if quote in text
        ]
        entities = [
            {"name": "Porto", "type": "place", "messages": [number]}
            for number, _, _, text in NUMBERED.findall(prompt.turns[-1].text)
            if "Porto" in text
        ]
        topics = [
            {"topic": number, "title": "What ann does", "summary": "They talk about it.", "keywords": ["talk"]}
            for number in TOPICS.findall(prompt.turns[-1].text)
        ]
        return reply(*found, entities=entities, topics=topics)
    if "You sum up a document" in asked:
        return json.dumps({"document": "A guide to the harbour.", "sections": []})
    if "g1 |" in asked:
        told = {"group": "g1", "sentence": "ann likes hiking in many ways.", "value": "hiking"}
        return json.dumps({"insights": [told]})
    return json.dumps({"pairs": []})


class Embedder:
    """Embeds by hashing, when it is not away."""

    def __init__(self) -> None:
        self._inner = HashingEmbedder(64)
        self.name, self.width = self._inner.name, self._inner.width
        self.away = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.away:
            raise EmbedderError("the server of the embedder is away")
        return self._inner.embed(texts)


@contextmanager
def opened(folder: Path, at: datetime) -> Iterator[tuple[Memory, SteppedClock, Embedder]]:
    clock, embedder = SteppedClock(), Embedder()
    clock.forward(at - clock.now())
    settings = Settings(
        home=str(folder), worker=False, stm_pages=2, heat_threshold=2.5, mtm_segments=1, segment_threshold=0.4,
        refine_messages=4, reorganize_hours=1.0, jobs_kept=10_000,
    )  # fmt: skip
    with Memory(settings=settings, embedder=embedder, llm=ScriptedModel(says), clock=clock) as memory:
        yield memory, clock, embedder


START = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""When the prepared store was filled. The work that is looked at is done a day later."""

DAY = timedelta(days=1)


def run(memory: Memory, *kinds: str) -> None:
    """Do the jobs of these kinds that are due, one after the other."""
    parts = memory._parts
    at_work = worker(parts, {kind: parts.worker._handlers[kind] for kind in kinds})
    while at_work.run_once():
        pass


def organized_once(folder: Path) -> None:
    with opened(folder, START) as (memory, _, _):
        talk(memory, FIRST)
        run(memory, ORGANIZE)
        talk(memory, THEN, session="s2", day=9)


def without_vectors(folder: Path) -> None:
    with opened(folder, START) as (memory, _, embedder):
        talk(memory, FIRST)
        embedder.away = True
        talk(memory, THEN, session="s2", day=9)


def of_an_older_reading(folder: Path) -> None:
    with opened(folder, START) as (memory, _, _):
        talk(memory, [("ann", f"Unsere Geburtstagsfeier Nummer {number} war im Garten.") for number in range(9)])
        talk(memory, FIRST, session="s2")
        run(memory, ORGANIZE)
    read_before_an_upgrade(folder)


def to_be_read_by_a_model(folder: Path) -> None:
    with opened(folder, START) as (memory, _, _):
        talk(memory, FIRST)
        run(memory, ORGANIZE, REFINE)
        talk(memory, THEN, session="s2", day=9)
        run(memory, ORGANIZE)


def to_be_put_in_order(folder: Path) -> None:
    with opened(folder, START - 400 * DAY) as (memory, _, _):  # so long ago that plans are over
        memory.add([{"content": text, "name": name} for name, text in THEMES], user="ann")
        memory.add([f"I like number{n} cheese." for n in range(10)], user="ann", session="s2")
        run(memory, ORGANIZE, REFINE)


def with_a_changed_document(folder: Path) -> None:
    pages = [f"# Harbour {number}\n\nBoats come at {number}.\n\nThen they leave." for number in range(9)]
    with opened(folder, START) as (memory, clock, _):
        cube = memory.knowledge.create("docs", user="ann").cube.id
        memory.knowledge.add("\f".join(pages).encode(), name="guide", cube=cube, user="ann")
        run(memory, INGEST)
        clock.forward(timedelta(hours=1))
        changed = ["# Wind\n\nIt is strong.", *pages[:4], *(page.replace("Boats", "Ships") for page in pages[4:])]
        memory.knowledge.add("\f".join(changed).encode(), name="guide", cube=cube, user="ann")


def with_attachments(folder: Path) -> None:
    with opened(folder, START) as (memory, _, _):
        say_with_attachments(memory)


@dataclass(frozen=True)
class Work:
    """What makes work for a kind, in how many steps (ticks) and writes it is done at least, and what it must make."""

    prepare: Callable[[Path], None]
    ticks: int
    writes: int
    makes: Callable[[Sequence[Row]], bool] = field(default=lambda _: True)


def rows(found: Sequence[Row], table: str) -> list[Row]:
    return [row for row in found if row[0] == table]


WORK = {
    ORGANIZE: Work(
        organized_once,
        ticks=7,
        writes=10,
        makes=lambda found: (
            any("Porto" in str(row) for row in rows(found, "memory_version"))
            and len(rows(found, "segment")) > 1
            and any("insight" in str(row) for row in rows(found, "memory"))
            and ("job", REFINE, "queued") in found
        ),
    ),
    EMBED: Work(without_vectors, ticks=4, writes=4, makes=lambda found: all(row[16] for row in rows(found, "entry"))),
    RETEXT: Work(
        of_an_older_reading,
        ticks=4,
        writes=5,
        makes=lambda found: (
            any("de_" in str(row[17]) for row in rows(found, "entry"))
            and not any(row[4] for row in rows(found, "cube_state"))
        ),
    ),
    REFINE: Work(
        to_be_read_by_a_model,
        ticks=3,
        writes=3,
        makes=lambda found: (
            any("scripted" in str(row) for row in rows(found, "memory_version"))
            and any("Porto" in str(row) for row in rows(found, "entity"))
            and any("What ann does" in str(row) for row in rows(found, "segment"))
        ),
    ),
    INGEST: Work(
        with_a_changed_document,
        ticks=4,
        writes=7,
        makes=lambda found: (
            [row[4] for row in rows(found, "document_version")] == ["ready", "ready"]
            and sum(bool(row[13]) for row in rows(found, "entry") if row[1] == "chunk") == 10
            and any("A guide to the harbour." in str(row) for row in rows(found, "chunk"))
            and ("job", INGEST, "queued") not in found
        ),
    ),
    DESCRIBE: Work(with_attachments, ticks=5, writes=11, makes=is_described),
    REORGANIZE: Work(
        to_be_put_in_order,
        ticks=1,
        writes=1,
        makes=lambda found: (
            len(rows(found, "change")) == 1
            and {"merge", "add", "correct"} <= {step["action"] for step in json.loads(str(rows(found, "change")[0][5]))}
        ),
    ),
}


class Killed(BaseException):
    """The process died here."""


class Fatal:
    """Counts the write transactions of a handler; at the one of a number the process dies, in it or just after it."""

    def __init__(self, at: int = 0, *, committed: bool = False) -> None:
        self.seen = 0
        self.ticks = 0
        self._at = at
        self._committed = committed
        self._armed = False

    def put_into(self, patch: pytest.MonkeyPatch) -> None:
        begun = SqlStore.write

        @contextmanager
        def write(store: SqlStore) -> Iterator[SqlTransaction]:
            mine = self._armed
            if mine:
                self.seen += 1
            dies = mine and self.seen == self._at
            with begun(store) as tx:
                yield tx
                if dies and not self._committed:
                    raise Killed
            if dies:
                raise Killed

        patch.setattr(SqlStore, "write", write)

    def inside(self, handler: Handler) -> Handler:
        def handle(job: Job, tick: Tick) -> None:
            def counted(done: int) -> None:
                self.ticks += 1
                tick(done)

            self._armed = True
            try:
                handler(job, counted)
            finally:
                self._armed = False

        return handle


def cut_at(number: int, handler: Handler) -> Handler:
    """Return a handler that is told to stop at a tick, the first time."""
    left = [number]

    def handle(job: Job, tick: Tick) -> None:
        def cutting(done: int) -> None:
            tick(done)
            left[0] -= 1
            if left[0] == 0:
                raise Stopping

        handler(job, cutting)

    return handle


def worker(parts: wiring.Parts, handlers: Mapping[str, Handler]) -> Worker:
    rows = Dispatching(parts.store, parts.clock, Limits(kept=10_000))
    return Worker(Workplace(parts.store, parts.queue, rows), handlers, idle=lambda: None)


def handler_of(memory: Memory, kind: str) -> Handler:
    return memory._parts.worker._handlers[kind]


def ended(memory: Memory, kind: str) -> Job:
    cube = memory.knowledge.list(user="ann")[0].cube.id if kind == INGEST else None
    return memory.jobs.list(user="ann", kinds=kind, cube=cube)[0]


def finish(folder: Path, kind: str, later: timedelta) -> None:
    """Open a store after what happened to it, and do the jobs of a kind to their end."""
    with opened(folder, START + DAY + later) as (memory, _, _):
        at_work = worker(memory._parts, {kind: handler_of(memory, kind)})
        for _ in range(50):
            if not at_work.run_once():
                return
        raise AssertionError("it never ends")


def how_it_ended(folder: Path, job: Job) -> tuple[str, int]:
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as connection:
        found: tuple[str, int] = connection.execute(
            "SELECT state, attempts FROM job WHERE id = ?", (job.id,)
        ).fetchone()
    return found


@dataclass(frozen=True)
class Undisturbed:
    """A store with a job to do, and what doing it comes to."""

    prepared: Path
    known: frozenset[str]
    ended: Sequence[Row]
    ticks: int
    writes: int

    def contents(self, folder: Path) -> Sequence[Row]:
        return contents(folder, known=self.known, since=START + DAY)


@pytest.fixture(scope="module", autouse=True)
def small_steps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, size in STEPS.items():
            patch.setattr(name, size)
        patch.setattr("mnemic.wiring.knowledge.readers_of", lambda settings: PlainReader())
        sensed(patch, tmp_path_factory.mktemp("fetched"))
        yield


_made: dict[str, Undisturbed] = {}


@pytest.fixture
def undisturbed(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    if kind not in _made:
        prepared, folder = tmp_path_factory.mktemp(kind) / "prepared", tmp_path_factory.mktemp(kind) / "done"
        prepared.mkdir()
        WORK[kind].prepare(prepared)
        known = frozenset(ids_in(rows_of(prepared)))
        copytree(prepared, folder)
        count = Fatal()
        with pytest.MonkeyPatch.context() as patch:
            count.put_into(patch)
            with opened(folder, START + DAY) as (memory, _, _):
                at_work = worker(memory._parts, {kind: count.inside(handler_of(memory, kind))})
                assert at_work.run_once(), "there is no work"
                assert ended(memory, kind).state is JobState.DONE, ended(memory, kind).error
        found = contents(folder, known=known, since=START + DAY)
        assert found != contents(prepared, known=known, since=START + DAY), "it did nothing"
        _made[kind] = Undisturbed(prepared, known, found, count.ticks, count.seen)
    return _made[kind]


def test_every_kind_of_job_is_here() -> None:
    assert set(WORK) == set(KINDS)


@pytest.mark.parametrize("kind", WORK)
def test_its_work_is_real_and_has_several_steps(kind: str, undisturbed: Undisturbed) -> None:
    wanted = WORK[kind]
    assert undisturbed.ticks >= wanted.ticks, undisturbed.ticks
    assert undisturbed.writes >= wanted.writes, undisturbed.writes
    assert wanted.makes(undisturbed.ended), "\n".join(map(repr, undisturbed.ended))


@pytest.mark.parametrize("kind", WORK)
def test_a_job_run_twice_changes_nothing_more(kind: str, undisturbed: Undisturbed, tmp_path: Path) -> None:
    folder = tmp_path / "twice"
    copytree(undisturbed.prepared, folder)
    finish(folder, kind, timedelta(0))
    once = rows_of(folder)
    told: list[int] = []
    with opened(folder, START + DAY) as (memory, _, _):
        handler_of(memory, kind)(ended(memory, kind), told.append)
    assert rows_of(folder) == once
    assert sum(told) == 0, "it says that it did something"
    assert undisturbed.contents(folder) == undisturbed.ended


@pytest.mark.parametrize("kind", WORK)
def test_a_job_cut_after_any_step_goes_on_and_ends_as_if_it_had_not_been(
    kind: str, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    for number in range(1, undisturbed.ticks + 1):
        folder = tmp_path / f"cut{number}"
        copytree(undisturbed.prepared, folder)
        with opened(folder, START + DAY) as (memory, _, _):
            assert worker(memory._parts, {kind: cut_at(number, handler_of(memory, kind))}).run_once()
            stopped = ended(memory, kind)
            assert (stopped.state, stopped.attempts) == (JobState.QUEUED, 0), "being stopped counts as a try"
        finish(folder, kind, timedelta(0))
        assert how_it_ended(folder, stopped) == ("done", 1)
        assert undisturbed.contents(folder) == undisturbed.ended, f"cut after step {number}"


@pytest.mark.parametrize("kind", WORK)
@pytest.mark.parametrize("committed", [False, True], ids=["in", "after"])
def test_a_job_whose_process_died_anywhere_is_taken_over_and_ends_as_if_it_had_not_been(
    kind: str, committed: bool, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    for number in range(1, undisturbed.writes + 1):
        folder = tmp_path / f"killed{number}"
        copytree(undisturbed.prepared, folder)
        fatal = Fatal(number, committed=committed)
        with pytest.MonkeyPatch.context() as patch:
            fatal.put_into(patch)
            with opened(folder, START + DAY) as (memory, _, _):
                dying = worker(memory._parts, {kind: fatal.inside(handler_of(memory, kind))})
                with pytest.raises(Killed):
                    dying.run_once()
                left = ended(memory, kind)
                assert left.state is JobState.RUNNING
        finish(folder, kind, LEASE)
        assert how_it_ended(folder, left) == ("done", 2)
        assert undisturbed.contents(folder) == undisturbed.ended, f"killed {number}"
