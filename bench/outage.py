"""The outage drill with its counts: `python -m bench.outage` prints what each fault of a model server comes to.

The conversation is the same each time; the server does one thing to every request. `tests/faults/test_outage.py` holds
what must be so; here it is counted.
"""

from __future__ import annotations

import logging
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bench.tables import Table
from mnemic import Memory
from mnemic.testing.model_faults import FAULTS, TELLTALE, UNREACHABLE
from mnemic.testing.model_says import says
from mnemic.testing.model_server import ModelServer
from mnemic.text import fold

SAID = ("I live in Porto.", "My sister Noor works as a nurse.", "I like tea.", "Me gusta el café de Brasil.")


class _Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


@dataclass(frozen=True, slots=True)
class Counted:
    fault: str
    stored: int
    tries: int
    dead: int
    calls: int
    failed: int
    lost: int
    invented: int
    answer: str
    feedback: str


def drill(fault: str) -> Counted:
    """Add, refine until the job is given up, ask, chat and give feedback, while the server fails in one way."""
    answer, clock = FAULTS[fault], _Clock()
    server = ModelServer(lambda _: says("x") if answer is None else answer())
    with tempfile.TemporaryDirectory() as folder, server as up:
        settings = {
            "embedder": "hashing", "worker": False, "llm_model": "m", "llm_tries": 1, "llm_timeout": 0.3,
            "llm_base_url": UNREACHABLE if answer is None else up.url,
        }  # fmt: skip
        with Memory(folder, settings=settings, clock=clock) as memory:
            added = memory.add(list(SAID), user="ann", wait=True)
            for _ in range(8):
                clock.at += timedelta(minutes=6)
                if not memory._parts.worker.run_once():  # noqa: SLF001 - the drill is the worker's clock
                    break
            job = next(each for each in memory.jobs.list(user="ann") if each.kind == "refine")
            asked = memory.ask("Where do I live?", user="ann")
            memory.chat("Where does Noor work?", user="ann", session="talk")
            given = memory.feedback("I don't live in Porto any more.", user="ann")
            spent, stats = memory.llm.usage(user="ann").total, memory.stats(user="ann")
            drawn = [line for line in memory.export(user="ann") if '"type":"memory"' in line]
            found = sum(memory.search(text, user="ann", limit=1, kinds="message")[0].text == text for text in SAID)
            words = fold("\n".join(drawn))
            return Counted(
                fault, added.stored, job.attempts, stats.jobs.get("dead", 0), spent.calls, spent.failed,
                len(SAID) - found, sum(fold(word) in words for word in TELLTALE),
                f"{asked.mode}: {asked.text}", f"{given.mode}, {len(given.steps)} step",
            )  # fmt: skip


def main() -> None:
    logging.disable(logging.CRITICAL)
    rows = [drill(fault) for fault in FAULTS]
    heads = ("the server is", "stored", "tries", "dead", "calls", "failed", "lost", "invented", "ask", "feedback")
    cells = [
        (r.fault, r.stored, r.tries, r.dead, r.calls, r.failed, r.lost, r.invented, r.answer, r.feedback) for r in rows
    ]
    print(Table("The outage drill", heads, cells).markdown())


if __name__ == "__main__":
    main()
