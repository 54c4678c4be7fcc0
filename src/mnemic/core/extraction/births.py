"""Children: expected, born, and given a name in the words that follow ("We had a baby! She's called Ida").

A name that follows goes to the nearest child, pet or relative that was told of without one, two clauses back at most.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.statements import change, is_coming, make, state, time_label
from mnemic.core.extraction.tastes import Rules
from mnemic.model.memory import Candidate, MemoryKind

NAMING_WORD: Final = re.compile(r"\b(?:names?|named|naming|call(?:s|ed|ing)?)\b")
"""What a clause that gives a name has in it."""

_BABY: Final = re.compile(
    r"(?:birth to )?(?P<whose>an?|our|my|her|their) (?:first |second |third |beautiful "
    r"|healthy )?(?P<who>(?:baby(?: girl| boy)?|son|daughter|little (?:girl|boy)|boy|girl))(?:$"
    r"|[ ,.!])",
)
_NAME: Final = r"(?P<name>[A-Z][\w-]{1,20}(?: and [A-Z][\w-]{1,20})?)(?:$|[ ,.!;])"
_NAMING: Final = re.compile(
    r"(?i:(?:and |so |oh |well )?(?:(?:her|his|its|their|the \w+'s) name(?:s are| is|'s)"
    r"|(?:she|he|it|they)(?:'s| is|'re| are) (?:called|named)"
    r"|(?:we|i|they|she|he)(?:'ve| have| has)? (?:just |finally |decided to )?(?:named?|call|called|chose to call)"
    r" (?:her|him|it|them|the (?:\w+ )?\w+))) " + _NAME
)
_NOT_NAMED: Final = frozenset("relation.status relation.partner relation.children".split())


def having_baby(clause: Clause) -> list[Candidate]:
    """Read "We had a baby girl on 2 February", "Petra had her baby", "I gave birth to a boy"."""
    if clause.tense != "past" or clause.negated or clause.topic:
        return []
    match = _BABY.match(clause.low_rest)
    if match is None:
        alone = clause.verb == "give" and clause.low_rest in {"birth", "birth at home"}
        found = change(clause, "relation.child", "baby", "gave birth", confidence=0.85) if alone else []
        return [replace(candidate, kind=MemoryKind.EVENT) for candidate in found]
    if (match["whose"] in {"her", "their"}) and (clause.person == "first" or match["who"] != "baby"):
        return []
    if (clause.verb == "have" and not match["who"].startswith(("baby", "son", "daughter", "little"))) or (
        clause.verb == "give"
    ) != clause.low_rest.startswith("birth"):
        return []
    if re.match(r"\w* ?(?:shower|shark|steps|face|doll|with|in (?:her|his|my))\b", clause.low_rest[match.end() :]):
        return []
    names = re.search(r"(?:named|called) (?P<name>[A-Z][\w-]{1,20})", clause.rest)
    who = f"{match['who']} named {names['name']}" if names else match["who"]
    found = change(clause, "relation.child", names["name"] if names else match["who"], f"had a {who}", confidence=0.85)
    return [replace(candidate, kind=MemoryKind.EVENT) for candidate in found]


def unnamed(found: list[Candidate]) -> Candidate | None:
    """Return the first child, pet or relative among candidates that was told of without a name."""
    return next((one for one in found if _awaits_name(one)), None)


def _awaits_name(one: Candidate) -> bool:
    return (
        one.polarity > 0
        and one.attribute.startswith(("relation.", "possession.pet"))
        and one.attribute not in _NOT_NAMED
        and "named" not in one.value
        and one.value[:1].islower()
    )


def naming(clause: Clause, target: Candidate) -> list[Candidate]:
    """Read "Her name is Liv" and "We called him Otto" of a target; the clause's rest is all of its words."""
    match = _NAMING.match(clause.rest.replace("\u2019", "'"))
    if match is None:
        return []
    noun = re.sub(r"^(?:new|a|an|one) ", "", target.value)
    value = f"{noun} named {match['name']}" if target.attribute == "possession.pet" else match["name"]
    owned = replace(clause, subject=target.subject)
    return state(owned, target.attribute, value, "have", f"a {noun} named {match['name']}", confidence=0.85)


def expecting(clause: Clause) -> list[Candidate]:
    """Read "We're expecting a baby in October"."""
    match = re.match(r"(?:an?|our|my) (?:[a-z]+ )?(?:baby|child|son|daughter|girl|boy)\b|twins\b", clause.low_rest)
    if match is None or clause.tense != "progressive" or clause.topic or clause.negated:
        return []
    told = match.group().replace("our ", "their ").replace("my ", "their ")
    return [make(clause, "relation.children", f"expecting {told}", f"is expecting {told}.", confidence=0.85)]


def due(clause: Clause) -> list[Candidate]:
    """Read "My sister Bea is due in October"; a person who is due for something else has more words there."""
    if clause.tense != "present" or clause.topic or clause.negated or not is_coming(clause):
        return []
    if re.fullmatch(r"due(?: with (?:an?|my|our|her) [\w -]{2,20})?", clause.low_rest) is None:
        return []
    if re.match(r"[^.,!]{0,12}\bdue (?:back|home|for|to)\b", clause.turn.low[clause.verb_start : clause.end]):
        return []
    told = f"is expecting a baby{time_label(clause.time.span if clause.time else None)}."
    return [make(clause, "relation.children", "expecting a baby", told, confidence=0.8)]


RULES: Rules = {
    "have": (having_baby,),
    "give": (having_baby,),
    "expect": (expecting,),
    "be": (due,),
}
