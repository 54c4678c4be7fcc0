"""Health and diet: allergies, conditions, injuries, and what somebody does not eat, drink or smoke."""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import cut_tail, items_of, points_outside, strip_determiner, value_of
from mnemic.core.extraction.statements import change, make, state
from mnemic.core.extraction.tastes import Rules
from mnemic.model.memory import Candidate

_ALLERGIC: Final = re.compile(r"(?:\w+ )?allergic to (?P<what>.{2,60})")
_ALLERGY: Final = re.compile(
    r"(?:an? )?(?:severe |bad |mild |serious |terrible |slight )?(?P<what>[\w -]{3,30}?) allerg(?:y|ies)\b"
)
_ALLERGY_TO: Final = re.compile(r"(?:an? )?(?:\w+ )?allerg(?:y|ies) to (?P<what>.{2,50})")
_DIET: Final = re.compile(
    r"(?:an? )?(?:strict |committed |lifelong |mostly |fully |completely |total )?(?P<kind>vegetarian"
    r"|vegan|pescatarian|flexitarian|gluten[- ]free|dairy[- ]free|keto|paleo"
    r"|kosher|halal|teetotal(?:l?er)?|plant-based|lactose[- ]intolerant|gluten[- ]intolerant|coeliac"
    r"|celiac|sober)(?:$|[ ,.!])"
)
_CONDITION: Final = re.compile(
    r"(?P<what>(?:(?:type [12]|high|low|chronic|severe|mild|seasonal|generali[sz]ed|social|clinical"
    r"|postpartum|rheumatoid) ){0,2}(?:asthma|diabetes|adhd|add|autism"
    r"|anxiety|depression|migraines?|arthritis|epilepsy|insomnia|ptsd|ocd|hypertension|blood pressure"
    r"|cholesterol|eczema|psoriasis"
    r"|fibromyalgia|endometriosis|lupus|crohn's(?: disease)?|ibs|celiac disease|coeliac disease"
    r"|dyslexia|tinnitus|scoliosis|gout"
    r"|anemia|anaemia|hypothyroidism|sleep apn(?:o)?ea|bipolar disorder|cancer|long covid|back pain"
    r"|anxiety disorder|vertigo"
    r"|[a-z]+ (?:syndrome|disorder|disease)|lactose intoleran(?:t|ce)|hay fever))\b"
)
_BEING: Final = re.compile(
    r"(?:an? )?(?P<what>(?:type [12] )?diabetic|asthmatic|deaf|blind|colou?r-?blind|autistic|dyslexic"
    r"|epileptic|bipolar|left-handed|pregnant|claustrophobic|agoraphobic|arachnophobic|insomniac)(?:$|[ ,.!])"
)
_BODY: Final = (
    r"(?:leg|arm|ankle|wrist|knee|foot|toe|finger|nose|back|hip|shoulder|collarbone|rib|ribs|elbow"
    r"|hand|neck|acl|hamstring|calf|achilles|thumb|heel"
    r"|meniscus|ligament|tendon|jaw|tooth|muscle|groin)"
)
_INJURY: Final = re.compile(rf"(?P<what>my (?:left |right |lower |upper |big |little )?{_BODY})\b")
_INJURING: Final = {
    "break": "broke", "sprain": "sprained", "fracture": "fractured", "tear": "tore", "twist": "twisted",
    "injure": "injured",
    "hurt": "hurt", "dislocate": "dislocated", "pull": "pulled", "strain": "strained",
}  # fmt: skip
_BROKEN: Final = {"break": "broken", "tear": "torn", "hurt": "hurt"}
_FOOD_STOP: Final = frozenset(
    "right anything now much out breakfast lunch dinner well healthy healthily enough much alone "
    "late early here there together clean".split()
)


def being_unwell(clause: Clause) -> list[Candidate]:
    """Read allergies, diets and conditions after "I am"."""
    if clause.tense not in {"present", "used_to", "perfect"} or clause.topic:
        return []
    match = _ALLERGIC.match(clause.low_rest)
    if match is not None:
        return _allergies(clause, clause.rest[match.start("what") :])
    match = _DIET.match(clause.low_rest)
    if match is not None:
        words = clause.low_rest[: match.end("kind")]
        return state(clause, "diet.kind", match["kind"].replace("-", " ").replace("coeliac", "celiac"), "be", words)
    match = _BEING.match(clause.low_rest)
    if match is not None:
        return state(clause, "health.condition", match["what"], "be", clause.low_rest[: match.end("what")])
    match = re.match(r"(?:recently |just )?diagnosed with (?P<what>.{3,50})", clause.low_rest)
    return _diagnosis(clause, clause.rest[match.start("what") :]) if match and clause.tense == "perfect" else []


