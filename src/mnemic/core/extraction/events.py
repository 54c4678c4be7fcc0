"""What somebody did: past statements with a time, or with a verb that tells of something worth remembering.

Thoughts, feelings, talk and small steps ("decided", "got", "found out") are no events.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import LEADING_PREPOSITION, cut_tail, in_third_person, points_outside
from mnemic.core.extraction.statements import change, make, time_label
from mnemic.model.memory import Candidate
from mnemic.model.moment import Grain

_NOT_EVENTS: Final = frozenset(
    """be have think feel know want need wonder believe understand mean seem hope wish guess love like enjoy hate
    prefer say
    tell agree remember forget hear appreciate miss care look try find keep let see thank bet suppose expect imagine
    notice realize realise get live work use do mention ask talk decide help show happen bring put come become take give
    make end suggest admit call learn send manage discover stay struggle consider deal continue experience inspire
    assume figure add reach face change turn set adore worry plan wait choose""".split()
)
_WITH_TIME: Final = frozenset("take make see give do have bring reach learn help hear".split())
_NOTABLE: Final = frozenset(
    """visit win perform attend graduate travel finish complete publish join adopt celebrate host organize organise
    volunteer
    launch camp hike explore marry welcome release record buy donate compete participate run climb fly paint bake build
    meet sign renovate receive raise score teach plant interview enroll enrol apply march tour""".split()
)
_SMALL: Final = re.compile(
    r"(?:for (?:an?|\w+|half an) (?:hour|minute|while|bit)s?\b|through|ahead|for it|well|back and forth"
    r"|on and on|over|out of|with it|crazy"
    r"|viral|wrong|by|down|with|into|the same"
    r"|off on|off to|off|from)\b|\Z"
)
_GO: Final = re.compile(r"(?:back )?(?:to(?! (?:work|bed|sleep)\b)|on|out|for|[a-z]{2,12}ing)\b")
_VAGUE: Final = re.compile(
    r"(?:^|\s)(?:(?:(?:some|new|lots of|so many|many|other|awesome|amazing|great|cool|nice|interesting"
    r"|these|few|a|the) ){0,4}people|a few more|a ton|a lot"
    r"|a bunch|stuff|things|(?:an|some) events?|a(?: \w+)? movie|some (?:more )?(?:info|advice|options"
    r"|progress)|a step|a break|a deep breath|an? (?:\w+ )?experience|a blast|(?:\w+ )?fun"
    r"|a (?:great|good|amazing|wonderful) time|sense|progress|mistakes?|sure|care|notes?|part"
    r"|(?:the|my|this|that|a|all the) (?:tests?|scripts?|code|build|server|deadline|homework|task|job"
    r"|report|query|command|program"
    r"|file|function|app|update|document|emails?))\Z",
    re.IGNORECASE,
)


_WORTHY: Final = re.compile(
    r"take (?:an? |my |our )(?:[\w-]+ ){0,3}?(?:trip|class|course|tour|cruise|workshop|vacation|holiday)\b"
    r"|start (?:learning|playing|taking|teaching|volunteering|training|practicing|writing|therapy"
    r"|running|an? [\w -]{3,30})"
    r"|see [\w' -]{2,30} (?:live|in concert)\b"
    r"|pass (?:my|our|the) [\w' -]{3,30} (?:test|exams?)\b"
    r"|give birth\b"
)


_APPENDED: Final = re.compile(r",\s(?!(?:and\s)?[a-z]{2,14}(?:ed|ing)\b)")


def event(clause: Clause) -> list[Candidate]:
    """Read "I went camping last weekend" and "We won the regional chess final"."""
    if clause.tense not in {"past", "perfect"} or clause.negated or clause.topic or clause.stopped:
        return []
    timed = _is_timed(clause)
    if not _tells(clause, timed=timed):
        return []
    rest = _APPENDED.split(cut_tail(clause.rest, 16), maxsplit=1)[0]
    verb = re.split(r"[\s.,!]", clause.turn.blanked[clause.verb_start : clause.verb_start + 24].lower(), maxsplit=1)[0]
    told = in_third_person(rest, clause.turn.listener)
    plain = LEADING_PREPOSITION.sub("", re.sub(r"\byour\b", "my", rest) if clause.turn.listener else rest)
    if told is None or not plain or points_outside(plain) or _VAGUE.search(rest) or verb.endswith("ing"):
        return []
    if len(rest.split()) < 2 and not (timed or rest[0].isupper()):
        return []
    span = clause.time.span if clause.time else None
    start = span.start if timed and span and span.start else clause.turn.said_at
    words = f"has {verb}" if clause.tense == "perfect" else verb
    return [
        make(
            clause,
            "event.happened",
            f"{verb} {told}",
            f"{words} {told}{time_label(span)}.",
            polarity=1,
            held=(start, None),
            confidence=0.85 if timed else 0.7,
        )
    ]


def died(clause: Clause) -> list[Candidate]:
    """Read "My grandfather died in 2019" and "Our dog died last week"; a pet with a name is read with its name."""
    away = clause.verb == "die" or (clause.verb == "pass" and clause.low_rest.startswith("away"))
    if not away or clause.person != "third" or clause.tense not in {"past", "perfect"} or clause.negated:
        return []
    if clause.kin is None or not clause.kin.pet:
        words = "died" if clause.verb == "die" else "passed away"
        return change(clause, "event.happened", words, words)
    if clause.kin.names:
        return []
    own = replace(clause, subject=clause.turn.speaker, person="first")
    return change(own, "possession.pet", clause.kin.noun, f"lost their {clause.kin.noun}", polarity=-1)


_GOT_TO: Final = re.compile(r"to (?!the\b|my\b|an?\b|know\b|see\b|be\b|work\b)[a-z]{3,12} \w")
_CHOSEN: Final = re.compile(
    r"(?:accepted|drafted|invited|chosen|selected|elected|featured|awarded|nominated|picked|recruited"
    r"|admitted|published)"
    r" (?:to|into|for|by|in|at|as)\b"
)


def chosen(clause: Clause) -> list[Candidate]:
    """Read "I was accepted into the academy last week" and "I got invited to a wedding"."""
    match = _CHOSEN.match(clause.low_rest)
    if match is None or clause.tense not in {"past", "perfect"} or clause.negated or clause.topic:
        return []
    rest = cut_tail(clause.rest, 14)
    if points_outside(rest[match.end() :]):
        return []
    found = change(clause, "event.happened", f"was {rest}", f"was {rest}", confidence=0.8)
    return found if rest else []


def _is_timed(clause: Clause) -> bool:
    span = clause.time.span if clause.time else None
    return (
        span is not None
        and span.grain is not Grain.OPEN
        and span.start is not None
        and span.start <= clause.turn.said_at
    )


def _tells(clause: Clause, *, timed: bool) -> bool:
    verb, rest = clause.verb, clause.low_rest
    if clause.dropped and verb == "raise" and rest.startswith("in "):
        return False  # "born in Riga and raised in Oslo"
    if verb == "get":
        return timed and _GOT_TO.match(rest) is not None
    if _SMALL.match(rest) or (verb in _NOT_EVENTS and not (verb in _WITH_TIME and timed)):
        return False
    if clause.tense == "perfect":
        return (verb in _NOTABLE or verb == "start") and (
            timed or bool(clause.adverbs & {"just", "finally", "recently", "already", "also"})
        )
    if verb == "go":
        return _GO.match(rest) is not None
    return timed or verb in _NOTABLE or _WORTHY.match(f"{verb} {rest}") is not None
