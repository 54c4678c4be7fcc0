"""What somebody has: pets, vehicles, homes and things owned, bought, adopted, sold or given away."""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import cut_tail, points_outside, strip_determiner
from mnemic.core.extraction.statements import change, state
from mnemic.core.extraction.tastes import Rules
from mnemic.model.memory import Candidate

_PET: Final = re.compile(
    r"\b(?:dogs?|cats?|pupp(?:y|ies)|pups?|kittens?|kitt(?:y|ies)|rabbits?|bunn(?:y|ies)|hamsters?"
    r"|guinea pigs?|parrots?|horses?|pon(?:y|ies)|goldfish|turtles?|tortoises?|snakes?"
    r"|lizards?|geckos?|ferrets?|chickens?|hens?|goats?|parakeets?|budgies?|gerbils?|greyhounds?"
    r"|labradors?|retrievers?|beagles?"
    r"|terriers?|poodles?|huskies|husky|corgis?|dachshunds?|collies?|pitbulls?|shepherds?|spaniels?"
    r"|tabby|axolotls?|pets?|alpacas?|donkeys?)\b"
)
_VEHICLE: Final = re.compile(
    r"\b(?:car|truck|van|suv|motorcycle|motorbike|bike|bicycle|scooter|e-bike|boat|camper(?:van)?|rv"
    r"|sedan|jeep|prius|tesla|honda|toyota|ford|vespa|kayak|canoe"
    r"|\w{3,10}boat|minivan|mustang|subaru|bmw|audi|volvo|moped|trailer|skoda|fiat|volkswagen)s?\b"
)
_HOME: Final = re.compile(
    r"\b(?:house|apartment|flat|condo|cottage|cabin|farm|home|land|townhouse|duplex|villa|houseboat)\b"
)
_THING: Final = re.compile(
    r"\b(?:guitar|piano|violin|keyboard|drum(?: kit| set)?|camera|laptop|computer|phone|tablet"
    r"|telescope|sewing machine|console|playstation|xbox|switch"
    r"|tent|surfboard|skateboard|snowboard|skis|drone|collection|record player|kiln|loom|printer"
    r"|treadmill|cello|ukulele|tattoo|banjo"
    r"|accordion|harp|flute|trumpet|saxophone|necklace|watch|ring|garden|greenhouse|hot tub|pool|boots"
    r"|shoes|turntable|figurines?)s?\b"
)
_OBJECT: Final = re.compile(
    r"(?P<det>(?:an?|my|our|two|three|four|five|six|some|this|\d{1,2}|one|another)(?: (?:own|very own"
    r"|very first|first|new|brand new|used|second|couple of|pair of))?) "
    r"(?P<what>[^,;.!?]{2,70})"
)
_NAMED: Final = re.compile(
    r"(?:,? (?:named|called) |, |: |\s\()(?P<names>[A-Z][\w'-]{1,20}(?:(?:, (?:and )?| and "
    r"|,? & )[A-Z][\w'-]{1,20}){0,6})(?=$|[.,!;)]|\s)"
)
_NOT_THINGS: Final = re.compile(
    r"\b(?:milk|bread|eggs?|fruit|apples?|bananas?|beers?|wine|chocolate|cake|ice cream|sandwich"
    r"|burger|salad|cookies?|tea|lunch|dinner|breakfast|tickets?|food|groceries|drinks?|coffee|feeling"
    r"|time|chance|idea|plan"
    r"|lot|bit|few|gifts?|presents?|round|break|chat|talk|look|call|job|new one|one"
    r"|experience|message|email|letter|kick|hug|smile|card|stuff|things?|snacks?|flowers|pizza|meal|it|them|some)\b"
)


def _kind_of(what: str) -> str | None:
    """Return the attribute of the head of a noun phrase: its last words before "for", "with", "in" and the like."""
    head = re.split(r"\s(?:for|with|in|from|at|on|of|to|near|by|outside|named|called|that|who|and)\s", what.lower())[0]
    last = " ".join(head.split()[-2:])
    if _BRAND.search(head):
        return "possession.vehicle"
    for pattern, attribute in (
        (_PET, "possession.pet"),
        (_VEHICLE, "possession.vehicle"),
        (_HOME, "possession.home"),
        (_THING, "possession.item"),
    ):
        found = list(pattern.finditer(last))
        if found and found[-1].end() == len(last):
            return attribute
    return None