_AFRAID: Final = re.compile(
    r"(?:really |so |very |deathly |absolutely |quite |pretty |a bit |still )?(?:scared|afraid|terrified"
    r"|frightened|petrified|phobic)"
    r"(?: to death)? (?:of|about) (?P<what>.{3,50})"
)
_NO_FEAR: Final = re.compile(
    r"(?:losing|being|making|failing|getting|becoming|missing|hurting|letting|having|doing|saying|telling|not"
    r"|my|our|their"
    r"|his|her|what|how|asking|change|success|commitment|rejection)\b"
)


def afraid(clause: Clause) -> list[Candidate]:
    """Read "I'm scared of heights" and "I'm terrified of spiders and needles"."""
    match = _AFRAID.match(clause.low_rest)
    if match is None or clause.tense not in {"present", "used_to", "perfect"} or clause.topic:
        return []
    return _fears(clause, match, "be")


def _fears(clause: Clause, match: re.Match[str], verb: str) -> list[Candidate]:
    value = value_of(clause.rest[match.start("what") :], 4)
    if not value or _NO_FEAR.match(value.lower()) or _NO_FEAR.match(match["what"]) or _SPECIFIC.match(match["what"]):
        return []
    words = match.group()[: match.start("what") - match.start()].strip()
    return [
        found for item in items_of(value) for found in state(clause, "health.phobia", item, verb, f"{words} {item}")
    ]


_SPECIFIC: Final = re.compile(r"(?:the (?!dark|sea|ocean|water|dentist|deep)|this|that|these|those)")


def _allergies(clause: Clause, said: str) -> list[Candidate]:
    value = value_of(said, 8)
    if not value or re.search(
        r"(?i)\b(?:\w+days?|work|people|drama|mornings|fun|exercise|math|cooking|housework)\b", value
    ):
        return []
    return [
        found
        for item in items_of(value)
        for found in state(clause, "health.allergy", item, "be", f"allergic to {item}", confidence=0.95)
    ]


def diagnosed(clause: Clause) -> list[Candidate]:
    """Read "I was diagnosed with asthma last year" and "I got diagnosed with ADHD"."""
    match = re.match(r"(?:recently |just )?diagnosed with (?P<what>.{3,50})", clause.low_rest)
    if match is None or clause.tense != "past" or clause.topic:
        return []
    return _diagnosis(clause, clause.rest[match.start("what") :])


def _diagnosis(clause: Clause, said: str) -> list[Candidate]:
    value = value_of(said, 5)
    return change(clause, "health.condition", value, f"was diagnosed with {value}") if value else []


_COUNTABLE: Final = re.compile(r"((?:nut|egg|cat|dog|almond|cashew|pistachio|horse|mushroom)\Z)", re.IGNORECASE)
"""What "a peanut allergy" is against: peanuts."""


def having_condition(clause: Clause) -> list[Candidate]:
    """Read "I have asthma", "I have a peanut allergy", "I suffer from migraines"."""
    if clause.tense not in {"present", "perfect", "used_to"} or clause.topic:
        return []
    low = clause.low_rest
    allergy = _ALLERGY_TO.match(low) or (_ALLERGY.match(low) if clause.verb == "have" else None)
    if allergy is not None:
        what = _COUNTABLE.sub(r"\1s", clause.rest[allergy.start("what") : allergy.end("what")])
        return [] if what.lower() in {"any", "no", "some", "food"} else _allergies(clause, what)
    fear = re.match(r"an? (?:[a-z]+ )?(?:fear|phobia) of (?P<what>.{3,40})", low)
    if fear is not None and clause.verb == "have":
        return _fears(clause, fear, "have")
    start = re.match(r"(?:from )?(?:an? |my |some |really |bad |terrible |severe ){0,2}", low)
    match = _CONDITION.match(low, start.end() if start else 0)
    if match is None:
        return []
    said = clause.rest[match.start("what") : match.end("what")]
    tail = f"from {said}" if clause.verb == "suffer" else said
    return state(clause, "health.condition", said, clause.verb, tail)


def injured(clause: Clause) -> list[Candidate]:
    """Read "I broke my leg last week" and "I've sprained my ankle"."""
    if clause.tense not in {"past", "perfect"} or clause.negated or clause.topic:
        return []
    match = _INJURY.match(clause.low_rest)
    if match is None:
        return []
    verb = _INJURING[clause.verb]
    part = match["what"].removeprefix("my ")
    return change(clause, "health.injury", f"{_BROKEN.get(clause.verb, verb)} {part}", f"{verb} their {part}")


