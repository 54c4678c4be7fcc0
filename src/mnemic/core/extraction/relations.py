"""Who belongs to somebody: partner, children, siblings, friends by name, and the state of a relationship."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.kin import Kin, find_kin, kind_of
from mnemic.core.extraction.phrases import cut_tail
from mnemic.core.extraction.statements import change, make, state
from mnemic.core.extraction.tastes import Rules
from mnemic.core.temporal_words import lower_same_length
from mnemic.model.memory import Candidate

_COUNTED: Final = re.compile(
    r"(?P<n>an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|no|any)(?: (?:other|little"
    r"|older|younger|big|small|lovely|beautiful|wonderful|amazing"
    r"|adorable|grown|grown-up|teenage|young|twin|identical|half|foster|adopted|great|awesome|sweet"
    r"|[a-z]+-year-old)){0,2}"
    r" (?P<noun>kids?|children|child|sons?|daughters?|brothers?|sisters?|siblings|grandchildren"
    r"|grandkids|grandsons?|granddaughters?|nieces?"
    r"|nephews?|boyfriend|girlfriend|husband|wife|stepsons?|stepdaughters?|cousins?|twin (?:sister"
    r"|brother)|twins|boys|girls)"
    r"(?:,? (?:named|called) |, | )?(?P<names>.{0,60})"
)
_NAMES: Final = re.compile(
    r"[A-Z][\w-]{1,20}(?:(?:, (?:and )?| and )[A-Z][\w-]{1,20}){0,6}(?=$|[.,!;]|\s(?:who|and)\b)"
)
_STATUS: Final = re.compile(
    r"(?:now |happily |newly |officially |recently |still |currently "
    r"|finally )?(?:an? )?(?P<status>married|engaged|single|divorced|widowed|separated|widow"
    r"|widower|single (?:parent|mom|mum|dad|mother|father))(?: to (?P<who>.{2,40}))?(?:$|[ ,.!])"
)
_PERSON: Final = re.compile(r"(?P<name>[A-Z][\w-]{1,20}(?: [A-Z][\w-]{1,20})?)(?:$|[ ,.!])")


_DIED: Final = re.compile(
    r"\b(?:died|passed|put (?:him|her) down|put down|put (?:my|our) [\w ]{2,30} down|to sleep|rainbow bridge"
    r"|lost (?:my|our))\b"
)


def kin_facts(clause: Clause, kin: list[Kin]) -> list[Candidate]:
    """Return who the named kin and pets that a stretch mentions are to the speaker; the clause says who speaks."""
    return [_relative(clause, person, name) for person in kin for name in person.names]


def _relative(clause: Clause, kin: Kin, name: str) -> Candidate:
    attribute, value = f"relation.{kin.kind}", name
    if kin.pet:
        attribute, value = "possession.pet", f"{kin.noun} named {name}"
    if kin.pet and _DIED.search(clause.low_rest):
        return make(clause, attribute, value, f"no longer has a {kin.noun} named {name}.", polarity=-1)
    if kin.former and not kin.pet:
        return make(clause, attribute, value, f"has a former {kin.noun} named {name}.", polarity=-1)
    return make(clause, attribute, value, f"has a {kin.noun} named {name}.")


_UNION: Final = {
    **dict.fromkeys(("husband", "wife", "spouse"), "married"),
    **dict.fromkeys(("fianc\u00e9", "fianc\u00e9e", "fiance", "fiancee"), "engaged"),
    **dict.fromkeys(("boyfriend", "girlfriend"), "in a relationship"),
}


def partnered(clause: Clause) -> list[Candidate]:
    """Read from "My husband is a chef" that the speaker is married; who it is stays open, so no name is superseded."""
    kin = clause.kin
    status = _UNION.get(kin.noun) if kin and not kin.names and not kin.former else None
    if kin is None or status is None or clause.tense not in {"present", "progressive"} or clause.stopped:
        return []
    if kin.end - kin.start != len(f"my {kin.noun}"):
        return []  # "my first husband"
    own = replace(clause, subject=clause.turn.speaker, person="first", kin=None, times=())
    return [make(own, "relation.status", status, f"is {status}.", confidence=0.75)]


def having_kin(clause: Clause) -> list[Candidate]:
    """Read "I have two kids", "I have a sister named Noor", "We have three sons: Ali, Omar and Sami"."""
    if clause.tense not in {"present", "perfect"} or clause.topic:
        return []
    match = _COUNTED.match(clause.low_rest.replace(":", ","))
    if match is None:
        return []
    count, noun = match["n"], match["noun"]
    negated = clause.negated or count in {"no", "any"}
    if negated and not clause.negated and count == "any":
        return []
    kind = kind_of(noun) or {
        "twins": "child",
        "boys": "child",
        "girls": "child",
        "grandchildren": "grandchild",
        "grandkids": "grandchild",
    }.get(noun)
    if kind is None:
        return []
    names = _NAMES.match(clause.rest[match.start("names") :])
    if names and not negated:
        single = noun.removesuffix("s")
        listed = [
            found
            for name in re.split(r", (?:and )?| and ", names.group())
            for found in state(clause, f"relation.{kind}", name, "have", f"a {single} named {name}")
        ]
        return listed + _further(clause, match.start("names") + names.end())
    if clause.negated and count != "any" and kind != "child":
        return []
    value = noun if count in {"a", "an"} else f"{count} {noun}"
    attribute = "relation.children" if kind == "child" else f"relation.{kind}"
    if negated:
        none = state(clause, attribute, noun, "have", f"any {noun}" if clause.negated else f"no {noun}")
        return [replace(candidate, polarity=-1) for candidate in none]
    found = state(clause, attribute, value, "have", f"{count} {noun}")
    return found + _further(clause, match.start("names"))


def _further(clause: Clause, position: int) -> list[Candidate]:
    """Read on after "and": "two brothers and a sister"."""
    more = re.match(r",? ?and (?=an? |one |two |three |\d)", clause.rest[position:])
    if more is None:
        return []
    rest = clause.rest[position + more.end() :]
    return having_kin(replace(clause, rest=rest, low_rest=lower_same_length(rest)))


def status(clause: Clause) -> list[Candidate]:
    """Read "I'm married to Lena", "I'm single", "We've been married for five years", "I got engaged last May"."""
    if clause.topic or clause.tense in {"used_to", "future", "going_to", "can"}:
        return []
    match = _STATUS.match(clause.low_rest)
    if match is None or (clause.verb == "be" and clause.tense == "past"):
        return []
    words = re.sub(r"^(?:now|happily|newly|officially|recently|still|currently|finally|an?) ", "", match["status"])
    if re.match(r".{0,24}(?:married|engaged) to (?:my|the|an?|our|this|it)\b", clause.low_rest):
        return []
    if words == "engaged" and re.match(r".{0,12}engaged (?:in|with|by)\b", clause.low_rest):
        return []
    if (
        words == "separated"
        and " from" in clause.low_rest
        and "wife" not in clause.low_rest
        and "husband" not in clause.low_rest
    ):
        return []
    partner = _person(clause.rest[match.start("who") :]) if match["who"] else ""
    to = f" to {partner}" if partner else ""
    article = (
        "a "
        if "parent" in words
        or words.endswith(("mom", "dad", "mum", "mother", "father"))
        or (words.startswith("widow") and words != "widowed")
        else ""
    )
    if clause.verb == "get":
        found = change(clause, "relation.status", words, f"got {words}{to}")
    else:
        found = state(clause, "relation.status", words, "be", f"{article}{words}{to}")
    return found + (change(clause, "relation.partner", partner, f"is {words}{to}") if partner else [])


def _person(rest: str) -> str:
    match = _PERSON.match(rest)
    return match["name"] if match else ""


def pairing(clause: Clause) -> list[Candidate]:
    """Read "I'm dating Pilar", "I'm seeing somebody named Ann", "I married Tom"."""
    if clause.topic or clause.plural:
        return []
    person = _person(re.sub(r"^(?:someone|somebody|a (?:guy|girl|man|woman)) (?:named|called) ", "", clause.rest))
    if not person:
        return []
    if clause.verb == "date" and clause.tense in {"progressive", "perfect", "used_to"}:
        return state(clause, "relation.partner", person, "be", f"dating {person}")
    if clause.verb == "marry" and clause.tense in {"past", "perfect"}:
        return change(clause, "relation.status", "married", f"married {person}") + change(
            clause, "relation.partner", person, f"married {person}"
        )
    return []


def parting(clause: Clause) -> list[Candidate]:
    """Read "I broke up with Pilar last Saturday" and "we broke up"."""
    if clause.tense not in {"past", "perfect"} or clause.negated or clause.topic:
        return []
    match = re.match(r"up(?: with (?P<who>.{2,40}))?(?:$|[ ,.!])", clause.low_rest)
    if match is None or re.match(r"up (?:a|the|my|this|our|into|all)\b", clause.low_rest):
        return []
    person = _person(clause.rest[match.start("who") :]) if match["who"] else ""
    if person:
        return change(clause, "relation.partner", person, f"broke up with {person}", polarity=-1)
    with_whom = cut_tail(clause.rest[match.start("who") :], 5) if match["who"] else ""
    words = f"broke up with {with_whom}" if with_whom else "broke up with their partner"
    return change(clause, "relation.status", "single", words, confidence=0.75) if with_whom or clause.plural else []


_KIN_OF_MINE: Final = re.compile(
    r"(?P<name>[A-Z][\w-]{1,20}) (?:is|was)(?: also)? my (?P<adj>(?:older |younger |little |big |best "
    r"|twin )?)(?P<noun>[a-z-]{3,14})(?:$|[ ,.!])"
)


def kin_of_mine(clause: Clause) -> list[Candidate]:
    """Read "Noor is my sister"; the clause's rest is all of its words."""
    match = _KIN_OF_MINE.match(clause.rest)
    if match is None or match["name"].lower() in {
        "he",
        "she",
        "it",
        "this",
        "that",
        "they",
        "here",
        "there",
        "family",
        "what",
        "who",
    }:
        return []
    kind = kind_of(match["noun"])
    if kind is None or match["noun"].endswith("s"):
        return []
    return state(clause, f"relation.{kind}", match["name"], "have", f"a {match['noun']} named {match['name']}")


