"""Segments made anew from the pages that they have left, so that nothing in them comes from what was erased.

Summary, keywords, span and centroid are computed as when pages joined (`services/tiering.py`); a segment without pages
goes. What a segment's insight says is checked word by word, and said anew in the background when it tells too much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from mnemic.core.erasure import leaks
from mnemic.model.memory import Segment
from mnemic.model.message import Page, StoredMessage
from mnemic.ports.store import Transaction
from mnemic.services.indexing import segment_entry
from mnemic.services.page_vectors import PageVectors
from mnemic.services.promoting import DERIVED
from mnemic.services.tiering import Draft, grow, summary_of, vocabulary_of


def remake_segments(
    tx: Transaction, cube_key: int, ids: Sequence[str], erased: Sequence[str], revision: int
) -> Counter[str]:
    """Make segments anew after messages with the texts `erased` are gone; return what was removed, by kind."""
    removed: Counter[str] = Counter()
    for segment, _ in tx.segments.get(cube_key, ids).values():
        pages = tx.pages.of_segment(cube_key, segment.id)
        said = tx.pages.messages(cube_key, [page.id for page in pages])
        removed += _drop_insights(tx, segment, erased, [each for messages in said.values() for each in messages])
        entries = tx.index.remove(cube_key, [segment.id])
        if not pages:
            removed += Counter({"segment": tx.erasing.segments(cube_key, [segment.id]), "entry": entries})
            continue
        draft = _remade(tx, segment, [(page, said[page.id]) for page in pages])
        tx.segments.put(draft.segment, draft.centroid)
        tx.index.add(cube_key, revision, [segment_entry(draft.segment, draft.centroid, live=not segment.archived)])
    return removed


def _remade(tx: Transaction, segment: Segment, pages: Sequence[tuple[Page, Sequence[StoredMessage]]]) -> Draft:
    first = pages[0][0]
    blank = replace(
        segment, title="", summary="", described=0, keywords=(), pages=0,
        started_at=first.started_at, ended_at=first.ended_at,
    )  # fmt: skip
    draft = Draft(blank, tx.index.no_vector, [], {})
    vocabulary = vocabulary_of(tx, segment.cube_key, [message for _, messages in pages for message in messages])
    vectors = PageVectors(tx, segment.cube_key)
    vectors.load([page for page, _ in pages])
    for page, messages in pages:
        grow(draft, page, vectors.in_context(page), messages, vocabulary)
    draft.segment = replace(draft.segment, summary=summary_of(draft.messages))
    return draft


def _drop_insights(
    tx: Transaction, segment: Segment, erased: Sequence[str], left: Sequence[StoredMessage]
) -> Counter[str]:
    """Remove the insights that tell what only an erased message said; the segment is then promoted again."""
    related = tx.memories.relations(segment.cube_key, [segment.id])
    derived = [from_id for kind, from_id, to_id in related if kind == DERIVED and to_id == segment.id]
    texts = [f"{message.speaker} {message.text}" for message in left]
    telling = [
        memory.id
        for memory in tx.memories.get(segment.cube_key, derived).values()
        if any(leaks(f"{version.text} {version.value}", erased, texts) for version in memory.versions)
    ]
    if not telling:
        return Counter()
    tx.erasing.set_unanalysed(segment.cube_key, segment.id)
    entries = tx.index.remove(segment.cube_key, telling)
    return Counter({"memory": tx.memories.delete(segment.cube_key, telling), "entry": entries})