def _object(clause: Clause, lead: str = "") -> tuple[str, str, str] | None:
    """Return the determiner, the noun phrase, and the names after it."""
    rest = clause.rest.removeprefix(lead)
    match = _OBJECT.match(rest)
    if match is None:
        match_bare = re.match(r"(?P<what>[^,;.!?]{2,70})", rest) if clause.verb in {"sell", "own"} else None
        if match_bare is None:
            return None
        return "", cut_tail(match_bare["what"], 7), ""
    what = cut_tail(match["what"], 9)
    named = _NAMED.search(rest[match.start("what") :])
    names = named["names"] if named else ""
    what = re.split(r",? (?:named|called) | \(", what)[0]
    return match["det"], what, names


def _value(what: str, names: str) -> str:
    what = re.split(r"\s(?:for|from|at|on|with|in|to)\s", what)[0]
    return f"{what} named {names}" if names else what


_BRAND: Final = re.compile(
    r"\b(?:tesla|honda|toyota|ford|vespa|subaru|bmw|audi|volvo|skoda|fiat|volkswagen|vw|mazda|nissan"
    r"|hyundai|kia|jeep|chevy"
    r"|mercedes|renault|peugeot|harley)\b"
)


def driving(clause: Clause) -> list[Candidate]:
    """Read "I drive a Tesla"."""
    match = re.match(r"an? (?P<what>[^,;.!?]{2,40})", clause.rest)
    what = cut_tail(match["what"], 5) if match else ""
    if clause.tense not in {"present", "used_to"} or clause.topic or clause.negated or "bargain" in what:
        return []
    if not (_BRAND.search(what.lower()) or _kind_of(what) == "possession.vehicle"):
        return []
    return state(clause, "possession.vehicle", _value(what, ""), "drive", f"a {what}", confidence=0.8)


def having(clause: Clause) -> list[Candidate]:
    """Read "I have a dog named Rex", "we have two cats, Miso and Nori", "I own a sailboat"."""
    if clause.topic or clause.tense not in {"present", "used_to", "perfect"}:
        return []
    found = _object(clause)
    if found is None:
        if clause.negated and clause.verb in {"have", "own"}:
            return _having_none(clause)
        return []
    determiner, what, names = found
    attribute = _kind_of(what)
    if (
        attribute is None
        and clause.verb == "own"
        and determiner in {"a", "an"}
        and not _NOT_THINGS.search(what.lower())
    ):
        attribute = "possession.item"
    if attribute is None or (clause.verb == "have" and clause.tense == "perfect") or points_outside(what):
        return []
    if _VERB_AFTER.search(what.lower()) or determiner.split()[0] in {"my", "our", "this"}:
        return []
    return _owned(clause, attribute, determiner, what, names)


def being_owned(clause: Clause) -> list[Candidate]:
    """Read "My car is a blue Fiat Panda" and "My dog is a beagle"."""
    match = re.fullmatch(
        r"(?:\w+ )?(?P<noun>car|bike|truck|van|boat|motorcycle|dog|cat|horse|rabbit|puppy|kitten)", clause.topic
    )
    if match is None or clause.negated or clause.tense != "present" or not re.match(r"an? ", clause.low_rest):
        return []
    what = re.split(r"\s(?:with|from|for|in|and)\s", cut_tail(clause.rest, 8))[0]
    attribute = _kind_of(match["noun"])
    if attribute is None or re.search(
        r"\b(?:bit|lot|mess|good|great|total|real|huge|big|part|handful|blast|joy)\b", what
    ):
        return []
    return state(clause, attribute, strip_determiner(what), "have", what)


_VERB_AFTER: Final = re.compile(r"\b(?:to|that|coming|party|show|appointment|problem|race|trip|food|lover|person)\b")


def _having_none(clause: Clause) -> list[Candidate]:
    match = re.match(r"(?:a|an|any) (?P<what>[\w -]{2,30})", clause.low_rest)
    attribute = _kind_of(match["what"]) if match else None
    if match is None or attribute is None:
        return []
    return state(clause, attribute, match["what"], clause.verb, match.group())


