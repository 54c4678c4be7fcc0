"""(a) What an add costs: many turns end to end beside the raw embedder, and one turn beside a bare SQLite insert."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.corpus import DEMO, conversation_turns, random_vectors, varied
from bench.floor import BareTable, Floor
from bench.stored import StoredEmbedder
from bench.tables import Cell, Table
from bench.timing import Timing, quantile, take_turns
from mnemic import Memory
from mnemic.backends.models.onnx import OnnxEmbedder

BATCH = 64


def tables(*, quick: bool, data: Path) -> list[Table]:
    """Measure batched and single adds."""
    demo = varied(conversation_turns(DEMO), 8 if quick else 512)
    corpora = {"demo, varied": demo}
    if data.exists():
        corpora[data.stem] = conversation_turns(data)[: 8 if quick else 512]
    else:
        print(f"no {data}: adds are measured on the demo only (name another LoCoMo file with --data)")
    return [_batched(corpora), _single(varied(demo, 12 if quick else 400))]


def whole(*, data: Path, quick: bool) -> list[Table]:
    """Measure every turn of a file from `add` to the end of the background work."""
    if not data.exists():
        print(f"no {data}: name a LoCoMo file with --data")
        return []
    turns = conversation_turns(data)[: 128 if quick else None]
    embedder = OnnxEmbedder.bundled()
    embedder.embed(["the model is loaded before anything is measured"])
    raw, added, refined = Timing(), Timing(), Timing()
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(folder, settings={"worker": False}, embedder=embedder) as memory,
    ):
        for at in range(0, len(turns), BATCH):
            some, session = turns[at : at + BATCH], f"s{at}"
            raw.take(lambda: embedder.embed(some))  # noqa: B023 - run before the next turn
            added.take(lambda: memory.add(some, user="ann", session=session))  # noqa: B023
        refined.take(lambda: memory.jobs.wait(user="ann", timeout=600))
    rows: list[list[Cell]] = []
    for name, wall, cpu in (
        ("the embedder alone", raw.total, sum(raw.cpu) / 1e3),
        ("added: stored, indexed, findable", added.total, sum(added.cpu) / 1e3),
        ("added and refined", added.total + refined.total, (sum(added.cpu) + sum(refined.cpu)) / 1e3),
    ):
        rate = [wall, cpu, len(turns) / wall, len(turns) / cpu]
        rows.append([name, *rate, raw.total / wall, sum(raw.cpu) / 1e3 / cpu])
    return [
        Table(
            "(a) Taking in a whole file",
            ["what", "s", "CPU s", "turns/s", "turns per CPU s", "ratio wall", "ratio CPU"],
            rows,
            f"All {len(turns):,} turns of {data.stem}, in batches of {BATCH}, in turns with the embedder alone, on one "
            "thread. `Refined`: topics, memories and profile are up to date.",
        )
    ]


def _batched(corpora: Mapping[str, Sequence[str]]) -> Table:
    rows: list[list[Cell]] = []
    embedder = OnnxEmbedder.bundled()
    embedder.embed(["the model is loaded before anything is measured"])
    for name, texts in corpora.items():
        batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
        with (
            tempfile.TemporaryDirectory() as folder,
            Memory(folder, settings={"worker": False}, embedder=embedder) as memory,
        ):
            timings = take_turns(
                len(batches),
                {
                    "embedder": lambda number: embedder.embed(batches[number]),  # noqa: B023 - run before the next turn
                    "add": lambda number: memory.add(batches[number], user="ann"),  # noqa: B023
                },
            )
        raw, add = timings["embedder"], timings["add"]
        wall = quantile([a / b for a, b in zip(raw.wall, add.wall, strict=True)], 0.5)
        cpu = quantile([a / b for a, b in zip(raw.cpu, add.cpu, strict=True)], 0.5)
        rows.append(
            [name, len(texts), len(texts) / raw.total, len(texts) / add.total, wall, cpu, _beside(raw, add, len(texts))]
        )
    return Table(
        "(a) Adding in batches, end to end",
        [
            "texts",
            "turns",
            "embedder, turns/s",
            "add, turns/s",
            "ratio wall",
            "ratio CPU",
            "CPU ms/turn beside the embedder",
        ],
        rows,
        f"Batches of {BATCH} turns, the bundled embedder on one thread, each batch in turns with the embedder "
        "alone. Aim: a ratio of 0.8 or more. Refining runs afterwards, in the background.",
    )


def _beside(raw: Timing, add: Timing, turns: int) -> float:
    return (sum(add.cpu) - sum(raw.cpu)) / turns


def _single(texts: Sequence[str]) -> Table:
    vectors = random_vectors(len(texts))
    embedder = StoredEmbedder()
    embedder.know(texts, vectors)
    began = datetime(2025, 1, 1, tzinfo=UTC)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        bare, floor = BareTable(path / "bare.db"), Floor(path / "floor.db")
        with Memory(path / "mnemic", settings={"worker": False}, embedder=embedder) as memory:
            timings = take_turns(
                len(texts),
                {
                    "bare insert and commit": lambda number: bare.add(texts[number]),
                    "row, vector and FTS5 (the floor)": lambda number: floor.add(
                        "ann", [texts[number]], vectors[[number]]
                    ),
                    "Mnemic: a text": lambda number: memory.add(texts[number], user="ann"),
                    "Mnemic: with time and id": lambda number: memory.add(
                        {"content": texts[number], "at": began + timedelta(minutes=number), "id": number}, user="ben"
                    ),
                },
            )
        bare.close()
        floor.close()
    base = timings["bare insert and commit"]
    rows: list[list[Cell]] = [
        [name, timing.p50, timing.p95, timing.cpu_p50, timing.p50 / base.p50, timing.cpu_p50 / base.cpu_p50]
        for name, timing in timings.items()
    ]
    return Table(
        "(a) One durable add, its vector known",
        ["add", "p50 ms", "p95 ms", "CPU ms", "ratio wall", "ratio CPU"],
        rows,
        f"{len(texts)} turns, each its own transaction and commit to disk (WAL, synchronous=FULL), in turns. "
        "Aims: wall 3 times the bare insert or less, 1.2 ms of CPU.",
    )
