"""Where somebody lives: place, kind of home, and with whom."""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import as_name, before_aside, cut_tail, is_name, points_outside, strip_determiner
from mnemic.core.extraction.statements import change, state
from mnemic.core.extraction.tastes import Rules
from mnemic.model.memory import Candidate

_DWELLING: Final = re.compile(
    r"\b(?:apartment|flat|house|farmhouse|condo|studio|cottage|cabin|townhouse|loft|dorm|bungalow"
    r"|villa|houseboat|van|farm|duplex|mansion"
    r"|caravan|home)\b"
)
_AREA: Final = re.compile(
    r"\b(?:suburbs?|countryside|city|downtown|village|town|coast|mountains|island|neighbou?rhood)\b"
)


def living(clause: Clause) -> list[Candidate]:
    """Read "I live in Ghent with two flatmates", "I used to live in Lyon", "I don't live in Bath anymore"."""
    if clause.tense not in {"present", "past", "perfect", "progressive", "used_to", "was_progressive"} or clause.topic:
        return []
    match = re.match(
        r"(?:here |right |just |outside |out |over |up |down )?(?P<prep>in|near|on|at|outside|by"
        r"|outside of) (?P<where>.{2,80})",
        clause.low_rest,
    ) or re.match(r"with [\w' -]{2,30} (?P<prep>in|near) (?P<where>.{2,80})", clause.low_rest)
    found: list[Candidate] = []
    if match is not None and not (clause.tense == "past" and clause.time is None and clause.person == "third"):
        where = _place(clause.rest[match.start("where") :])
        found += _home(clause, "live", match["prep"], where)
    return found + _company(clause)


def based(clause: Clause) -> list[Candidate]:
    """Read "I'm based in Leipzig"."""
    match = re.match(r"(?:currently |now )?(?:based|living) in (?P<where>.{2,80})", clause.low_rest)
    if match is None or clause.tense not in {"present", "perfect"} or clause.topic:
        return []
    where = as_name(_place(clause.rest[match.start("where") :]), clause.turn.text)
    return state(clause, "home.place", where, "be", f"based in {where}") if where and is_name(where) else []


def _place(rest: str) -> str:
    where = re.split(
        r"\s(?:with|and|but|for|together|as|alone|now|from|right|on my|by my|when|after|at(?= \d| the age\b))\b",
        cut_tail(rest, 16),
    )[0]
    where = before_aside(where.strip(" ,"))
    return where if len(where.split()) <= 10 else ""


def _home(clause: Clause, verb: str, prep: str, where: str) -> list[Candidate]:
    where = as_name(where, clause.turn.text) if prep in {"in", "near"} else where
    plain = strip_determiner(where)
    if not plain or points_outside(plain) or len(plain.split()) > 7:
        return []
    if is_name(plain):
        return state(clause, "home.place", plain, verb, f"{prep} {where}")
    if _DWELLING.search(plain.lower()):
        return state(clause, "home.kind", plain, verb, f"{prep} {where}", confidence=0.85)
    if _AREA.search(plain.lower()):
        return state(clause, "home.place", plain, verb, f"{prep} {where}", confidence=0.75)
    return []


def _company(clause: Clause) -> list[Candidate]:
    if clause.tense not in {"present", "progressive", "used_to"}:
        return []
    if re.match(r"alone\b|by myself\b|on my own\b", clause.low_rest):
        return state(clause, "home.with", "alone", "live", "alone")
    match = re.search(r"\bwith (?P<who>.{2,40})", clause.low_rest)
    who = re.split(r"\s(?:in|near|at|on)\s", cut_tail(clause.rest[match.start("who") :], 8))[0] if match else ""
    if (
        not who
        or points_outside(strip_determiner(who))
        or not re.search(
            r"(?i)\b(?:\w*mates?|parents|mother|father|mom|mum|dad|husband|wife|partner|boyfriend"
            r"|girlfriend|sister|brother|family|friends?|kids|cats?"
            r"|dogs?|grand\w+|aunt|uncle|cousins?|roommates?|son|daughter|children)\b",
            who,
        )
    ):
        return []
    return state(clause, "home.with", strip_determiner(who), "live", f"with {who}", confidence=0.85)


_ON_THE_WAY: Final = re.compile(
    r"(?:(?:back|here|out|away|over|down|up|all the way|across the country|together|temporarily"
    r"|permanently|houses?|homes?"
    r"|from [\w ,'-]{2,40}|with [\w '-]{2,30}),? ?){0,3}"
)


def moving(clause: Clause) -> list[Candidate]:
    """Read "I moved to Lisbon two weeks ago", "we moved from Cork to a farmhouse"."""
    if clause.tense not in {"past", "perfect"} or clause.negated or clause.topic:
        return []
    found: list[Candidate] = []
    match = re.search(r"(?:^|\s)(?:here )?(?P<prep>to|into|in) (?P<where>.{2,80})", clause.low_rest)
    away = re.search(r"(?:^|\s)(?:from|out of) (?P<where>.{2,50}?)(?= to\b| in\b|$)", clause.low_rest)
    if match is not None and _ON_THE_WAY.fullmatch(clause.low_rest[: match.start()].strip()):
        where = _place(clause.rest[match.start("where") :])
        where = re.split(r"\sfrom\s", where)[0]
        plain = strip_determiner(where)
        where = as_name(where, clause.turn.text) if match["prep"] == "to" else where
        plain = strip_determiner(where)
        lead = "moved into" if match["prep"] == "into" else "moved to"
        if is_name(plain) and not points_outside(plain) and match["prep"] == "to":
            found += change(clause, "home.place", plain, f"{lead} {where}")
        elif _DWELLING.search(plain.lower()) and not points_outside(plain) and len(plain.split()) < 8:
            found += change(clause, "home.kind", plain, f"{lead} {where}", confidence=0.85)
    if away is not None:
        where = _place(clause.rest[away.start("where") : away.end("where")])
        plain = strip_determiner(where)
        if is_name(plain) and not points_outside(plain):
            found += change(clause, "home.place", plain, f"moved from {where}", polarity=-1, confidence=0.8)
    return found


RULES: Rules = {"live": (living,), "be": (based,), "move": (moving,), "relocate": (moving,)}
