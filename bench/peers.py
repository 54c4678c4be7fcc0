"""(c) What existing memories needed for the same kind of work, as measured once in our peer study: quoted, not run."""

from __future__ import annotations

from bench.tables import Cell, Table

_WORK: list[list[Cell]] = [
    ["floor (SQLite, NumPy, FTS5)", 7.8, 43.0, 2.8, 1.0, 11.8, 1.2, 1.0],
    ["langmem 0.0.30, SqliteStore (dense only)", 15.0, 59.0, 4.6, 2.0, 149.0, 4.1, 12.7],
    ["MemOS 2.0.33, general_text (dense only)", 19.0, 69.0, 5.9, 2.4, 32.0, 5.5, 2.8],
    ["langmem, InMemoryStore with NumPy (dense only)", 32.0, 100.0, 11.7, 4.1, 10.9, 2.5, 0.9],
    ["mem0ai 2.2.1 (dense only)", 66.0, 156.0, 15.6, 8.5, 57.0, 7.3, 4.9],
    ["mem0ai with spaCy and fastembed (hybrid)", 215.0, 512.0, 53.6, 27.0, 82.0, 14.7, 6.9],
    ["MemoryOS, repository head 1d71706", 227.0, 365.0, 120.0, None, None, None, None],
    ["graphiti-core 0.31.2 with Kuzu (60 turns)", 85.0, 128.0, None, None, None, None, None],
    ["cognee 1.6.5 (6 turns)", 324.0, 515.0, None, None, None, None, None],
]

_MANY: list[list[Cell]] = [
    ["floor", 16.0, 9.5, 97, ""],
    ["langmem SqliteStore (dense only)", 2.6, 2.3, 119, "machine quieter"],
    ["langmem InMemoryStore, no NumPy (dense only)", 30.0, 11.0, 1_669, ""],
    ["MemOS, a store per user (dense only)", 26.0, 5.8, 549, "at 14,000 to 17,000: loading ran out of time"],
    ["mem0ai on local qdrant (dense only)", 460.0, 244.0, 279, "at 14,000 to 17,000: loading ran out of time"],
]

_INSTALL: list[list[Cell]] = [
    ["floor (numpy)", 1, 25, 0.15, 26],
    ["mem0ai 2.2.1", 34, 199, 1.7, 94],
    ["langmem 0.0.30", 51, 157, 1.6, 74],
    ["graphiti-core 0.31.2 with Kuzu", 28, 166, 1.3, 96],
    ["MemOS 2.0.33", 132, 641, 4.9, 197],
    ["MemoryOS, repository head 1d71706", 57, 1_450, 9.6, 446],
    ["cognee 1.6.5", 174, 1_587, 9.3, 332],
]


def tables() -> list[Table]:
    """Return the peers' figures."""
    source = (
        "Measured in our peer study of 2026-11-30 on a busy machine of 2 cores: compare ratios to its floor, and CPU. "
    )
    return [
        Table(
            "(c) Peers: one conversation of 419 memories",
            ["system", "search p50 ms", "p95", "CPU ms", "x floor", "add p50 ms", "CPU ms", "x floor"],
            _WORK,
            f"{source}Embeddings cached; all in turns except the last three.",
        ),
        Table(
            "(c) Peers: 100,000 memories of 1,000 users",
            ["system", "search p50 ms", "CPU ms", "peak MB", "remark"],
            _MANY,
            f"{source}MemoryOS, graphiti and cognee were not run at this size.",
        ),
        Table(
            "(c) Peers: installation",
            ["system", "packages", "MB", "import: CPU s", "resident after import, MB"],
            _INSTALL,
            source.strip(),
        ),
    ]
