"""A backlog: jobs that find nothing to do, so that what they cost is what taking and ending a job costs.

They are of the kind `embed`, but neither merge nor run alone, so that a cube can have any number of them. Two are put
as the outbox stores them; the others are copies of the second one's row, as putting a hundred thousand takes minutes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from bench.scheduling.engines import Engine
from mnemic import Memory
from mnemic.ids import new_id
from mnemic.model.job import EMBED, LANES, queued

OPEN = "state IN ('queued', 'running', 'failed')"


@dataclass(slots=True)
class Backlog:
    """The cubes of a store, of users `u0` and on, and the jobs that wait in them."""

    engine: Engine
    keys: dict[str, int] = field(default_factory=dict)

    def cubes(self, count: int) -> Sequence[int]:
        """Return the keys of so many cubes, whose own work is done."""
        with self.engine.memory() as memory:
            for number in range(len(self.keys), count):
                user = f"u{number}"
                memory.add(f"I live in Porto, says user {number}.", user=user)
                memory.jobs.wait(user=user, timeout=120)
                self.keys[user] = memory.cubes.list(user=user)[0].key
        return [self.keys[f"u{number}"] for number in range(count)]

    def put(self, cube_keys: Sequence[int], count: int) -> None:
        """Queue so many jobs in each of these cubes, and tell those who work."""
        with self.engine.memory() as memory:
            for key in cube_keys:
                stored = [_put(memory, key) for _ in range(min(count, 2))]
                self._copy(key, stored[-1], count - len(stored))
            announce(memory)

    def waiting(self, cube_key: int | None = None) -> int:
        """Return how many jobs of this kind are open, in one cube or in all."""
        words = f"SELECT count(*) FROM job WHERE kind = '{EMBED}' AND {OPEN}"  # noqa: S608 - words of ours
        return int(self.engine.ask(words if cube_key is None else f"{words} AND cube_key = {cube_key}")[0][0])

    def clear(self) -> None:
        """Remove what waits."""
        self.engine.tell(f"DELETE FROM job WHERE kind = '{EMBED}'")  # noqa: S608 - words of ours

    def drop_others(self) -> None:
        """Remove all other work: what adds have left behind would be done between these jobs."""
        self.engine.tell(f"DELETE FROM job WHERE kind <> '{EMBED}'")  # noqa: S608 - words of ours

    def _copy(self, cube_key: int, job_id: str, count: int) -> None:
        if count <= 0:
            return
        names = _columns(self.engine)
        values = ", ".join("job.id || '-' || series.n" if name in ("id", "merge") else f"job.{name}" for name in names)
        series = f"SELECT 1000000 UNION ALL SELECT n + 1 FROM series WHERE n < {999_999 + count}"  # noqa: S608 - words of ours
        target, where = ", ".join(names), f"job.id = '{job_id}' AND job.cube_key = {cube_key}"
        copied = f"INSERT INTO job ({target}) SELECT {values} FROM job, series WHERE {where}"  # noqa: S608 - words of ours
        self.engine.tell(f"WITH RECURSIVE series(n) AS ({series}) {copied}")


def announce(memory: Memory) -> None:
    """Tell those who work that there are jobs."""
    memory._parts.queue.announce(LANES)  # noqa: SLF001 - no face queues such jobs


def _put(memory: Memory, cube_key: int) -> str:
    job = queued(new_id(), cube_key, EMBED, datetime.now(UTC))
    with memory._parts.store.write() as tx:  # noqa: SLF001 - no face queues such jobs
        tx.enter(cube_key)
        return tx.jobs.put(replace(job, merge=job.id, alone=False))


def _columns(engine: Engine) -> list[str]:
    if engine.name == "sqlite":
        return [str(row[1]) for row in engine.ask("PRAGMA table_info(job)")]
    found = "SELECT column_name FROM information_schema.columns WHERE table_schema = 'mnemic' AND table_name = 'job'"
    return [str(row[0]) for row in engine.ask(found)]


def pace(backlog: Backlog, seconds: float) -> float:
    """Return how many jobs of the backlog are done in a second, watched for so long."""
    before, began = backlog.waiting(), time.perf_counter()
    time.sleep(seconds)
    after, took = backlog.waiting(), time.perf_counter() - began
    if not after:
        raise SystemExit("the backlog was too short to measure: all was done")
    return (before - after) / took
