"""What and where somebody studies, and what they graduated with."""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import before_aside, cut_tail, points_outside, strip_determiner
from mnemic.core.extraction.statements import change, state
from mnemic.core.extraction.tastes import Rules
from mnemic.model.memory import Candidate

_SCHOOL: Final = re.compile(
    r"\b(?:university|college|school|academy|institute|uni|mit|ucla|oxford|cambridge|harvard|stanford"
    r"|yale|eth|conservatory|polytechnic)\b"
)


def studying(clause: Clause) -> list[Candidate]:
    """Read "I'm studying marine biology in Galway" and "I majored in law at Yale"."""
    if clause.topic or clause.tense in {"future", "going_to", "can"}:
        return []
    if clause.tense == "present" and clause.verb == "study" and clause.time:
        return []
    rest = before_aside(cut_tail(clause.rest, 12))
    match = re.match(r"(?:in )?(?P<field>[\w' &-]{3,50}?)(?: (?:at|in) (?P<school>(?:the )?[A-Z].{1,50}))?$", rest)
    if match is None or re.match(
        r"(?:for|hard|abroad|with|at|in|late|together|all|online|on|to|how|by|more|every|a lot)\b",
        match["field"].lower(),
    ):
        return []
    field = strip_determiner(match["field"])
    if points_outside(field) or len(field.split()) > 4:
        return []
    verb, lead = ("major", "in ") if clause.verb == "major" else ("study", "")
    found = state(clause, "education.field", field, verb, f"{lead}{field}")
    school = match["school"] or ""
    if school and _SCHOOL.search(school.lower()):
        found += state(clause, "education.school", strip_determiner(school), "study", f"at {school}")
    return found


def attending(clause: Clause) -> list[Candidate]:
    """Read "I go to Cork University" and "I attend a music school"."""
    if clause.topic or clause.tense not in {"present", "used_to", "progressive"}:
        return []
    rest = cut_tail(clause.rest, 9)
    match = re.match(r"(?:to )?(?P<school>.{3,60})", rest)
    if (
        match is None
        or not _SCHOOL.search(match["school"].lower())
        or (clause.verb == "go" and not rest.startswith("to "))
    ):
        return []
    school = strip_determiner(match["school"])
    if school.lower() in {"school", "college", "university", "uni"} or re.search(
        r"\b(?:event|events|fair|meeting)", school.lower()
    ):
        return []
    return state(clause, "education.school", school, clause.verb, rest, confidence=0.8)


def graduating(clause: Clause) -> list[Candidate]:
    """Read "I graduated from Cork University in 2019 with a degree in law"."""
    if clause.tense not in {"past", "perfect"} or clause.negated or clause.topic:
        return []
    rest = cut_tail(clause.rest, 14)
    school = re.search(r"(?:^|\s)from (?P<school>.{3,50}?)(?= with\b| in\b|$)", rest)
    degree = re.search(r"with (?:an?|my) (?P<degree>.{3,50})$", rest)
    found: list[Candidate] = []
    if school and not points_outside(strip_determiner(school["school"])):
        name = strip_determiner(school["school"])
        found += change(clause, "education.school", name, f"graduated from {school['school']}")
    if degree:
        found += change(clause, "education.degree", degree["degree"], f"graduated with {degree.group()[5:]}")
    return found or change(clause, "education.degree", "graduated", f"graduated {rest}".strip())


_DEGREE: Final = re.compile(
    r"(?:my|a|an|the) (?P<degree>(?:[\w']+ ){0,2}?(?:degree|diploma|phd|ph\.d|doctorate|master's"
    r"|masters|bachelor's|mba|certificate|certification|licen[cs]e)(?: degree)?"
    r"(?: (?:in|of) (?P<field>[\w' &-]{2,40}))?)"
)


def having_degree(clause: Clause) -> list[Candidate]:
    """Read "I have a degree in law", "I got my PhD in 2019", "I finished my master's"."""
    match = _DEGREE.match(cut_tail(clause.low_rest, 12))
    if match is None or clause.topic or clause.tense in {"future", "going_to", "can"}:
        return []
    degree = re.split(r" (?:from|at) ", clause.rest[match.start("degree") : match.end("degree")])[0]
    if clause.verb == "have":
        return state(clause, "education.degree", degree, "have", f"a {degree}") if clause.tense == "present" else []
    if clause.tense not in {"past", "perfect"}:
        return []
    verb = {"get": "got", "finish": "finished", "receive": "received", "earn": "earned", "complete": "completed"}[
        clause.verb
    ]
    return change(clause, "education.degree", degree, f"{verb} {clause.rest[: match.end()]}")


RULES: Rules = {
    "study": (studying,),
    "major": (studying,),
    "attend": (attending,),
    "go": (attending,),
    "graduate": (graduating,),
    **dict.fromkeys(("have", "get", "finish", "receive", "earn", "complete"), (having_degree,)),
}
