"""What only a new process can show, measured inside it and printed as one line of JSON.

python -m bench.child cold FOLDER               the bundled embedder: import, open, first and second add and search
python -m bench.child search FOLDER QUERIES     the store in a folder, opened again and searched
python -m bench.child floor FILE QUERIES        the same for the floor's file
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

STEPS = ("import", "open", "first add", "second add", "first search", "second search")


def main(what: str, place: str, *rest: str) -> None:
    """Measure one thing."""
    runs: dict[str, Callable[..., object]] = {"cold": _cold, "search": _search, "floor": _floor}
    print(json.dumps(runs[what](place, *rest)))


def _cold(folder: str) -> object:
    marks = [_now()]
    from mnemic import Memory  # noqa: PLC0415 - its import is what is measured

    marks.append(_now())
    memory = Memory(folder, settings={"worker": False})
    marks.append(_now())
    for text in ("I moved to Porto last week.", "My sister Rita lives in Braga."):
        memory.add(text, user="ann")
        marks.append(_now())
    for question in ("Where does Ann live?", "Who is in Braga?"):
        memory.search(question, user="ann")
        marks.append(_now())
    memory.close()
    return [[after[0] - before[0], after[1] - before[1]] for before, after in pairwise(marks)]


def _search(folder: str, path: str) -> object:
    import numpy as np  # noqa: PLC0415 - `cold` must not pay for it

    from bench.shelves import SETTINGS, read_queries  # noqa: PLC0415
    from bench.stored import StoredEmbedder  # noqa: PLC0415
    from mnemic import Memory  # noqa: PLC0415

    queries = read_queries(Path(path))
    embedder = StoredEmbedder()
    embedder.know([query.text for query in queries], np.stack([query.vector for query in queries]))
    began = _now()
    with Memory(folder, settings=SETTINGS, embedder=embedder) as memory:
        opened = _now()
        return _report(began, opened, [partial(memory.search, query.text, user=query.user) for query in queries])


def _floor(path: str, queries_path: str) -> object:
    from bench.floor import Floor  # noqa: PLC0415
    from bench.shelves import read_queries  # noqa: PLC0415

    queries = read_queries(Path(queries_path))
    began = _now()
    floor = Floor(Path(path))
    opened = _now()
    return _report(began, opened, [partial(floor.search, query.user, query.words, query.vector) for query in queries])


def _report(began: tuple[float, float], opened: tuple[float, float], searches: list[Callable[[], object]]) -> object:
    from bench.timing import Timing  # noqa: PLC0415

    first, once, again = Timing(), Timing(), Timing()
    first.take(searches[0])
    for search in searches[1:]:
        once.take(search)
    for search in searches:
        again.take(search)
    return {
        "open": [opened[0] - began[0], opened[1] - began[1]],
        "first": [first.p50, first.cpu_p50],
        "once": [once.p50, once.p95, once.cpu_p50],
        "again": [again.p50, again.p95, again.cpu_p50],
        "resident": _resident(),
    }


def _now() -> tuple[float, float]:
    return time.perf_counter() * 1e3, time.process_time() * 1e3


def _resident() -> float:
    """Return the most memory that this process has held, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux counts what a process held before exec into ru_maxrss, but not into VmHWM
        line = next(line for line in status.read_text("utf-8").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


if __name__ == "__main__":
    main(*sys.argv[1:])
