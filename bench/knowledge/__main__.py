"""The command: `python -m bench.knowledge` reads the documents, asks the questions, and prints both tables.

Documents are taken from installed packages, or downloaded by their installers; two are converted by LibreOffice. With
`--folder`, documents and memory are kept there, and are not made again. `--fit` prints the numbers that make
probabilities of what search finds in documents.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.knowledge.documents import gather, manifest
from bench.knowledge.fitting import fit
from bench.knowledge.measuring import TOP, USER, Cited, added, cited, questions
from bench.tables import Table
from mnemic.api import Memory
from mnemic.model.document import Document


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 0 when nine of ten questions have their citation among the first five."""
    parser = argparse.ArgumentParser(prog="bench.knowledge", description="Read documents, and cite them.")
    parser.add_argument("--folder", type=Path, help="where documents and memory are kept (default: nowhere)")
    parser.add_argument("--fit", action="store_true", help="find the numbers of core.passages and core.holding")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as passing:
        folder = options.folder or Path(passing)
        notes = gather(folder / "documents")
        with Memory(folder / "memory") as memory:
            print(_read(memory, folder / "documents", notes))
            if options.fit:
                print(fit(memory))
            asked = [cited(memory, question) for question in questions()]
    print(_found(asked))
    first = sum(each.rank is not None and each.rank <= TOP for each in asked)
    return 0 if first >= 0.9 * len(asked) else 1


def _read(memory: Memory, folder: Path, notes: dict[str, str]) -> str:
    known = memory.knowledge.list(user=USER)
    base = known[0].cube.id if known else memory.knowledge.create("bench", user=USER).cube.id
    rows = []
    for document, seconds in added(memory, base, [folder / str(entry["name"]) for entry in manifest()]):
        rows.append(_row(document, seconds, notes.get(document.name, "")))
    heads = ("document", "KiB", "pages", "state", "read s", "chunks", "embedded s", "pages/s", "total s", "note")
    return Table("documents", heads, rows).markdown()


def _row(document: Document, seconds: float, note: str) -> tuple[str, ...]:
    version = document.latest
    taken = sum(version.seconds.get(step, 0.0) for step in ("reading", "chunking", "summing", "embedding"))
    pace = f"{version.pages / taken:.1f}" if version.pages and taken else ""
    return (
        document.name, f"{version.size / 1024:.0f}", str(version.pages or ""), str(version.state),
        f"{version.seconds.get('reading', 0):.2f}", str(version.chunks), f"{version.seconds.get('embedding', 0):.2f}",
        pace, f"{seconds:.1f}", version.error or note,
    )  # fmt: skip


def _found(asked: Sequence[Cited]) -> str:
    ranks = [each.rank or 999 for each in asked]
    rows = [(f"in the first {top}", f"{sum(rank <= top for rank in ranks)} of {len(ranks)}") for top in (1, 3, TOP, 10)]
    rows.append(("words of the answer quoted", f"{sum(each.quoted for each in asked)} of {len(ranks)}"))
    rows.append(("median of a search", f"{1_000 * median(each.seconds for each in asked):.0f} ms"))
    missed = [
        (each.question.question, f"{each.question.document}: {each.rank or 'not found'} (first: {each.first})")
        for each in asked
        if (each.rank or 999) > TOP
    ]
    return "\n".join([
        Table("citations, page and row right", ("measure", "value"), rows).markdown(),
        Table("missed", ("question", "where it is"), missed).markdown() if missed else "",
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