_CALLED: Final = re.compile(
    r"(?:my|our) (?P<adj>(?:best |older |younger |little |big |new |youngest "
    r"|oldest )?)(?P<noun>[a-z-]{3,14})(?:'s name is| is called"
    r"| is named|'s called|'s named) (?P<name>[A-Z][\w-]{1,20})(?:$|[ ,.!])",
    re.IGNORECASE,
)


def kin_called(clause: Clause) -> list[Candidate]:
    """Read "My best friend is called Anselm" and "My dog's name is Rex"; the clause's rest is all of its words."""
    match = _CALLED.match(clause.rest)
    if match is None or not match["name"][0].isupper():
        return []
    noun = match["noun"].lower()
    kin = find_kin(f"my {noun}", f"my {noun}", 0)
    if kin is None:
        return []
    if kin.pet:
        return state(
            clause, "possession.pet", f"{noun} named {match['name']}", "have", f"a {noun} named {match['name']}"
        )
    return state(
        clause, f"relation.{kin.kind}", match["name"], "have", f"a {match['adj'].lower()}{noun} named {match['name']}"
    )


_PARENT: Final = re.compile(
    r"(?:an? )?(?:proud |busy |new |single |working |stay-at-home ){0,2}(?:mother|father|mom|mum|dad|parent) (?:of|to)"
    r" (?P<n>one|two|three|four|five|six|\d)(?: (?:kids|children|boys|girls|sons|daughters))?(?=$|[ ,.!])"
)


def parent(clause: Clause) -> list[Candidate]:
    """Read "I'm a mother of two"."""
    if re.match(r"an only child(?:$|[ ,.!])", clause.low_rest) and clause.tense == "present" and not clause.topic:
        return state(clause, "relation.sibling", "only child", "be", "an only child")
    match = _PARENT.match(clause.low_rest)
    if match is None or clause.tense != "present" or clause.topic or clause.negated:
        return []
    return state(clause, "relation.children", f"{match['n']} children", "be", match.group())


RULES: Rules = {
    "have": (having_kin,),
    "be": (status, parent),
    "get": (status,),
    "date": (pairing,),
    "see": (pairing,),
    "marry": (pairing,),
    "break": (parting,),
    "split": (parting,),
}
