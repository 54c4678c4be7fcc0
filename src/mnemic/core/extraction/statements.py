"""Candidates from clauses: validity from tense and time, polarity from negation, a clean sentence in the third person.

What was true once and is over ("used to", a past state) is closed when it was said, or at the end of the time that the
words give. Where nothing tells when it began, it starts one microsecond before it ends: it held, and nobody said since
when.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from mnemic.core.extraction.attributes import attribute_of, kind_of
from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import in_third_person
from mnemic.core.extraction.verbs import gerund, participle, third
from mnemic.model.memory import Candidate
from mnemic.model.moment import Grain, TimeSpan

_UNKNOWN: Final = timedelta(microseconds=1)
_LASTING: Final = frozenset("live work study learn play teach run date speak practice".split())
_VAGUE: Final = frozenset("recently lately other".split())


def time_label(span: TimeSpan | None) -> str:
    """Return " (May 2023)" or " since 2019" for a statement; empty for a vague time."""
    if span is None or _VAGUE & set(span.words.lower().split()):
        return ""
    if span.grain is Grain.OPEN:
        edge, word = (span.start, "since") if span.start else (span.end, "until")
        if edge is None:
            return ""
        if word == "until":
            return f" until {_last_of(edge)}"
        if (edge.month, edge.day) == (1, 1):
            return f" {word} {edge.year}"
        return f" {word} {edge:%B %Y}" if edge.day == 1 else f" {word} {edge.day} {edge:%B %Y}"
    return f" ({span.label()})"


def _last_of(edge: datetime) -> str:
    """Return the year, month or day that ends at an edge: 2020 for the beginning of 2021."""
    last = edge - _UNKNOWN
    if (edge.month, edge.day) == (1, 1):
        return f"{last.year}"
    return f"{last:%B %Y}" if edge.day == 1 else f"{last.day} {last:%B %Y}"


def is_coming(clause: Clause) -> bool:
    """Tell whether the clause's time lies after it was said."""
    time = clause.time
    return bool(
        time and time.span.start and time.span.start > clause.turn.said_at and time.span.grain is not Grain.OPEN
    )


def state(
    clause: Clause, attribute: str, value: str, verb: str, tail: str, *, confidence: float = 0.9
) -> list[Candidate]:
    """Return a statement that holds over time: "Ann lives in Lisbon", "no longer lives", "used to live"."""
    told = in_third_person(tail, clause.turn.listener)
    if not value or told is None or is_coming(clause):
        return []
    over = clause.tense in {"used_to", "past", "was_progressive"}
    if over and clause.negated:
        return []
    words = _predicate(clause, verb, over=over)
    label = time_label(clause.time.span if clause.time else None) if (over or clause.tense == "perfect") else ""
    return [
        make(
            clause,
            attribute,
            value,
            f"{words} {told}{label or _since(clause)}.",
            polarity=-1 if clause.negated else 1,
            held=_validity(clause, over=over),
            confidence=confidence,
        )
    ]


def _since(clause: Clause) -> str:
    span = clause.time.span if clause.time else None
    return time_label(span) if span and span.grain is Grain.OPEN and span.start and not clause.negated else ""


def _predicate(clause: Clause, verb: str, *, over: bool) -> str:
    if clause.tense == "used_to" or (over and clause.time is None):
        return f"used to {verb}"
    if over:
        return {"be": "was", "have": "had"}.get(verb) or clause.turn.low[clause.verb_start :].split(" ", 1)[0]
    if not clause.negated and _since(clause):
        return f"has been {gerund(verb)}" if verb in _LASTING else f"has {participle(verb)}"
    if verb == "learn" and not clause.negated:
        return "is learning"
    if clause.negated and verb == "be":
        return "is no longer" if clause.stopped else "is not"
    if clause.negated:
        return f"no longer {third(verb)}" if clause.stopped else f"does not {verb}"
    return third(verb)


def _validity(clause: Clause, *, over: bool) -> tuple[datetime, datetime | None]:
    said_at, span = clause.turn.said_at, clause.time.span if clause.time else None
    if over:
        end = span.end if span and span.end and span.end <= said_at else said_at
        start = span.start if span and span.start and span.start < end else end - _UNKNOWN
        return start, end
    start = span.start if span and span.start and span.start <= said_at else said_at
    return start, None


def change(
    clause: Clause, attribute: str, value: str, predicate: str, *, polarity: int = 1, confidence: float = 0.9
) -> list[Candidate]:
    """Return what became true, or stopped being true, at the time of the words: "Ann moved to Lisbon (May)"."""
    told = in_third_person(predicate, clause.turn.listener)
    if not value or told is None or clause.negated or clause.stopped or is_coming(clause):
        return []
    span = clause.time.span if clause.time else None
    start = span.start if span and span.start else clause.turn.said_at
    held = (min(start, clause.turn.said_at), None)
    text = f"{told}{time_label(span)}."
    return [make(clause, attribute, value, text, polarity=polarity, held=held, confidence=confidence)]


def make(
    clause: Clause,
    attribute: str,
    value: str,
    predicate: str,
    *,
    polarity: int = 1,
    held: tuple[datetime, datetime | None] | None = None,
    confidence: float = 0.9,
) -> Candidate:
    """Return a candidate whose text is the subject and a predicate; it holds from when it was said, or as `held`.

    A predicate that opens with "'s" speaks of something of the subject's: "'s favourite colour is blue."
    """
    sure = confidence - (0.15 if clause.dropped else 0) - (0.1 if clause.person == "third" else 0)
    valid_from, valid_to = held or (clause.turn.said_at, None)
    return Candidate(
        kind=kind_of(attribute),
        subject=clause.subject,
        attribute=attribute,
        value=in_third_person(value, clause.turn.listener) or value,
        text=" ".join(f"{clause.subject} {predicate}".split()).replace(" .", ".").replace(" 's ", "'s ", 1),
        polarity=polarity,
        single=attribute_of(attribute).single,
        time=clause.time.span if clause.time else None,
        valid_from=valid_from,
        valid_to=valid_to,
        confidence=round(sure, 2),
        quote=clause.turn.text[clause.start : clause.end],
        start=clause.start,
        end=clause.end,
    )
