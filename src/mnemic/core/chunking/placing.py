"""From passages and summaries to the chunks of a version: what the version before had already is the same chunk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mnemic.core.chunking.parents import Section
from mnemic.core.chunking.passage import Passage
from mnemic.model.document import Chunk, ChunkKind, Document, DocumentVersion, Locator
from mnemic.text import estimate_tokens


@dataclass(frozen=True, slots=True)
class Abstract:
    """Summaries of a document and, in their order, of its sections."""

    document: str
    sections: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """A document as it was cut: its passages, and the sections that they are of with what these are about."""

    title: str
    passages: Sequence[Passage]
    sections: Sequence[Section]
    abstract: Abstract


def chunks_of(
    document: Document,
    version: DocumentVersion,
    cut: Cut,
    *,
    known: Mapping[str, Sequence[str]],
    new_id: Callable[[], str],
) -> tuple[list[Chunk], set[str]]:
    """Return the chunks of a version in order, summaries before what they are about, and the ids of known ones.

    `known` has ids by hash: of two chunks that say the same, the first here is the first there.
    """
    left = {name: list(ids) for name, ids in known.items()}
    ids = {each for same in known.values() for each in same}
    taken: set[str] = set()

    def chunk(passage: Passage, position: int, parent: str | None) -> Chunk:
        same = left.get(passage.hash)
        chunk_id = same.pop(0) if same else new_id()
        if chunk_id in ids:
            taken.add(chunk_id)
        return Chunk(
            chunk_id, document.cube_key, document.id, passage.kind, passage.text, passage.hash,
            estimate_tokens(passage.text), position, _locator(document, version, passage), parent,
        )  # fmt: skip

    if not cut.passages:
        return [], taken
    whole = chunk(_summary(cut, 0, len(cut.passages) - 1, ChunkKind.DOCUMENT, cut.abstract.document), 0, None)
    found, above = [whole], dict.fromkeys(range(len(cut.passages)), whole.id)
    for section, told in zip(cut.sections, cut.abstract.sections, strict=True):
        summary = _summary(cut, section.first, section.last, ChunkKind.SECTION, told, section.headings)
        found.append(chunk(summary, section.first, whole.id))
        above |= dict.fromkeys(range(section.first, section.last + 1), found[-1].id)
    found += [chunk(passage, position, above[position]) for position, passage in enumerate(cut.passages)]
    return found, taken


def _summary(
    cut: Cut, first: int, last: int, kind: ChunkKind, told: str, headings: tuple[str, ...] | None = None
) -> Passage:
    begin, end = cut.passages[first], cut.passages[last]
    above = ((cut.title,) if cut.title else ()) if headings is None else headings
    return Passage(
        kind, told, begin.start, end.end, above, begin.page, end.last_page, None,
        begin.part if begin.part == end.part else "",
    )  # fmt: skip


def _locator(document: Document, version: DocumentVersion, passage: Passage) -> Locator:
    return Locator(
        document.id, document.name, version.number, passage.headings, passage.page, passage.last_page, passage.row,
        passage.part, passage.start, passage.end, document.address,
    )  # fmt: skip
