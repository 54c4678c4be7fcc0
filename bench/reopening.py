"""(e) The same searches by a process that has just opened the store, and what it holds in memory."""

from __future__ import annotations

from collections.abc import Sequence

from bench.processes import child
from bench.searching import MILLION
from bench.shelves import Shelf, Shelves, write_queries
from bench.tables import Cell, Table


def tables(shelves: Shelves, *, quick: bool) -> list[Table]:
    """Open stores in new processes and search them."""
    plan = [(40, 4)] if quick else [(400, 1), (10_000, 100), (100_000, 1_000), (100_000, 1)]
    return _tables(shelves, plan, "(e) After reopening, in a new process", 20 if quick else 1_000)


def million(shelves: Shelves, *, quick: bool) -> list[Table]:
    """Do it with a million memories."""
    plan = [(80, 1)] if quick else [*MILLION]
    return _tables(shelves, plan, "(e) A million memories after reopening", 20 if quick else 100)


def _tables(shelves: Shelves, plan: Sequence[tuple[int, int]], title: str, count: int) -> list[Table]:
    rows: list[list[Cell]] = []
    for memories, users in plan:
        rows += _measure(shelves.get(memories, users), count)
        print(f"reopened {memories:,} memories of {users:,} users")
    return [
        Table(
            title,
            [
                "store",
                "memories",
                "cubes",
                "open ms",
                "CPU",
                "first search ms",
                "CPU",
                "next p50",
                "p95",
                "CPU",
                "again p50",
                "p95",
                "CPU",
                "peak MB",
            ],
            rows,
            f"{count:,} questions of up to 1,000 different users (`next`: most find their cube unread), then all of "
            "them `again`. The peak is that of the whole process with Python, NumPy and SQLAlchemy. Aim: under 150"
            " MB at 100,000 memories of 1,000 users.",
        )
    ]


def _measure(shelf: Shelf, count: int) -> list[list[Cell]]:
    path = shelf.folder / "queries.npz"
    write_queries(path, shelf.corpus.queries(count, users=1_000))
    rows = []
    for name, what, place in (("Mnemic", "search", shelf.mnemic), ("floor", "floor", shelf.floor)):
        found = child(what, str(place), str(path))
        times = [*found["open"], *found["first"], *found["once"], *found["again"]]
        rows.append([name, shelf.corpus.memories, shelf.corpus.users, *times, found["resident"]])
    return rows
