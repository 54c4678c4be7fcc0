"""What people said later goes above the passage of a document that it corrects, and both say why.

Looked at among what a search has found, in the cubes that it searched: words of people, the newest first, for who
corrects a correction has the last word. Whether something is one is decided by `core.corrections`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from mnemic.core.answering import CORRECTED
from mnemic.core.corrections import Judged, Verdict, judgements
from mnemic.core.passages import place_of
from mnemic.model.index import CHUNK
from mnemic.model.message import MessageRole
from mnemic.model.query import Hit
from mnemic.model.scope import Cube
from mnemic.ports.store import Transaction
from mnemic.text import content_terms, shorten

CORRECTED_BY: Final = "corrected_by"
"""The key in a passage's metadata that has the ids of what corrects it."""

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
    notes: dict[str, dict[str, None]] = {}
    facts: dict[str, Mapping[str, list[str]]] = {}
    for passage in passages if said else ():
        corrections = _corrections(tx, cubes, passage, said)
        for hit, judged in corrections:
            wrong = " ".join(passage.text[judged.start : judged.end].split())
            by = f"corrected {hit.said_at:%Y-%m-%d} by {hit.speaker or 'somebody'}: {shorten(judged.words, _SHOWN)}"
            notes.setdefault(passage.id, {})[by] = None
            told = f"corrects {place_of(passage.locator) if passage.locator else ''}: {shorten(wrong, _SHOWN)}"
            notes.setdefault(hit.id, {})[told] = None
        if corrections:
            facts[passage.id] = {
                CORRECTED_BY: list(dict.fromkeys(hit.id for hit, _ in corrections)),
                CORRECTED: [passage.text[judged.start : judged.end] for _, judged in corrections],
            }
    return [
        replace(
            hit,
            note="; ".join(filter(None, (hit.note, *notes[hit.id]))),
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
        for corrector in hit.metadata.get(CORRECTED_BY, ()) if hit.kind == CHUNK else ():
            above = by_id.get(corrector)
            if above is not None and above.id not in placed:
                placed[above.id] = replace(above, score=max(above.score, hit.score))
        placed.setdefault(hit.id, hit)
    return list(placed.values())


def _corrections(tx: Transaction, cubes: Sequence[Cube], passage: Hit, said: Sequence[Hit]) -> list[tuple[Hit, Judged]]:
    """Return what corrects a passage: of each sentence the newest that is about it counts, if that says otherwise."""
    under = " ".join((str(passage.locator), str(passage.metadata.get("title", ""))))
    held = frozenset(content_terms(passage.text))
    settled: set[int] = set()  # sentences of which somebody had the last word
    corrections: list[tuple[Hit, Judged]] = []
    for hit in said:
        if hit.said_at <= passage.said_at:
            break  # these and all behind them were said before the document said so
        words = _words(hit)
        if not held.intersection(content_terms(words)):
            continue
        found = [each for each in judgements(words, passage.text, under=under) if each.start not in settled]
        if found and _is_of_a_person(tx, cubes, hit):
            settled.update(each.start for each in found)
            corrections.extend((hit, each) for each in found if each.verdict is Verdict.CORRECTS)
    return corrections


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
