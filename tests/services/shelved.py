"""A knowledge base to test with: a reader of its own in this process, an embedder that counts, and no threads.

What it reads is plain: a form feed begins a page, `# ` a heading, `|` a row of a table. Real readers have tests of
their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic import Memory
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.errors import EmbedderError, FetchError, InputError, ReadError
from mnemic.model.document import Document
from mnemic.model.index import CHUNK, CubeView
from mnemic.model.moment import to_micros
from mnemic.model.reading import Block, BlockKind, Reading
from mnemic.ports.fetch import Fetched
from mnemic.ports.reader import Progress
from tests.services.opened import Clock, new_store, open_memory, sql_store


class PlainReader:
    """Reads pages of text in this process. A page that begins with `BROKEN` cannot be read."""

    def __init__(self) -> None:
        self.reads: list[tuple[str, str, str]] = []
        self.passing: list[Exception] = []
        self.on_page: Callable[[int], None] = lambda page: None

    def read(self, path: Path, *, name: str, media: str = "", password: str = "", told: Progress) -> Reading:
        self.reads.append((name, media, password))
        if self.passing:
            raise self.passing.pop(0)
        pages = path.read_bytes().decode().split("\f")
        if pages[0].startswith("LOCKED") and password != "sesame":
            raise ReadError("needs a password" if not password else "the password is wrong")
        blocks: list[Block] = []
        for number, page in enumerate(pages, 1):
            if page.startswith("BROKEN"):
                raise ReadError("this page is damaged", page=number)
            blocks += [_block(text, number if len(pages) > 1 else None) for text in page.split("\n\n") if text.strip()]
            self.on_page(number)
            told(number, len(pages))
        heads = [block.text for block in blocks if block.kind is BlockKind.HEADING]
        return Reading(heads[0] if heads else "", blocks, "text/plain", len(pages) if len(pages) > 1 else 0)


def _block(text: str, page: int | None) -> Block:
    if text.startswith("#"):
        marks, _, rest = text.partition(" ")
        return Block(BlockKind.HEADING, rest, level=len(marks), page=page)
    if text.startswith("|"):
        header, _, body = text.partition("\n")
        return Block(BlockKind.TABLE, body, page=page, row=1, header=header)
    return Block(BlockKind.PARAGRAPH, text, page=page)


class CountingEmbedder:
    """Embeds by hashing, remembers what it embedded, and can be away."""

    def __init__(self) -> None:
        self._inner = HashingEmbedder(64)
        self.name, self.width = self._inner.name, self._inner.width
        self.texts: list[str] = []
        self.away = 0
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._lock:
            if self.away:
                self.away -= 1
                raise EmbedderError("the server of the embedder is away")
            self.texts += texts
        return self._inner.embed(texts)


class Web:
    """Stands in for the internet: what is at each address, with its ETag."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.pages: dict[str, bytes] = {}
        self.errors: dict[str, FetchError] = {}
        self.asked: list[tuple[str, str]] = []

    def check(self, address: str) -> str:
        if "@" in address:
            raise InputError("source", "names a user in its address")
        return address

    @contextmanager
    def fetch(self, address: str, *, etag: str = "", modified: str = "") -> Iterator[Fetched]:
        self.asked.append((address, etag))
        if address in self.errors:
            raise self.errors[address]
        data = self.pages[address]
        tag = f'"{hash(data)}"'
        if etag == tag:
            yield Fetched(None, address, etag=tag)
            return
        path = self._folder / "fetched"
        path.write_bytes(data)
        try:
            yield Fetched(path, address, "text/plain", address.rsplit("/", 1)[-1], tag, "yesterday")
        finally:
            path.unlink()


@contextmanager
def plain_reading(folder: Path) -> Iterator[tuple[PlainReader, Web]]:
    """Let memories that are opened inside the block read and fetch without other processes and networks."""
    reader, web = PlainReader(), Web(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mnemic.wiring.knowledge.readers_of", lambda settings: reader)
        patch.setattr("mnemic.wiring.knowledge.fetcher_of", lambda settings: web)
        yield reader, web


GUIDE = """# Harbour guide

The harbour of Porto is old.

## Tides

High tide is at noon.

## Boats

Boats are blue."""


@dataclass
class Shelf:
    """A memory with a knowledge base, and what stands in for the outside."""

    memory: Memory
    cube: str
    reader: PlainReader
    web: Web
    embedder: CountingEmbedder
    clock: Clock

    def add(self, text: str, name: str = "guide.txt", *, wait: bool = True) -> Document:
        return self.memory.knowledge.add(text.encode(), name=name, cube=self.cube, user="ann", wait=wait)

    def work(self) -> None:
        while self.memory._parts.worker.run_once():
            pass

    def get(self, document: Document) -> Document:
        return self.memory.knowledge.get(document.id, cube=self.cube, user="ann")

    def texts(self, document: Document, version: int | None = None) -> list[str]:
        found = self.memory.knowledge.chunks(
            document.id, cube=self.cube, user="ann", version=version, kinds=["passage", "table", "code"]
        )
        return [each.text for each in found]

    def live(self) -> list[str]:
        """Return what a search of the passages goes through, in the order of the documents."""
        view = self.view()
        chunk = view.kind_names.index(CHUNK) if CHUNK in view.kind_names else -1
        rows = [at for at in range(len(view)) if view.live[at] and view.kinds[at] == chunk]
        return self._texts([view.owners[at] for at in rows])

    def as_of(self, document_id: str, moment: object) -> list[str]:
        """Return the passages that held at a moment, as a search with `as_of` chooses them."""
        view, micros = self.view(), to_micros(moment)  # type: ignore[arg-type]  # a datetime
        chunk = view.kind_names.index(CHUNK)
        rows = [
            at for at in range(len(view)) if view.kinds[at] == chunk and view.said_at[at] <= micros < view.valid_to[at]
        ]
        return self._texts([view.owners[at] for at in rows])

    def view(self) -> CubeView:
        key = self.memory.knowledge.list(user="ann")[0].cube.key
        with sql_store(self.memory).read() as tx:
            tx.enter(key)
            return tx.index.view(key)

    def _texts(self, ids: list[str]) -> list[str]:
        key = self.memory.knowledge.list(user="ann")[0].cube.key
        with sql_store(self.memory).read() as tx:
            tx.enter(key)
            return sorted(each.text for each in tx.chunks.get(key, ids).values())


@contextmanager
def shelf_in(folder: Path) -> Iterator[Shelf]:
    """Give a knowledge base in a new memory."""
    embedder, clock = CountingEmbedder(), Clock()
    new_store(folder / "memory")
    with (
        plain_reading(folder) as (reader, web),
        open_memory(folder / "memory", clock=clock, embedder=embedder) as memory,
    ):
        base = memory.knowledge.create("docs", user="ann", description="manuals")
        yield Shelf(memory, base.cube.id, reader, web, embedder, clock)
