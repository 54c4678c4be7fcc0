"""What people said later goes above the passage of a document that it corrects, and both say why.

Looked at among what a search has found, in the cubes that it searched: words of people, the newest first, for who
corrects a correction has the last word. Whether something is one is decided by `core.corrections`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from mnemic.core.answering import CORRECTED
from mnemic.core.corrections import Judged, Verdict, judge
from mnemic.core.passages import place_of
from mnemic.model.index import CHUNK
from mnemic.model.message import MessageRole
from mnemic.model.query import Hit
from mnemic.model.scope import Cube
from mnemic.ports.store import Transaction
from mnemic.text import content_terms, shorten

CORRECTED_BY: Final = "corrected_by"
"""The key in a passage's metadata that has the id of what corrects it."""

PASSAGES: Final = 12
"""Passages of a search that are looked at, the best."""

STATEMENTS: Final = 24
"""Messages and memories of a search that are, the best."""

_SHOWN: Final = 200  # characters of words in a note


def with_corrections(tx: Transaction, cubes: Sequence[Cube], hits: Sequence[Hit]) -> list[Hit]:
    """Return hits, best first, with notes on passages that were corrected, and on what corrects them."""
    passages = [hit for hit in hits if hit.kind == CHUNK][:PASSAGES]
    said = [hit for hit in hits if hit.locator is None and _words(hit)][:STATEMENTS]
    said.sort(key=lambda hit: hit.said_at, reverse=True)
    notes: dict[str, str] = {}
    facts: dict[str, Mapping[str, str]] = {}
    for passage in passages if said else ():
        found = _correction(tx, cubes, passage, said)
        if found is None:
            continue
        hit, judged = found
        wrong = " ".join(passage.text[judged.start : judged.end].split())
        who = hit.speaker or "somebody"
        notes[passage.id] = f"corrected {hit.said_at:%Y-%m-%d} by {who}: {shorten(judged.words, _SHOWN)}"
        facts[passage.id] = {CORRECTED_BY: hit.id, CORRECTED: passage.text[judged.start : judged.end]}
        told = f"corrects {place_of(passage.locator) if passage.locator else ''}: {shorten(wrong, _SHOWN)}"
        notes[hit.id] = "; ".join(dict.fromkeys([*filter(None, [notes.get(hit.id, "")]), told]))
    return [
        replace(
            hit,
            note="; ".join(filter(None, (hit.note, notes[hit.id]))),
            metadata={**hit.metadata, **facts.get(hit.id, {})},
        )
        if hit.id in notes
        else hit
        for hit in hits
    ]


def corrections_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with what corrects a passage right above the first one that it corrects, and no worse in score."""
    by_id = {hit.id: hit for hit in hits}
    placed: dict[str, Hit] = {}
    for hit in hits:
        above = by_id.get(str(hit.metadata.get(CORRECTED_BY, ""))) if hit.kind == CHUNK else None
        if above is not None and above.id not in placed:
            placed[above.id] = replace(above, score=max(above.score, hit.score))
        placed.setdefault(hit.id, hit)
    return list(placed.values())


def _correction(tx: Transaction, cubes: Sequence[Cube], passage: Hit, said: Sequence[Hit]) -> tuple[Hit, Judged] | None:
    """Return what corrects a passage: the newest that is about it, if that says otherwise."""
    under = " ".join((str(passage.locator), str(passage.metadata.get("title", ""))))
    held = frozenset(content_terms(passage.text))
    for hit in said:
        if hit.said_at <= passage.said_at:
            return None  # these and all behind them were said before the document said so
        words = _words(hit)
        if not held.intersection(content_terms(words)):
            continue
        judged = judge(words, passage.text, under=under)
        if judged is not None and _is_of_a_person(tx, cubes, hit):
            return (hit, judged) if judged.verdict is Verdict.CORRECTS else None
    return None


def _words(hit: Hit) -> str:
    """Return what was said: a message's words, or those that a memory was drawn from."""
    if hit.kind == "message":
        return hit.text
    return " ".join(dict.fromkeys(source.quote for source in hit.sources if source.message_id))


def _is_of_a_person(tx: Transaction, cubes: Sequence[Cube], hit: Hit) -> bool:
    """Tell whether a person said it: an assistant repeats what it has read."""
    ids = [hit.id] if hit.kind == "message" else [source.message_id for source in hit.sources]
    key = next(cube.key for cube in cubes if cube.id == hit.cube)
    messages = tx.messages.get(key, ids)
    return bool(messages) and all(message.role is MessageRole.USER for message in messages.values())
