"""How long many small documents take: `python -m bench.knowledge.many`, 1,001 files of one folder by default.

They are read as they are in use: each in a process of its own, by the worker's threads.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import perf_counter, sleep

from bench.tables import Table
from mnemic import Memory

FILES = 1_001
PATIENCE = 3_600  # seconds


def main() -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--files", type=int, default=FILES)
    options.add_argument("--threads", type=int, default=2)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "files"
        folder.mkdir()
        for number in range(given.files):
            (folder / f"{number:05}.txt").write_text(f"File {number} tells of boat {number} in the harbour.\n")
        settings = {"embedder": "hashing", "worker_threads": given.threads}
        with Memory(Path(place) / "memory", settings=settings) as memory:
            cube = memory.knowledge.create("many", user="ann").cube.id
            begun = perf_counter()
            added = memory.knowledge.sync(folder, cube=cube, user="ann")
            stored = perf_counter() - begun
            states: dict[str, int] = {}
            while states.get("ready", 0) + states.get("failed", 0) < given.files:
                if perf_counter() - begun > PATIENCE:
                    raise SystemExit(f"they are not read in an hour: {states}")
                sleep(0.5)
                states = {state.value: count for state, count in memory.knowledge.list(user="ann")[0].states.items()}
            took = perf_counter() - begun
            begun = perf_counter()
            again = memory.knowledge.sync(folder, cube=cube, user="ann")
            same = perf_counter() - begun
    columns = (
        "files",
        "stored",
        "seconds to store",
        "ready",
        "failed",
        "seconds until all are",
        "same again",
        "seconds",
    )
    row = (
        given.files, len(added.added), stored, states.get("ready", 0), states.get("failed", 0), took, again.same, same,
    )  # fmt: skip
    print(Table(f"{given.files:,} small documents, {given.threads} threads", columns, [row]).markdown())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
