"""How much of a document is embedded again when one of its pages changes: `python -m bench.knowledge.reingest`.

A manual of 300 pages, as PDF and as Markdown, gets a sentence on page 155 changed, a page put in, and one taken out.
Every figure is counted at the embedder: texts that it was given after the change.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from bench.tables import Table
from mnemic import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.models.onnx import OnnxEmbedder
from mnemic.model.document import Chunk, Document
from mnemic.ports.embedder import Embedder
from tests.unit.made_pdf import MadePage, made_pdf

PAGES = 300
CHANGED = 154  # from 0: no page with a heading
WORDS = (
    "valve pump harbour pressure gauge winter crew engine cable anchor signal chart lantern rudder mast sail hull deck "
    "captain pilot voyage storm tide current channel beacon buoy mooring ballast cargo hatch ladder rope knot"
).split()


class Counting:
    """An embedder that remembers what it was given."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name, self.width = inner.name, inner.width
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed, and remember."""
        self.texts += texts
        return self._inner.embed(texts)


Page = tuple[str, list[str]]
"""A heading, or none, and the sentences below it."""


def manual(pages: int) -> list[Page]:
    """Return the pages of a manual, with a chapter every ten pages."""
    chance = random.Random(300)  # the same manual each time
    sentences = [
        [
            f"Step {page}.{number}: check the {' and the '.join(chance.sample(WORDS, 3))} before the "
            f"{chance.choice(WORDS)} is {chance.choice(('opened', 'closed', 'moved', 'painted'))}."
            for number in range(24)
        ]
        for page in range(1, pages + 1)
    ]
    heads = [f"Chapter {number // 10 + 1}" if number % 10 == 0 else "" for number in range(pages)]
    return list(zip(heads, sentences, strict=True))


def as_pdf(pages: Sequence[Page]) -> bytes:
    """Return pages as a PDF."""
    made = []
    for heading, told in pages:
        page = MadePage()
        if heading:
            page.text(heading, size=20, font="F2")
        for sentence in told:
            page.text(sentence, size=9)
        made.append(page)
    return made_pdf(made)


def as_markdown(pages: Sequence[Page]) -> bytes:
    """Return the same as Markdown, which has no pages: a paragraph for each."""
    blocks = [
        block for heading, told in pages for block in (f"# {heading}" if heading else "", " ".join(told)) if block
    ]
    return "\n\n".join(blocks).encode()


def main() -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=PAGES)
    options.add_argument("--bundled", action="store_true", help="embed by the bundled model, not by hashing")
    given = options.parse_args()
    first = manual(given.pages)
    at = min(CHANGED, given.pages - 1)
    heading, told = first[at]
    other = (heading, [*told[:10], "Step 0: this sentence is new here.", *told[11:]])
    changes = {
        "first time": first,
        f"one sentence on page {at + 1} changed": [*first[:at], other, *first[at + 1 :]],
        "a page put in before it": [*first[:at], ("", ["A page of one sentence."]), *first[at:]],
        "the page taken out": [*first[:at], *first[at + 1 :]],
    }
    rows: list[list[str | int | float]] = []
    for kind, write in (("PDF", as_pdf), ("Markdown", as_markdown)):
        with tempfile.TemporaryDirectory() as folder:
            rows += _measured(
                Path(folder), kind, {name: write(pages) for name, pages in changes.items()}, bundled=given.bundled
            )
    columns = ("document", "change", "chunks", "reused", "embedded again", "on pages", "seconds")
    note = (
        "Each change is made to the first version again. Chunks are passages and summaries; pages are those of the "
        "passages that were embedded."
    )
    print(Table(f"A document of {given.pages} pages read again", columns, rows, note).markdown())
    return 0


def _measured(folder: Path, kind: str, versions: dict[str, bytes], *, bundled: bool) -> list[list[str | int | float]]:
    embedder = Counting(OnnxEmbedder.bundled() if bundled else HashingEmbedder())
    rows: list[list[str | int | float]] = []
    with Memory(folder, settings={"worker": False}, embedder=embedder) as memory:
        cube = memory.knowledge.create("bench", user="ann").cube.id
        first = next(iter(versions.values()))
        for number, (name, content) in enumerate(versions.items()):
            if number > 1:
                _add(memory, cube, first)
            before, known = len(embedder.texts), _ids(memory, cube)
            begun = perf_counter()
            document = _add(memory, cube, content)
            took = perf_counter() - begun
            new = len(embedder.texts) - before
            pages = _pages(memory, document, known)
            latest = document.latest
            if latest.chunks - latest.reused != new:
                raise SystemExit(f"{new} texts were embedded, and the document says otherwise: {latest}")
            rows.append([kind, name, latest.chunks, latest.reused, new, pages, round(took, 1)])
    return rows


def _add(memory: Memory, cube: str, content: bytes) -> Document:
    document = memory.knowledge.add(content, name="manual", cube=cube, user="ann", wait=True)
    if document.state != "ready":
        raise SystemExit(document.latest.error)
    return document


def _ids(memory: Memory, cube: str) -> set[str]:
    found = memory.knowledge.documents(cube, user="ann")
    return {each.id for document in found for each in _chunks(memory, document)}


def _chunks(memory: Memory, document: Document) -> list[Chunk]:
    found: list[Chunk] = []
    after = None
    while page := memory.knowledge.chunks(document.id, cube=document.cube, user="ann", after=after, limit=1_000):
        found += page
        after = page[-1].position
    return found


def _pages(memory: Memory, document: Document, known: set[str]) -> str:
    pages = sorted(
        {
            page
            for each in _chunks(memory, document)
            if each.id not in known and each.kind not in ("section", "document")
            for page in (each.locator.page, each.locator.last_page)
            if page is not None
        }
    )
    runs = [
        str(page) for page, before in zip(pages, [None, *pages], strict=False) if before is None or page - before > 1
    ]
    if not pages:
        return "-"
    ends = [str(page) for page, after in pairwise([*pages, pages[-1] + 2]) if after - page > 1]
    return ", ".join(begin if begin == end else f"{begin}-{end}" for begin, end in zip(runs, ends, strict=True))


if __name__ == "__main__":
    raise SystemExit(main())
