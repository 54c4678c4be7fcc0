"""(b) What a search costs once the question's vector is known: beside exact NumPy plus FTS5 on the same rows, as a
store grows and as the number of its users does.
"""

from __future__ import annotations

import numpy as np

from bench.floor import Floor
from bench.shelves import SETTINGS, Shelf, Shelves
from bench.stored import StoredEmbedder
from bench.tables import Cell, Table
from bench.timing import Timing, take_turns
from mnemic import Memory

SIZES = (1_000, 10_000, 100_000)
USERS = (1, 100, 1_000)
CONVERSATION = 400
"""Memories of one long conversation: the size at which the peers were measured."""


def tables(shelves: Shelves, *, quick: bool) -> list[Table]:
    """Measure searches on stores of all sizes."""
    plan = [(40, 1), (40, 4)] if quick else [(CONVERSATION, 1), *((size, users) for size in SIZES for users in USERS)]
    rows: list[list[Cell]] = []
    for memories, users in plan:
        rows.append(_measure(shelves.get(memories, users), 20 if quick else 200))
        print(f"searched {memories:,} memories of {users:,} users")
    return [
        Table(
            "(b) Searching, the question's vector known",
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
            rows,
            "200 questions of up to 50 users, in turns with the floor: exact cosine over the user's matrix in "
            "memory plus FTS5 with the user as a term, joined by reciprocal ranks. Aims: 2 times the floor or "
            "less; no growth with other cubes (read down a size's rows per cube); CPU 3 ms at 400 memories and 10 "
            "ms at 100,000 of 1,000 users. `First in a cube` reads the user's vectors.",
        )
    ]


def _measure(shelf: Shelf, count: int) -> list[Cell]:
    queries = shelf.corpus.queries(count, users=50)
    embedder = StoredEmbedder()
    embedder.know([query.text for query in queries], np.stack([query.vector for query in queries]))
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
    ]


def _three(timing: Timing) -> tuple[float, float, float]:
    return timing.p50, timing.p95, timing.cpu_p50
