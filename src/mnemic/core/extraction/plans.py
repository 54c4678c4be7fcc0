"""What somebody firmly plans: "going to", "planning to", "will" with a time, and what is arranged for a time to come.

Hopes, wishes and offers ("I'd love to", "I'll help you") are no plans.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.extraction.grammar import APPOINTMENT, Clause
from mnemic.core.extraction.phrases import (
    LEADING_PREPOSITION,
    cut_tail,
    in_third_person,
    is_verb_phrase,
    points_outside,
)
from mnemic.core.extraction.statements import is_coming, make, time_label
from mnemic.model.memory import Candidate

_LEAD: Final = re.compile(r"(?:to|on) (?P<what>.{3,90})|(?P<thing>(?:an?|our|my) .{3,60})")
_OCCASION: Final = re.compile(
    r"\b(?:trip|party|wedding|vacation|holiday|visit|getaway|reunion|gathering|camping|event|show)\b"
)
_WEAK: Final = frozenset(
    """be have think feel know want need love like enjoy miss say tell keep see let try remember look continue get
    take check
    make do always never definitely show support give help use focus work""".split()
)
_ARRANGED: Final = frozenset(
    """move fly travel go leave visit start have host run perform attend drive take meet marry graduate return open
    launch
    organize organise celebrate see throw join head spend quit teach compete present come bring get""".split()
)


def plan(clause: Clause) -> list[Candidate]:
    """Read "I'm going to run a marathon", "I'm planning to move", "I'm flying to Rome on Friday"."""
    if clause.topic or clause.negated or clause.stopped:
        return []
    phrase = _planned(clause)
    told = in_third_person(phrase, clause.turn.listener)
    _, _, rest = phrase.partition(" ")
    plain = LEADING_PREPOSITION.sub("", rest)
    if told is None or not plain or points_outside(plain) or phrase.startswith("get ready"):
        return []
    label = time_label(clause.time.span if clause.time else None)
    return [
        make(
            clause,
            "plan.intends",
            told,
            f"plans to {told}{label}.",
            polarity=1,
            confidence=0.8,
        )
    ]


_DATED: Final = re.compile(
    r"(?:next |first |final |\w+ )?(?:appointment|meeting|interview|exam|flight|surgery|operation|recital"
    r"|check-?up|audition)"
)


def dated(clause: Clause) -> list[Candidate]:
    """Read "My dentist appointment is on Friday"."""
    told = clause.verb == "be" and clause.tense == "present" and not clause.negated and is_coming(clause)
    if not told or not _DATED.fullmatch(clause.topic) or re.search(r"[a-z]{4}", clause.low_rest):
        return []
    label = time_label(clause.time.span if clause.time else None)
    what = f"have their {clause.topic}"
    return [make(clause, "plan.intends", what, f"plans to {what}{label}.", confidence=0.8)]


def _planned(clause: Clause) -> str:
    """Return what is planned, from its verb on; empty when nothing firm is."""
    rest, coming = cut_tail(clause.rest.split(", ", 1)[0], 12), is_coming(clause)
    if clause.tense in {"going_to", "future"}:
        firm = coming or (clause.tense == "going_to" and clause.verb not in _WEAK)
        return f"{clause.verb} {rest}" if firm and clause.verb not in {"be", "let", "keep"} else ""
    if clause.tense == "progressive" and clause.verb == "plan":
        return _planning(rest, coming=coming)
    if clause.tense == "progressive" and coming and clause.verb in _ARRANGED:
        return f"{clause.verb} {rest}"
    if clause.tense == "present" and clause.verb == "have" and coming and (match := APPOINTMENT.match(rest)):
        return f"have {match.group()}"
    return ""


def _planning(rest: str, *, coming: bool) -> str:
    match = _LEAD.match(rest)
    if match is None:
        return ""
    if match["thing"]:
        return f"have {match['thing']}" if coming or _OCCASION.search(rest) else ""
    what = match["what"] or ""
    return what if is_verb_phrase(what) and not what.startswith(("be ", "is ")) and not rest.startswith("on ") else ""