def consuming(clause: Clause) -> list[Candidate]:
    """Read "I don't eat meat anymore", "I can't have gluten", "I never drink", "I used to smoke"."""
    if clause.topic or clause.tense not in {"present", "can", "used_to"}:
        return []
    if clause.verb == "smoke":
        return state(clause, "habit.regular", "smoking", "smoke", "") if not clause.rest else []
    if not (clause.negated or clause.tense == "used_to" or clause.stopped):
        return []
    if clause.verb == "have" and clause.tense != "can":
        return []
    if clause.verb == "drink" and (not clause.rest or clause.low_rest == "alcohol"):
        return _consumes(clause, "alcohol")
    value = value_of(clause.rest, 5)
    if not value or value.split()[0].lower() in _FOOD_STOP:
        return []
    return [found for item in items_of(value.replace(" or ", " and ")) for found in _consumes(clause, item)]


def _consumes(clause: Clause, item: str) -> list[Candidate]:
    if clause.tense == "can":
        verb = "have" if clause.verb == "have" else clause.verb
        return (
            [
                make(
                    clause,
                    "diet.consumes",
                    item,
                    f"can't {verb} {item}.",
                    polarity=-1,
                )
            ]
            if clause.negated
            else []
        )
    return state(clause, "diet.consumes", item, clause.verb, item)


def stopping(clause: Clause) -> list[Candidate]:
    """Read "I quit smoking", "I stopped eating meat", "I gave up sugar", "I cut out dairy"."""
    if clause.tense not in {"past", "perfect"} or clause.negated or clause.topic:
        return []
    rest = cut_tail(clause.rest, 8)
    word = {"quit": "quit", "stop": "stopped", "give": "gave up", "cut": "cut out"}[clause.verb]
    if clause.verb in {"give", "cut"}:
        lead = "up " if clause.verb == "give" else "out "
        if not rest.startswith(lead):
            return []
        rest = rest[len(lead) :]
    value = strip_determiner(rest)
    if (
        not value
        or points_outside(value)
        or re.match(
            r"(?:job|hope|dream|trying|at|by|the|on|in|to|working|being|seeing|worrying|for|because|and)\b", value
        )
    ):
        return []
    eating = re.match(r"(?:eating|drinking|having|consuming) (?P<what>.+)", value)
    if eating or clause.verb == "cut" or _FOOD.search(value.lower()):
        item = eating["what"] if eating else value
        return change(clause, "diet.consumes", strip_determiner(item), f"{word} {rest}", polarity=-1)
    if clause.verb in {"quit", "stop"} and not value.split()[0].endswith("ing"):
        return []
    value = "drinking alcohol" if value == "drinking" else value
    if value == "drinking alcohol":
        return change(clause, "diet.consumes", "alcohol", f"{word} {rest}", polarity=-1)
    return change(clause, "habit.regular", value, f"{word} {rest}", polarity=-1, confidence=0.8)


_FOOD: Final = re.compile(
    r"\b(?:meat|dairy|sugar|gluten|alcohol|coffee|caffeine|soda|bread|carbs|milk|cheese|eggs|fish|pork"
    r"|beef|chicken|wine|beer|chocolate|sweets|candy|junk food|fast food|snacks|processed food)\b"
)


def turning_to(clause: Clause) -> list[Candidate]:
    """Read "I went vegan in January" and "I became a vegetarian"."""
    match = _DIET.match(clause.low_rest)
    if match is None or clause.tense not in {"past", "perfect"} or clause.negated or clause.topic:
        return []
    verb = {"go": "went", "become": "became", "turn": "turned"}[clause.verb]
    return change(
        clause, "diet.kind", match["kind"].replace("-", " "), f"{verb} {clause.low_rest[: match.end('kind')]}"
    )


_MEDICINE: Final = re.compile(r"(?P<drug>[\w-]{4,20}(?: [\w-]{3,20})?) for (?:my |the )?(?P<what>[\w' -]{3,30})")


def medicated(clause: Clause) -> list[Candidate]:
    """Read "I take metformin for my diabetes"."""
    match = _MEDICINE.match(clause.low_rest)
    if match is None or clause.tense not in {"present", "used_to"} or clause.topic or clause.negated:
        return []
    condition = _CONDITION.match(match["what"])
    if condition is None or match["drug"].split()[0] in {"some", "time", "medication", "pills", "meds", "something"}:
        return []
    drug, what = clause.rest[: match.end("drug")], condition["what"]
    found = state(clause, "health.medication", drug, "take", f"{drug} for {what}")
    return found + state(clause, "health.condition", what, "have", what) if clause.tense == "present" else found


RULES: Rules = {
    "be": (being_unwell, diagnosed, afraid),
    "get": (diagnosed,),
    "take": (medicated,),
    "have": (having_condition, consuming),
    "suffer": (having_condition,),
    **dict.fromkeys(_INJURING, (injured,)),
    **dict.fromkeys(("eat", "drink", "smoke"), (consuming,)),
    **dict.fromkeys(("quit", "stop", "give", "cut"), (stopping,)),
    **dict.fromkeys(("go", "become", "turn"), (turning_to,)),
}
