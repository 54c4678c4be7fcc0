"""Kill -9 at random moments of adding and of background work, many times in one store, and count what is lost.

    python -m bench.kill9 [KILLS] [SEED]

A child process opens the store, adds messages and refines them; the parent kills it after a random time and looks at
what is left: in every store all acknowledged messages, whole tables, and on every fifth kill jobs that come to an end.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from sqlite3 import connect

from mnemic import Memory
from tests.faults import adding
from tests.faults.surviving import acknowledged, losses

USER = "survivor"
LIFE = 0.6  # seconds that a child lives at most after it has opened the store
FINISH_EVERY = 5


@dataclass
class Tally:
    """What came of all kills."""

    kills: int = 0
    told: dict[str, str] = field(default_factory=dict)
    moments: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    reopened: list[float] = field(default_factory=list)


def child(folder: Path, name: str, out: int) -> None:
    """Add until the end; this function does not return."""
    with os.fdopen(out, "w", buffering=1) as stream:

        def tell(line: str) -> None:
            stream.write(f"{line}\n")

        with Memory(folder, settings=adding.SETTINGS) as memory:
            tell("open")
            adding.add(memory, name, 1_000_000, tell, user=USER, session="field")


def kill_one(folder: Path, name: str, moments: random.Random) -> dict[str, str]:
    """Start a child, kill it at a random moment, return what it had acknowledged."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        try:
            child(folder, name, theirs)
        finally:
            os._exit(1)
    os.close(theirs)
    with os.fdopen(ours) as stream:
        opening = moments.random() < 0.15  # some die while they open the store
        lines = [] if opening else [stream.readline()]
        select.select([], [], [], moments.uniform(0, 0.05 if opening else LIFE))
        os.kill(pid, signal.SIGKILL)
        lines.extend(stream)
    os.waitpid(pid, 0)
    return acknowledged(lines)


def moment_of(folder: Path) -> str:
    """Say what the child was at: a job left running shows that background work was cut."""
    if not (folder / "mnemic.db").exists():
        return "before the store was there"
    with closing(connect(folder / "mnemic.db")) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'job'").fetchone():
            return "before the store was there"
        running = connection.execute("SELECT count(*) FROM job WHERE state = 'running'").fetchone()[0]
        unread = connection.execute("SELECT count(*) FROM message WHERE NOT extracted").fetchone()[0]
    if running:
        return "in a job"
    return "between a message and its job" if unread else "with all work done"


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    moments = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 9)
    tally = Tally()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(kills):
            tally.told |= kill_one(folder, f"life{number}", moments)
            tally.kills += 1
            tally.moments[moment_of(folder)] += 1
            began = time.perf_counter()
            finish = number % FINISH_EVERY == FINISH_EVERY - 1 or number == kills - 1
            found = losses(folder, tally.told, user=USER, finish=finish)
            tally.reopened.append(time.perf_counter() - began)
            tally.wrong += [f"kill {number + 1}: {each}" for each in found]
        size = sum(path.stat().st_size for path in folder.iterdir())
    report(tally, time.perf_counter() - started, size)
    return 1 if tally.wrong else 0


def report(tally: Tally, seconds: float, size: int) -> None:
    rows = [
        ("kills", tally.kills),
        *((f"  killed {moment}", count) for moment, count in sorted(tally.moments.items())),
        ("messages acknowledged", len(tally.told)),
        ("messages lost", sum(": lost: " in each for each in tally.wrong)),
        ("messages not found by search", sum(": not found: " in each for each in tally.wrong)),
        ("stores that did not open, or with broken tables", sum("as it was" in each for each in tally.wrong)),
        ("jobs that did not come to an end", sum(": job " in each for each in tally.wrong)),
        ("other faults", sum("in the end" in each or "learned" in each for each in tally.wrong)),
        ("size in the end, megabytes", round(size / 1e6, 1)),
        ("seconds", round(seconds, 1)),
    ]
    for label, value in rows:
        print(f"{label:<50} {value:>10}")
    for each in tally.wrong[:20]:
        print(each)


if __name__ == "__main__":
    sys.exit(main())
