"""From ranked entries to hits: what each stands for is read from the store, with its sources and the reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mnemic.core.claims import taken_back
from mnemic.core.described import read_text
from mnemic.core.ranking import Ranked
from mnemic.model.attachment import Attachment
from mnemic.model.index import CHUNK, SECTION, CubeView
from mnemic.model.memory import Change, Memory, MemoryKind, Source, Version
from mnemic.model.message import StoredMessage
from mnemic.model.moment import from_micros
from mnemic.model.query import Hit, Why
from mnemic.model.scope import Cube
from mnemic.ports.store import Transaction
from mnemic.services.attached import attachments_of
from mnemic.services.passages import passage_hit, passages_of
from mnemic.text import fold, shorten

MEMORY_KINDS: Final = tuple(kind.value for kind in MemoryKind)
"""The kinds of long-term memories."""

_SAID: Final = 300  # characters of a message that are shown before what was read from its attachment
_BY_HAND: Final = (Change.EDITED, Change.RESTORED)

WRITTEN: Final = (CHUNK, SECTION)
"""The kinds of what stands in documents."""

SEGMENT: Final = "segment"
"""The kind of topics: what was said about one thing, as a summary."""


@dataclass(frozen=True, slots=True)
class Telling:
    """How hits are told: passages quote what fits these stems, as they stood at a moment (None: now), with reasons."""

    stems: frozenset[str] = frozenset()
    at: datetime | None = None
    explain: bool = False


def hits_of(tx: Transaction, cube: Cube, view: CubeView, ranked: Sequence[Ranked], telling: Telling) -> list[Hit]:
    """Return the hits that ranked entries stand for, whole; an entry whose owner is gone is left out."""
    kinds = [view.kind_names[view.kinds[item.place]] for item in ranked]
    owners = [view.owners[item.place] for item in ranked]
    messages = tx.messages.get(
        cube.key, [owner for owner, kind in zip(owners, kinds, strict=True) if kind == "message"]
    )
    memories = tx.memories.get(cube.key, [o for o, kind in zip(owners, kinds, strict=True) if kind in MEMORY_KINDS])
    segments = tx.segments.get(cube.key, [o for o, kind in zip(owners, kinds, strict=True) if kind == SEGMENT])
    written = [owner for owner, kind in zip(owners, kinds, strict=True) if kind in WRITTEN]
    passages = passages_of(tx, cube, written, telling.at)
    attached = attachments_of(tx, cube.key, messages.values())
    hits: list[Hit] = []
    for item, kind, owner in zip(ranked, kinds, owners, strict=True):
        why = _why(item, ranked) if telling.explain else None
        if kind == "message" and owner in messages:
            span = (int(view.starts[item.place]), int(view.ends[item.place]))
            found = attached.get(owner, ())
            read = next((each for each in found if each.id == view.versions[item.place]), None)
            if read is None:
                hits.append(replace(message_hit(messages[owner], cube, item.score, span, why), attachments=found))
            else:
                hits.append(_read_hit(message_hit(messages[owner], cube, item.score, why=why), found, read, span))
        elif kind in MEMORY_KINDS and owner in memories:
            hits.append(_memory_hit(memories[owner], cube, view, item, why))
        elif kind in WRITTEN and owner in passages:
            hits.append(passage_hit(passages[owner], cube, item.score, telling.stems, why))
        elif kind == SEGMENT and owner in segments:
            segment, _ = segments[owner]
            hits.append(
                Hit(owner, kind, segment.summary, item.score, segment.started_at, "", "", cube.id,
                    _segment_sources(tx, cube, owner), why=why)
            )  # fmt: skip
    return hits


def with_notes(tx: Transaction, cube: Cube, hits: Sequence[Hit], at: datetime | None) -> list[Hit]:
    """Return hits with a note on messages of which something was corrected, or taken back, by a moment (None: now)."""
    ids = [hit.id for hit in hits if hit.kind == "message"]
    if not ids or not tx.changes.exist(cube.key):
        return list(hits)
    told: dict[str, list[str]] = {}
    for memory in tx.memories.get(cube.key, tx.memories.of_messages(cube.key, ids)).values():
        for version, since in taken_back(memory):
            if at is None or since <= at:
                for source in version.sources:
                    told.setdefault(source.message_id, []).append(_note(memory, version, since))
    return [replace(hit, note="; ".join(told[hit.id])) if hit.id in told else hit for hit in hits]


def _note(memory: Memory, version: Version, since: datetime) -> str:
    current = memory.current
    if memory.stands and current.text != version.text and current.valid_to is None:
        return f"corrected {since:%Y-%m-%d}: {shorten(current.text, 200)}"
    return f"taken back {since:%Y-%m-%d}: {shorten(version.text, 200)}"


def _segment_sources(tx: Transaction, cube: Cube, segment_id: str) -> tuple[Source, ...]:
    pages = [page.id for page in tx.pages.of_segment(cube.key, segment_id)]
    return tuple(source_of(message) for messages in tx.pages.messages(cube.key, pages).values() for message in messages)


def source_of(message: StoredMessage, quote: str | None = None) -> Source:
    """Return a message as the source of something."""
    words_ = shorten(message.text, 160) if quote is None else quote
    return Source(message.id, words_, message.said_at, message.speaker, message.session, message.external_id)


def message_hit(
    message: StoredMessage, cube: Cube, score: float, span: tuple[int, int] = (0, 0), why: Why | None = None
) -> Hit:
    """Return a message as a hit; `span` is the passage of a long one that was found, (0, 0) for all of it."""
    start, end = span
    text = message.text[start:end] if end else message.text
    return Hit(
        id=message.id,
        kind="message",
        text=text,
        score=score,
        said_at=message.said_at,
        speaker=message.speaker,
        session=message.session,
        cube=cube.id,
        sources=(source_of(message),),
        external_id=message.external_id,
        metadata=message.metadata,
        why=why,
    )


def _read_hit(hit: Hit, attached: tuple[Attachment, ...], read: Attachment, span: tuple[int, int]) -> Hit:
    """Return a message that was found by what was read from its attachment: what was said, then that passage."""
    said = hit.text if len(hit.text) <= _SAID else shorten(hit.text, _SAID)
    return replace(hit, text=f"{said}\n{read_text(read)[span[0] : span[1]]}", attachments=attached)


def _memory_hit(memory: Memory, cube: Cube, view: CubeView, item: Ranked, why: Why | None) -> Hit:
    version = _version(memory, view.versions[item.place])
    first = version.sources[0] if version.sources else None
    return Hit(
        id=memory.id,
        kind=memory.kind.value,
        text=version.text,
        score=item.score,
        said_at=first.said_at if first else from_micros(int(view.said_at[item.place])),
        speaker=first.speaker if first else memory.subject,
        session=first.session if first else "",
        cube=cube.id,
        sources=version.sources,
        external_id=first.external_id if first else None,
        metadata={
            "subject": memory.subject,
            "attribute": memory.attribute,
            "value": version.value,
            "polarity": version.polarity,
            "change": version.change.value,
            "valid_from": version.valid_from.isoformat(),
        },
        valid_to=version.valid_to,
        why=why,
    )


def _version(memory: Memory, version_id: str | None) -> Version:
    return next((version for version in memory.versions if version.id == version_id), memory.current)


def _why(item: Ranked, ranked: Sequence[Ranked]) -> Why:
    channels = {}
    for name, value in item.channels.items():
        better = sum(1 for other in ranked if other.channels[name] > value)
        channels[name] = (better + 1, round(value, 4))
    return Why(channels, {name: round(value, 4) for name, value in item.boosts.items()})


def without_repeats(hits: Sequence[Hit]) -> list[Hit]:
    """Leave out a memory whose only source is a message that stands above it, and memories with the same words.

    A memory that was changed by hand stays: it says something else than the message that it was drawn from.
    """
    seen_messages: set[str] = set()
    seen_words: set[str] = set()
    kept: list[Hit] = []
    for hit in hits:
        stands_on = {source.message_id for source in hit.sources}
        by_hand = hit.metadata.get("change") in _BY_HAND and hit.kind != "message"
        if hit.kind not in ("message", "segment") and stands_on and stands_on <= seen_messages and not by_hand:
            continue
        if hit.kind in WRITTEN:  # the same words in two documents are two places to look them up
            pass
        elif hit.kind == "message":
            seen_messages.add(hit.id)
        else:
            said = fold(re.sub(r"\W+", " ", hit.text))
            if said in seen_words:
                continue
            seen_words.add(said)
        kept.append(hit)
    return kept
