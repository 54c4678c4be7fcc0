"""(d) Bytes on disk for each message: words alone, with vectors and index, and with all that is derived from them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.corpus import DEMO, conversation_turns, random_vectors, varied
from bench.floor import Floor
from bench.stored import WIDTH, StoredEmbedder
from bench.tables import Cell, Table
from mnemic import Memory


def tables(*, quick: bool) -> list[Table]:
    """Measure the size of closed stores."""
    turns = conversation_turns(DEMO)
    many = varied(turns, 200 if quick else 5_000)
    rows = [_stored(many), _floor(many), _refined(turns[:8] if quick else turns)]
    return [
        Table(
            "(d) Bytes on disk a message",
            ["store", "messages", "bytes a message", "of these text", "of these vector", "times the text and vector"],
            rows,
            "All files of a closed store, over the turns of the demo, varied. A vector is 384 numbers of 2 bytes. "
            "`Refined` is the demo conversation itself after all background work: pages, segments, memories with "
            "versions, sources and vectors of their own.",
        )
    ]


def _stored(texts: Sequence[str]) -> list[Cell]:
    embedder = StoredEmbedder()
    embedder.know(texts, random_vectors(len(texts)))
    with tempfile.TemporaryDirectory() as folder:
        with Memory(folder, settings={"worker": False}, embedder=embedder) as memory:
            for at in range(0, len(texts), 100):
                memory.add(texts[at : at + 100], user="ann", session=f"s{at}")
        return _row("Mnemic, as added", texts, Path(folder))


def _floor(texts: Sequence[str]) -> list[Cell]:
    with tempfile.TemporaryDirectory() as folder:
        floor = Floor(Path(folder, "floor.db"))
        floor.add("ann", texts, random_vectors(len(texts)))
        floor.close()
        return _row("floor", texts, Path(folder))


def _refined(texts: Sequence[str]) -> list[Cell]:
    with tempfile.TemporaryDirectory() as folder:
        with Memory(folder) as memory:
            speakers = [text.split(": ", 1) for text in texts]
            memory.add([{"name": name, "content": text} for name, text in speakers], user="ann", wait=True)
        return _row("Mnemic, refined", texts, Path(folder))


def _row(name: str, texts: Sequence[str], folder: Path) -> list[Cell]:
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / len(texts)
    words = sum(len(text.encode()) for text in texts) / len(texts)
    return [name, len(texts), size, words, 2 * WIDTH, size / (words + 2 * WIDTH)]
