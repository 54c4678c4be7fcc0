"""What somebody does again and again, plans to do, and did: habits, plans and events.

A habit needs words that say how often, a plan a firm intention, an event a time or a verb that tells of something
worth remembering ("visited", "won", "graduated"). Feelings, thoughts and small talk are none of them.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import cut_tail, in_third_person, is_verb_phrase, points_outside
from mnemic.core.extraction.statements import is_coming, make, time_label
from mnemic.core.extraction.verbs import gerund, third
from mnemic.model.memory import Candidate, MemoryKind
from mnemic.model.moment import Grain

_OFTEN: Final = re.compile(
    r"\b(?:every (?:single |other )?(?:day|morning|evening|night|week|weekend|month|year|summer|winter|spring|autumn|fall|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|few (?:days|weeks|months))|each (?:day|morning|week|month|year|night)|daily|weekly|monthly"
    r"|(?:once|twice|(?:\d|two|three|four|five|six) times|a (?:few|couple(?: of)?) times) (?:a|per|each) (?:day|week|month|year)"
    r"|on (?:(?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays|weekends|weekdays)(?:,? and )?)+"
    r"|(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday) (?:mornings|afternoons|evenings|nights)|in the mornings?|in the evenings?"
    r"|before (?:work|bed|breakfast)|after work)\b"
)
_STATIVE: Final = frozenset(
    """be have think feel know want need wonder believe understand mean seem hope wish guess love like enjoy hate prefer say tell
    agree remember forget hear appreciate miss care look try find keep let see live work thank bet suppose expect imagine notice
    realize realise learn get can will should would could""".split()
)
_NOT_EVENTS: Final = frozenset(
    """be have think feel know want need wonder believe understand mean seem hope wish guess love like enjoy hate prefer say tell
    agree remember forget hear appreciate miss care look try find keep let see thank bet suppose expect imagine notice realize
    realise get live work use do mention ask talk decide help show happen bring put come become take give make end
    suggest admit call learn send manage discover stay struggle consider deal continue
    experience inspire assume figure add reach face change turn set love adore worry plan notice wait""".split()
)
_NOTABLE: Final = frozenset(
    """visit win perform attend graduate travel finish complete publish join adopt celebrate host organize organise volunteer launch
    camp hike explore marry welcome open release record buy donate compete participate pass run climb fly write paint bake
    build meet sign lose sell break move start go renovate receive raise score teach plant interview enroll enrol apply
    present speak lead march tour cook""".split()
)
_EMPTY_START: Final = re.compile(
    r"(?:(?:through|ahead|for it|well|back and forth|on and on|over|out of my way|with it|crazy|viral|wrong|by|down|with|into|the same|off on|off to|off|from)\b|$)"
)
_GO: Final = re.compile(
    r"(?:back )?(?:to|on|camping|hiking|swimming|skiing|surfing|shopping|fishing|dancing|kayaking|biking|running|climbing|sailing|diving|snorkeling|out|for|skydiving|rafting|bowling|skating|snowboarding|[a-z]{3,12}ing)\b"
)
_PLAN_LEAD: Final = re.compile(r"(?:to|on) (?P<what>.{3,90})|(?P<thing>(?:an?|our|my) .{3,60})")
_PLAN_STOP: Final = frozenset(
    """be have think feel know want need love like enjoy miss say tell keep see let try remember look continue get take check make do
    always never definitely show support give help use focus work""".split()
)
_COMING_ING: Final = frozenset(
    """move fly travel go leave visit start get have host run perform attend drive take meet marry graduate return open launch
    organize organise celebrate see throw join head spend quit teach compete present come bring""".split()
)


def habit(clause: Clause) -> list[Candidate]:
    """Read "I run every morning", "I go to the gym on Tuesdays", "I usually bike to work"."""
    if clause.tense not in {"present", "used_to"} or clause.topic or clause.negated or clause.verb in _STATIVE:
        return []
    words = clause.turn.blanked[clause.verb_start : clause.end]
    often = _OFTEN.search(words.lower())
    lead = clause.turn.low[clause.start : clause.verb_start]
    often_before = _OFTEN.search(lead)
    usually = bool(clause.adverbs & {"usually", "normally", "typically", "regularly"})
    if not (often or often_before or usually) or not re.match(r"[a-z]+$", clause.verb):
        return []
    phrase = cut_tail(words, 14)
    if often and often.end() > len(phrase) and not usually:
        return []
    if often_before and not often:
        phrase = f"{phrase} {often_before.group()}"
    rest = phrase.split(" ", 1)[1] if " " in phrase else ""
    told = in_third_person(rest, clause.turn.listener)
    if told is None or not phrase or points_outside(rest or "x"):
        return []
    verb = f"used to {clause.verb}" if clause.tense == "used_to" else third(clause.verb)
    adverb = "usually " if usually and clause.tense == "present" else ""
    said_at = clause.turn.said_at
    value = f"{gerund(clause.verb)} {told}".strip()
    return [
        make(
            clause, "habit.regular", value, f"{adverb}{verb} {told}".rstrip() + ".", polarity=1, confidence=0.85,
            valid_from=said_at if clause.tense == "present" else said_at.replace(microsecond=0), valid_to=None,
        )
    ] if clause.tense == "present" else []  # fmt: skip


def plan(clause: Clause) -> list[Candidate]:
    """Read "I'm going to run a marathon", "I'm planning to move", "I'm flying to Rome on Friday", "I will sing on Friday"."""
    if clause.topic or clause.negated or clause.stopped:
        return []
    phrase = _planned(clause)
    if not phrase:
        return []
    told = in_third_person(phrase, clause.turn.listener)
    rest = phrase.split(" ", 1)[1] if " " in phrase else ""
    if told is None or len(phrase.split()) < 2 or points_outside(rest):
        return []
    span = clause.time.span if clause.time else None
    return [
        make(
            clause, "plan.intends", told, f"plans to {told}{time_label(span)}.", polarity=1, kind=MemoryKind.EVENT,
            valid_from=clause.turn.said_at, valid_to=None, confidence=0.8,
        )
    ]  # fmt: skip


def _planned(clause: Clause) -> str:
    coming = is_coming(clause)
    rest = cut_tail(clause.rest, 12)
    if clause.tense in {"going_to", "future"}:
        firm = coming or (clause.tense == "going_to" and clause.verb not in _PLAN_STOP)
        return (
            f"{clause.verb} {rest}".strip() if firm and clause.verb not in {"be", "see", "let", "keep"} and rest else ""
        )
    if clause.tense == "progressive" and clause.verb == "plan":
        match = _PLAN_LEAD.match(rest)
        if match is None:
            return ""
        if match["thing"]:
            return (
                f"have {match['thing']}"
                if coming or re.search(r"\b(?:trip|party|wedding|vacation|holiday|visit|getaway)\b", rest)
                else ""
            )
        what = match["what"] or ""
        first, _, others = what.partition(" ")
        if rest.startswith("on ") and first.endswith("ing"):
            return ""
        return f"{first} {others}".strip() if is_verb_phrase(what) and first != "be" else ""
    if clause.tense == "progressive" and coming and clause.verb in _COMING_ING and rest:
        return f"{clause.verb} {rest}"
    return ""


def event(clause: Clause) -> list[Candidate]:
    """Read "I went camping last weekend" and "We won the regional chess final"."""
    if clause.tense not in {"past", "perfect"} or clause.negated or clause.topic or clause.stopped:
        return []
    span = clause.time.span if clause.time else None
    timed = (
        span is not None
        and span.grain is not Grain.OPEN
        and span.start is not None
        and span.start <= clause.turn.said_at
    )
    if not _tells(clause, timed=timed):
        return []
    rest = cut_tail(clause.rest, 16)
    verb = clause.turn.blanked[clause.verb_start : clause.verb_start + 24].split(" ", 1)[0].lower().strip(".,!")
    told = in_third_person(rest, clause.turn.listener)
    if (
        told is None
        or not rest
        or points_outside(rest.split(" ", 1)[-1] if rest.startswith(("to ", "for ", "on ", "in ")) else rest)
    ):
        return []
    if len(rest.split()) < 2 and not (timed or rest[0].isupper()):
        return []
    words = f"has {verb}" if clause.tense == "perfect" else verb
    start = span.start if timed and span and span.start else clause.turn.said_at
    return [
        make(
            clause, "event.happened", f"{verb} {told}", f"{words} {told}{time_label(span)}.", polarity=1, kind=MemoryKind.EVENT,
            valid_from=start, valid_to=None, confidence=0.85 if timed else 0.7,
        )
    ]  # fmt: skip


def _tells(clause: Clause, *, timed: bool) -> bool:
    verb, rest = clause.verb, clause.low_rest
    if (
        (verb in _NOT_EVENTS
        and not (verb in {"take", "make", "see", "give", "do"} and timed))
        or _EMPTY_START.match(rest)
    ):
        return False
    if clause.tense == "perfect" and not (
        verb in _NOTABLE and (timed or clause.adverbs & {"just", "finally", "recently", "already"})
    ):
        return False
    if verb == "go" and not _GO.match(rest):
        return False
    if verb in {
        "start",
        "finish",
        "meet",
        "write",
        "run",
        "open",
        "lose",
        "break",
        "move",
        "pass",
        "speak",
        "lead",
        "present",
        "cook",
    }:
        return timed or (verb in {"finish", "meet", "run"} and len(rest.split()) > 2)
    return timed or verb in _NOTABLE


__all__ = ["event", "habit", "plan"]
