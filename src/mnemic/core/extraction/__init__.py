"""Statements about people, read from one message by rules, without any model.

`extract` is the whole interface. It prefers to miss a statement over inventing one: questions, conditions, jokes,
quoted and reported speech and other languages give nothing. What each rule reads is in the file named after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from mnemic.core.extraction import births, education, health, home, identity, possessions, relations, tastes, work
from mnemic.core.extraction.answers import complete
from mnemic.core.extraction.corrections import CORRECTABLE, corrected
from mnemic.core.extraction.events import chosen, died, event
from mnemic.core.extraction.grammar import Clause, Turn, bare_clause, read_clause
from mnemic.core.extraction.habits import habit, ongoing
from mnemic.core.extraction.kin import mentions
from mnemic.core.extraction.language import is_english
from mnemic.core.extraction.plans import dated, plan
from mnemic.core.extraction.sentences import Piece, blank, clauses, is_refused
from mnemic.core.extraction.tastes import Rules
from mnemic.core.temporal_words import lower_same_length
from mnemic.model.memory import Candidate

__all__ = ["extract"]


def _merged(*tables: Rules) -> Rules:
    merged: Rules = {}
    for table in tables:
        for verb, rules in table.items():
            merged[verb] = (*merged.get(verb, ()), *rules)
    return merged


_RULES: Final = _merged(
    identity.RULES,
    home.RULES,
    work.RULES,
    education.RULES,
    relations.RULES,
    births.RULES,
    health.RULES,
    tastes.RULES,
    possessions.RULES,
)
_OF_MINE: Final = re.compile(r"\b(?:my|our|me|names?)\b")
_NEGATED: Final = re.compile(r"\b(?:it|that|my)\b[^.!?]{0,40}(?:n't|n\u2019t|\bnot)\b")
_NUMBER: Final = re.compile(r"\s{0,9}\d{1,3}[.!]{0,3}\s{0,9}")
_WHOLE: Final = (
    tastes.favourite_of_mine,
    tastes.passion_of_mine,
    relations.kin_of_mine,
    relations.kin_called,
    identity.called,
)
_DOINGS: Final = (habit, plan, dated, ongoing, chosen, died, event)


def extract(
    text: str,
    *,
    speaker: str,
    said_at: datetime,
    previous: str | None = None,
    previous_speaker: str | None = None,
    listener: str | None = None,
) -> list[Candidate]:
    """Return what a message plainly states about its speaker and the speaker's people, in the order of the text.

    `speaker` is a display name and becomes the subject; `said_at` is aware and the reference of time expressions.
    `previous` is the turn before, of `previous_speaker`: a short answer is read with its question. `listener` is whom
    "you" means; without it, statements that need it are left out. It never raises, whatever the text.
    """
    if not text or not (is_english(text) or _NUMBER.fullmatch(text)):
        return []
    low = lower_same_length(text)
    if is_refused(low):
        return []
    blanked = blank(text)
    turn = Turn(text, blanked, lower_same_length(blanked), speaker, listener, said_at)
    found = list(_answer(turn, previous)) if previous and previous_speaker != speaker else []
    found = found or list(_statements(turn))
    return _distinct(found)


def _statements(turn: Turn) -> Iterator[Candidate]:
    before: Clause | None = None
    nameless: Candidate | None = None
    since = 0
    correctable = any(noun in turn.low for noun in CORRECTABLE)
    for piece in clauses(turn.blanked, turn.low):
        named = _named(turn, piece, nameless if since < _NAMED_WITHIN else None)
        if named:
            yield from named
            nameless = None
            continue
        clause = read_clause(turn, piece, before)
        yield from _of_words(turn, piece, correctable=correctable)
        latest = [] if clause is None else _read(clause)
        yield from latest
        newest = births.unnamed(latest)
        nameless, since = (newest, 0) if newest else (nameless, since + 1)
        before = clause or before


_NAMED_WITHIN: Final = 3
"""How many clauses may stand between a child or pet and its name."""


def _named(turn: Turn, piece: Piece, nameless: Candidate | None) -> list[Candidate]:
    if nameless is None or not births.NAMING_WORD.search(turn.low, piece.start, piece.end):
        return []
    return births.naming(bare_clause(turn, piece), nameless)


def _read(clause: Clause) -> list[Candidate]:
    found = [candidate for rule in _RULES.get(clause.verb, ()) for candidate in rule(clause)]
    for rule in _DOINGS:
        found = found or rule(clause)
    return [*relations.partnered(clause), *found] if found else found


def _of_words(turn: Turn, piece: Piece, *, correctable: bool) -> Iterator[Candidate]:
    """Read what a stretch says whoever its subject is: "my sister Noor", "Blue is my favourite", "As a nurse, I"."""
    if _OF_MINE.search(turn.low, piece.start, piece.end):
        yield from _of_mine(turn, piece)
    if turn.low.startswith("as a", piece.start):
        yield from work.speaking_as(bare_clause(turn, piece))
    if correctable and _NEGATED.search(turn.low, piece.start, piece.end):
        yield from corrected(bare_clause(turn, piece))


def _of_mine(turn: Turn, piece: Piece) -> Iterator[Candidate]:
    whole = bare_clause(turn, piece)
    kin = mentions(turn.blanked, turn.low, piece.start, piece.end)
    yield from relations.kin_facts(whole, kin)
    for rule in _WHOLE:
        yield from rule(whole)


def _answer(turn: Turn, previous: str | None) -> Iterator[Candidate]:
    """Read a short answer with its question; the quote is the answer."""
    completed = complete(turn.text, previous)
    if completed is None:
        return
    sentence, position = completed
    whole = Turn(sentence, sentence, lower_same_length(sentence), turn.speaker, turn.listener, turn.said_at)
    quote = turn.text[position:].rstrip()
    for candidate in _statements(whole):
        yield replace(
            candidate,
            quote=quote,
            start=position,
            end=position + len(quote),
            confidence=round(candidate.confidence - 0.1, 2),
        )


def _distinct(found: list[Candidate]) -> list[Candidate]:
    kept: dict[tuple[str, str, str, int], Candidate] = {}
    for candidate in found:
        kept.setdefault(
            (candidate.subject, candidate.attribute, candidate.value.casefold(), candidate.polarity), candidate
        )
    return list(kept.values())
