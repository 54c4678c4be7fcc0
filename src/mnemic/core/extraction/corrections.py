"""Corrections of what was told before: "I told you wrong about my allergy. It isn't almonds, it's cashews".

What "it" is has to be named in the same message, and the words must say that something was wrong or what is right; an
"it isn't serious" corrects nothing. Plain denials ("I'm not allergic to kiwi") are read by the ordinary rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import cut_tail, points_outside, strip_determiner
from mnemic.core.extraction.statements import make
from mnemic.core.temporal import find_times
from mnemic.model.memory import Candidate

CORRECTABLE: Final = ("allerg", "birthday", "favo")
"""A message without one of these has nothing that is read here."""

_FAR: Final = 400
"""Characters within which what "it" is, and that something was wrong, are told."""

_NOUN: Final = r"(?P<noun>allerg(?:y|ies)|birthday|fav(?:ou?rite) (?P<thing>[a-z]{3,16}))"
_MENTION: Final = re.compile(
    rf"\bmy (?:[a-z-]+ )?{_NOUN}\b|\bwrong {_NOUN.replace('noun', 'n').replace('thing', 't')}\b"
)
_WRONG: Final = re.compile(
    r"\b(?:wrong|mistake|mistaken|correction|mixed (?:up|them up|it up)|misspoke|misremembered|got it backwards)\b"
)
_DENIAL: Final = re.compile(
    rf"(?:^|(?<=[,;:.] )|(?<=and )|(?<=but ))(?:my {_NOUN}|it|that)(?:(?: is|'s| was) not| isn't| wasn't)"
    r" (?:actually |really )?(?:on )?(?P<old>[\w' -]{2,40}?)(?P<firm> at all| any ?more| after all)?"
    r"(?:(?=[.!]|$)|(?P<but>,? but (?:it's |it is )?|[,;] (?:it's|it is) )(?:actually |really )?(?:on )?"
    r"(?P<new>[\w' -]{2,40}))"
)
_NO_SUBSTANCE: Final = re.compile(
    r"\b(?:so|that|this|too|very|as|only|just|about|because|like|when|how|why|what|going|to|bad|serious|severe"
    r"|true|real|right"
    r"|wrong|fun|good|great|nice|dangerous|easy|hard|big|deal|problem|joke|fault|life|contagious|funny|until"
    r"|yet|here|there)\b"
)
_SPELLING: Final = {"color": "colour", "movie": "film"}


def corrected(clause: Clause) -> Iterator[Candidate]:
    """Yield what a clause takes back and what it puts in its place; the clause's rest is all of its words."""
    low = clause.low_rest.replace("\u2019", "'")
    match = _DENIAL.search(low)
    if match is None:
        return
    before = clause.turn.low[max(0, clause.start - _FAR) : clause.start] + low[: match.start()]
    mention = match if match["noun"] else next(iter(reversed(list(_MENTION.finditer(before)))), None)
    wrong = _WRONG.search(clause.turn.low, max(0, clause.start - _FAR), clause.end + _FAR) is not None
    if mention is None or not (wrong or match["new"] or (match["noun"] and match["firm"])):
        return
    said = [(match["old"], match.start("old"), -1)]
    if match["new"]:
        said.append((match["new"], match.start("new"), 1))
    noun, thing = _about(mention)
    values = [(_value(clause, noun, clause.rest[at : at + len(words)]), polarity) for words, at, polarity in said]
    if all(value for value, _ in values):
        for value, polarity in values:
            yield _candidate(replace(clause, times=()), noun, thing, value, polarity)


def _about(mention: re.Match[str]) -> tuple[str, str]:
    groups = mention.groupdict()
    noun = groups["noun"] or groups.get("n") or ""
    thing = groups["thing"] or groups.get("t") or ""
    return noun, _SPELLING.get(thing, thing)


def _value(clause: Clause, noun: str, said: str) -> str:
    if noun == "birthday":
        found = find_times(f"on {said}", clause.turn.said_at)
        start = found[0].span.start if found else None
        return f"{start.day} {start:%B}" if start and re.search(r"\d", said) else ""
    value = strip_determiner(cut_tail(said, 3))
    return "" if points_outside(value) or _NO_SUBSTANCE.search(value.lower()) else value


def _candidate(clause: Clause, noun: str, thing: str, value: str, polarity: int) -> Candidate:
    no = "not " if polarity < 0 else ""
    if noun == "birthday":
        return make(clause, "identity.birthday", value, f"'s birthday is {no}on {value}.", polarity=polarity)
    if thing:
        told = f"'s favourite {thing} is {no}{value}."
        return make(clause, f"preference.favourite.{thing}", value, told, polarity=polarity)
    return make(clause, "health.allergy", value, f"is {no}allergic to {value}.", polarity=polarity)