def _owned(clause: Clause, attribute: str, determiner: str, what: str, names: str) -> list[Candidate]:
    count = re.sub(r"\b(?:my|our|own|some|this|an?|one|another|a pair of)\b ?", "", determiner).strip()
    if not names and re.search(r"^[\w -]{2,20} and an? [\w -]{2,20}$", what):
        both = what.replace(" and an ", " and a ").split(" and a ")
        return [
            found
            for one in both
            for found in state(
                clause, _kind_of(one) or attribute, one, "have", one if one.endswith("s") else f"a {one}"
            )
        ]
    listed = re.split(r", (?:and )?| and |,? & ", names) if names else []
    if len(listed) > 1:
        single = _singular(_value(what, ""))
        return [
            found
            for name in listed
            for found in state(clause, attribute, f"{single} named {name}", "have", f"a {single} named {name}")
        ]
    value = _value(f"{count} {what}".strip(), names)
    shown = f"{determiner} {_value(what, names)}"
    return state(clause, attribute, value, clause.verb, shown)


def _singular(noun: str) -> str:
    words = noun.split()
    last = words[-1]
    if last.endswith("ies"):
        last = last[:-3] + "y"
    elif last.endswith("s") and not last.endswith("ss"):
        last = last[:-1]
    return " ".join([*words[:-1], last])


_GAINED: Final = {
    "buy": "bought",
    "get": "got",
    "adopt": "adopted",
    "purchase": "purchased",
    "rescue": "rescued",
    "rent": "rented",
    "build": "built",
}


def gaining(clause: Clause) -> list[Candidate]:
    """Read "I bought a red bike", "we adopted a puppy named Rex", "I got a new car last week"."""
    if clause.topic or clause.negated or clause.tense not in {"past", "perfect"}:
        return []
    found = _object(clause, "myself " if clause.rest.startswith("myself ") else "")
    if found is None:
        return []
    determiner, what, names = found
    attribute = _kind_of(what)
    if attribute is None and clause.verb in {"adopt", "rescue"} and names:
        attribute = "possession.pet"
    counted = determiner.split()[0] not in {"a", "an", "my", "our", "this", "another", "one"}
    if (
        attribute is None
        and clause.verb in {"buy", "purchase"}
        and not counted
        and not _NOT_THINGS.search(what.lower())
    ):
        attribute = "possession.item"
    if (
        attribute is None
        or not what
        or points_outside(what)
        or (determiner.startswith("this") and not _is_pet(clause, attribute))
    ):
        return []
    if clause.verb == "rent" or (clause.verb == "adopt" and attribute != "possession.pet"):
        return []
    if re.search(r"\bfor (?:my|our|her|his|him|them|the)\b", what.lower()) and attribute == "possession.item":
        return []
    verb = _GAINED[clause.verb]
    listed = re.split(r", (?:and )?| and |,? & ", names) if names else []
    if len(listed) > 1:
        single = _singular(what)
        return [
            found
            for name in listed
            for found in change(clause, attribute, f"{single} named {name}", f"{verb} a {single} named {name}")
        ]
    shown = f"{determiner.replace('this', 'a')} {what}" + (f" named {names}" if names else "")
    return change(clause, attribute, _value(what, names), f"{verb} {shown}")


def _is_pet(clause: Clause, attribute: str) -> bool:
    """Tell whether "this" only points at a new pet: "I adopted this cute pup last week"."""
    return attribute == "possession.pet" and clause.verb in {"adopt", "get", "rescue"}


def losing(clause: Clause) -> list[Candidate]:
    """Read "I sold my car" and "I gave away my piano"."""
    if clause.topic or clause.negated or clause.tense not in {"past", "perfect"}:
        return []
    lead = "away " if clause.verb == "give" else ""
    if lead and not clause.rest.startswith(lead):
        return []
    rest = clause.rest.removeprefix(lead)
    match = re.match(r"(?:my|our) (?P<what>[^,;.!?]{2,50})", rest)
    if match is None:
        return []
    what = cut_tail(match["what"], 6)
    attribute = _kind_of(what)
    if attribute is None:
        return []
    value = strip_determiner(_value(what, ""))
    verb = "sold" if clause.verb == "sell" else "gave away"
    value = re.sub(r"^(?:old|used|first|beloved) ", "", value)
    return change(clause, attribute, value, f"{verb} their {what}", polarity=-1)


RULES: Rules = {
    "have": (having,),
    "own": (having,),
    "be": (being_owned,),
    "drive": (driving,),
    **dict.fromkeys(_GAINED, (gaining,)),
    "sell": (losing,),
    "give": (losing,),
}
