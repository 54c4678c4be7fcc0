"""(b) What a search costs once the question's vector is known: beside exact NumPy plus FTS5 on the same rows, as a
store grows and as the number of its users does. Then what comes on top: its embedding, a view that an add has changed,
and what several questions at once save.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.corpus import Query
from bench.floor import Floor
from bench.shelves import SETTINGS, Shelf, Shelves
from bench.stored import StoredEmbedder
from bench.tables import Cell, Table
from bench.timing import Timing, take_turns
from mnemic import Memory
from mnemic.backends.models.onnx import OnnxEmbedder

SIZES = (1_000, 10_000, 100_000)
USERS = (1, 100, 1_000)
CONVERSATION = 400
"""Memories of one long conversation: the size at which the peers were measured."""
MILLION = ((1_000_000, 1), (1_000_000, 1_000))
TOGETHER = 20
"""Questions in one `search_many`."""


def tables(shelves: Shelves, *, quick: bool) -> list[Table]:
    """Measure searches on stores of all sizes but the largest."""
    plan = [(40, 1), (40, 4)] if quick else [(CONVERSATION, 1), *((size, users) for size in SIZES for users in USERS)]
    return _tables(shelves, plan, "(b) Searching", 20 if quick else 200)


def million(shelves: Shelves, *, quick: bool) -> list[Table]:
    """Measure searches on a million memories: some 4 GB of disk, and as much memory."""
    return _tables(shelves, ((80, 1),) if quick else MILLION, "(b) Searching a million memories", 20 if quick else 100)


def _tables(shelves: Shelves, plan: Sequence[tuple[int, int]], title: str, count: int) -> list[Table]:
    beside: list[list[Cell]] = []
    further: list[list[Cell]] = []
    for memories, users in plan:
        one, other = _measure(shelves.get(memories, users), count)
        beside.append(one)
        further.append(other)
        print(f"searched {memories:,} memories of {users:,} users", flush=True)
    return [
        Table(
            f"{title}, the question's vector known",
            [
                "memories",
                "cubes",
                "p50 ms",
                "p95 ms",
                "CPU ms",
                "floor p50",
                "floor p95",
                "floor CPU",
                "ratio p50",
                "ratio CPU",
                "first in a cube: CPU ms",
                "floor's",
                "load s",
                "floor's",
            ],
            beside,
            f"{count} questions of up to 50 users, in turns with the floor: exact cosine over the user's matrix in "
            "memory plus FTS5 with the user as a term, joined by reciprocal ranks. Aims: 2 times the floor or "
            "less; no growth with other cubes (read down a size's rows per cube); CPU 3 ms at 400 memories and 10 "
            "ms at 100,000 of 1,000 users. `First in a cube` reads the user's vectors.",
        ),
        Table(
            f"{title}: with the question's embedding, after an add, several at once",
            [
                "memories",
                "cubes",
                "embedded: p50 ms",
                "p95 ms",
                "CPU ms",
                "after an add: CPU ms",
                "together: CPU ms each",
            ],
            further,
            f"`Embedded`: the bundled model embeds each question, on one thread. `After an add`: the first search "
            f"after one message more in that cube. `Together`: {TOGETHER} questions of one user in one `search_many`.",
        ),
    ]


def _measure(shelf: Shelf, count: int) -> tuple[list[Cell], list[Cell]]:
    queries = shelf.corpus.queries(count, users=50)
    embedder = StoredEmbedder()
    vectors = np.stack([query.vector for query in queries])
    texts = [query.text for query in queries]
    embedder.know([*texts, *map(_new, texts), "one more"], np.concatenate([vectors, vectors, vectors[:1]]))
    floor = Floor(shelf.floor)
    users = len({query.user for query in queries})
    with Memory(shelf.mnemic, settings=SETTINGS, embedder=embedder) as memory:
        rivals = {
            "mnemic": lambda number: memory.search(queries[number].text, user=queries[number].user),
            "floor": lambda number: floor.search(queries[number].user, queries[number].words, queries[number].vector),
        }
        first = take_turns(users, rivals)
        warm = take_turns(len(queries), rivals)
        floor.close()
        further = _further(memory, embedder, queries)
    ours, theirs = warm["mnemic"], warm["floor"]
    return [
        shelf.corpus.memories,
        shelf.corpus.users,
        *_three(ours),
        *_three(theirs),
        ours.p50 / theirs.p50,
        ours.cpu_p50 / theirs.cpu_p50,
        first["mnemic"].cpu_p50,
        first["floor"].cpu_p50,
        *shelf.seconds,
    ], [shelf.corpus.memories, shelf.corpus.users, *further]


def _new(text: str) -> str:
    """Return the same question in other letters: one that is not remembered with its vector."""
    return f"{text} ?"


def _further(memory: Memory, embedder: StoredEmbedder, queries: Sequence[Query]) -> list[Cell]:
    model = OnnxEmbedder.bundled()
    model.embed(["the model is loaded before anything is measured"])
    embedder.model = model
    embedded = take_turns(
        len(queries),
        {"embedded": lambda number: memory.search(_new(queries[number].text), user=queries[number].user)},
    )["embedded"]
    embedder.model = None
    user = queries[0].user
    mine = [query.text for query in queries if query.user == user]
    followed = Timing()
    for number in range(10):
        memory.add("one more", user=user, session=f"new {number}")
        followed.take(lambda: memory.search(mine[0], user=user))
    many = [mine[number % len(mine)] for number in range(TOGETHER)]
    together = Timing()
    for _ in range(5):
        together.take(lambda: memory.search_many(many, user=user))
    return [*_three(embedded), followed.cpu_p50, together.cpu_p50 / TOGETHER]


def _three(timing: Timing) -> tuple[float, float, float]:
    return timing.p50, timing.p95, timing.cpu_p50
