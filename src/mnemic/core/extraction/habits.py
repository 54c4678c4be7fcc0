"""What somebody does again and again. A habit needs words that say how often; feelings and thoughts are none."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import LEADING_PREPOSITION, cut_tail, in_third_person, points_outside
from mnemic.core.extraction.statements import state
from mnemic.core.extraction.verbs import gerund, known, third
from mnemic.core.temporal_words import lower_same_length
from mnemic.model.memory import Candidate

_DAY: Final = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_OFTEN: Final = re.compile(
    r"\b(?:every (?:single |other )?(?:day|morning|evening|night|week|weekend|month|year|summer|winter"
    r"|spring|autumn|fall"
    rf"|{_DAY}|few (?:days|weeks|months))|each (?:day|morning|week|month|year|night)|daily|weekly|monthly"
    r"|(?:once|twice|(?:\d|two|three|four|five|six) times|a (?:few|couple(?: of)?) times) (?:a|per"
    r"|each) (?:day|week|month|year)"
    rf"|on (?:(?:{_DAY}s|weekends|weekdays)(?:,? and )?){{1,3}}|{_DAY} (?:mornings|afternoons|evenings|nights)"
    r"|in the mornings?|in the evenings?|before (?:work|bed|breakfast)|after work)\b"
)
_STATIVE: Final = frozenset(
    """be have think feel know want need wonder believe understand mean seem hope wish guess love like enjoy hate
    prefer say
    tell agree remember forget hear appreciate miss care look try find keep let see live work thank bet suppose expect
    imagine notice realize realise learn get can will should would could""".split()
)
_NEEDS_MORE: Final = frozenset("go do meet play make take".split())


def habit(clause: Clause) -> list[Candidate]:
    """Read "I run every morning", "I go to the gym on Tuesdays", "I usually bike to work"."""
    if clause.tense not in {"present", "used_to"} or clause.topic or clause.negated or clause.verb in _STATIVE:
        return []
    usually = bool(clause.adverbs & {"usually", "normally", "typically", "regularly"})
    phrase = _phrase(clause, usually=usually)
    first, _, rest = phrase.partition(" ")
    plain = LEADING_PREPOSITION.sub("", _OFTEN.sub("", rest.lower()).strip(" ,"))
    told = in_third_person(rest, clause.turn.listener)
    if (
        not first.isalpha()
        or told is None
        or (plain and points_outside(plain))
        or (not plain and clause.verb in _NEEDS_MORE)
    ):
        return []
    told = re.sub(r"^and (\w+)", lambda match: f"and {third(match[1])}" if known(match[1]) else match[0], told)
    value = f"{gerund(clause.verb)} {told}".strip()
    found = state(clause, "habit.regular", value, clause.verb, told, confidence=0.85)
    if not usually or _OFTEN.search(told):
        return found
    subject = clause.subject
    return [replace(one, text=one.text.replace(f"{subject} ", f"{subject} usually ", 1)) for one in found]


def _phrase(clause: Clause, *, usually: bool) -> str:
    """Return the verb and its words when something says how often; else nothing."""
    words = clause.turn.blanked[clause.verb_start : clause.end]
    phrase = cut_tail(words.split(", ")[0], 14)
    if usually or _OFTEN.search(phrase.lower()):
        return phrase
    before = _OFTEN.search(clause.turn.low[clause.start : clause.verb_start])
    return f"{phrase} {before.group()}" if before else ""


_DOING: Final = re.compile(
    r"(?:work on (?:an?|my|our) (?:new |first |second )?(?!projects?\b)[a-z]{3,}|take (?:an? |some "
    r"|my )?[\w' -]{0,30}(?:class(?:es)?|courses?|lessons?)|train for|prepare for"
    r"|study for|learn|write (?:an?|my)|practice|practise"
    r"|volunteer (?:at|for|with)|attend|teach|coach|blog about|restore|renovate|build (?:an?|my|our)"
    r"|take care of|foster|rehearse|compose|record (?:an?|my|our))\b"
)


def ongoing(clause: Clause) -> list[Candidate]:
    """Read "I've been taking a poetry class lately" and "I'm training for a marathon"."""
    said = clause.turn.low[clause.verb_start : clause.verb_start + 24].split(" ", 1)[0].strip(".,!")
    if clause.tense not in {"progressive", "perfect"} or not said.endswith("ing") or clause.topic or clause.negated:
        return []
    rest = cut_tail(clause.rest, 10)
    if not _DOING.match(f"{clause.verb} {lower_same_length(rest)}") or points_outside(
        LEADING_PREPOSITION.sub("", rest)
    ):
        return []
    if re.match(r"(?:a lot|a ton|a bunch|tons|so much|more|to|new things|about it|how)\b", rest.lower()):
        return []
    value = f"{gerund(clause.verb)} {rest}"
    found = state(
        clause, "habit.current", in_third_person(value, clause.turn.listener) or "", "be", value, confidence=0.8
    )
    if clause.tense == "perfect":
        return [replace(one, text=one.text.replace(" is ", " has been ", 1)) for one in found]
    return found
