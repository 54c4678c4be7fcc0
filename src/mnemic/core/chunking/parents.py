"""What stands above passages: the sections that they are of, and summaries of these and of the whole document.

A section is what stands under one heading of the first two levels. Where a document has no such headings, a stretch of
pages or of passages takes its place; its ends follow pages, or the words of passages, so that a change somewhere
leaves the others as they are. Summaries are sentences of the document, verbatim (`core.summary`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from mnemic.core.chunking.passage import Passage, body_of
from mnemic.core.summary import summarise
from mnemic.model.document import ChunkKind
from mnemic.text import shorten

LIMIT: Final = 400
"""Characters of a summary."""

_PAGES: Final = 10  # of a section where there are no headings
_PASSAGES: Final = 16  # of one where there are no pages either, on average
_LONGEST: Final = 64
_READ: Final = 400  # passages that a summary is made of at most, spread over all


@dataclass(frozen=True, slots=True)
class Section:
    """Passages `first` to `last` (both of them counted), and the headings above all of them."""

    headings: tuple[str, ...]
    first: int
    last: int


def sections(passages: Sequence[Passage]) -> list[Section]:
    """Return the sections worth a summary: of two passages or more, when there are several sections."""
    groups = _by_headings(passages) if any(each.section for each in passages) else []
    if len(groups) < 2:
        groups = _by_size(passages)
    if len(groups) < 2:
        return []
    return [
        Section(_shared([passages[at].headings for at in group]), group[0], group[-1])
        for group in groups
        if len(group) > 1
    ]


def summary_of(passages: Sequence[Passage], *, title: str = "") -> str:
    """Return a few telling sentences of these passages; of tables only, the beginning of the first."""
    told = [("", body_of(each.headings, each.text)) for each in passages if each.kind is ChunkKind.PASSAGE]
    step = -(-len(told) // _READ) or 1
    found = summarise(told[::step], LIMIT, keywords=[title] if title else [])
    return found or (shorten(passages[0].text, LIMIT) if passages else "")


def summary_of_summaries(summaries: Sequence[str], *, title: str = "") -> str:
    """Return a few telling sentences of the summaries of a document's sections."""
    return summarise([("", each) for each in summaries], LIMIT, keywords=[title] if title else [])


def _by_headings(passages: Sequence[Passage]) -> list[list[int]]:
    return [list(group) for _, group in groupby(range(len(passages)), key=lambda at: passages[at].section)]


def _by_size(passages: Sequence[Passage]) -> list[list[int]]:
    if any(each.page is not None for each in passages):
        ends = [((passages[at].last_page or 1) - 1) // _PAGES for at in range(len(passages))]
        return [list(group) for _, group in groupby(range(len(passages)), key=lambda at: ends[at])]
    groups: list[list[int]] = [[]]
    for at, passage in enumerate(passages):
        groups[-1].append(at)
        is_end = int(passage.hash[:8], 16) % _PASSAGES == 0 and len(groups[-1]) >= _PASSAGES // 2
        if is_end or len(groups[-1]) >= _LONGEST:
            groups.append([])
    return [group for group in groups if group]


def _shared(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return what several paths begin with."""
    shortest = min(paths, key=len)
    kept = next((at for at, name in enumerate(shortest) if any(path[at] != name for path in paths)), len(shortest))
    return shortest[:kept]
