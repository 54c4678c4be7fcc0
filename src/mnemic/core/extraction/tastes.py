"""Preferences and interests: what somebody likes, hates, prefers, calls a favourite, or is into."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import (
    before_aside,
    cut_tail,
    items_of,
    points_outside,
    strip_determiner,
    to_gerund,
    value_of,
)
from mnemic.core.extraction.statements import change, make, state
from mnemic.model.memory import Candidate

_DISLIKES: Final = frozenset("hate dislike detest despise loathe".split())
_SPECIFIC: Final = re.compile(
    r"the (?!beach|ocean|sea\b|outdoors|mountains?\b|city\b|rain|cold|snow|arts|theat|gym|piano|guitar"
    r"|violin|cello|smell of|sound of"
    r"|taste of|feeling of|feel of|countryside|forest|woods|desert|sun\b"
    r"|color |colour |idea of|thrill of|challenge of|process of|art of)[a-z]"
)
_VAGUE: Final = re.compile(
    r"(?:idea|way|fact|sound of that|part|look|vibe|seeing|hearing|having|being|getting|knowing|making"
    r"|doing|thinking|feeling|color|colour"
    r"|little things|stuff|things?|place|that|trying|when|about|show|work|view|pic|photo|picture"
    r"|question|thought|concept|energy"
    r"|helping\Z|playing for fun|enthusiasm|support|attitude|spirit|dedication|design|name|too|much|like)(?:$|\W)"
)
_INTO: Final = re.compile(
    r"(?:(?:really|very|so|super|totally|huge|big|quite|pretty|getting|still|more|totally|absolutely) ){0,3}"
    r"(?:(?P<into>into|interested in|passionate about|keen on|enthusiastic about)"
    r"|(?P<fan>(?:(?:a|an|such a)(?: (?:big|huge|massive|great|real|total|lifelong|long-time|longtime"
    r"|die-hard|avid|major))* )?fans? of|fond of"
    r"|obsessed with|crazy about|nuts about|mad about|in love with|addicted to|hooked on)) (?P<what>.{2,90})"
)
_PREFER: Final = re.compile(r"(?P<one>.{2,40}?) (?:to|over|than|rather than) (?P<two>.{2,40})")
_FAVOURITE: Final = re.compile(
    r"(?:all[- ]time |absolute |personal |current )?fav(?:ou?rite|e)? (?P<what>[a-z][a-z' -]{1,30})"
)
_OF_MINE: Final = re.compile(
    r"(?:one of )?my (?:all[- ]time |absolute )?fav(?:ou?rite|e)s?(?: (?P<what>[a-z][a-z -]{1,24}))?\b"
)
_SPELLING: Final = {"color": "colour", "movie": "film", "colors": "colour", "colours": "colour"}


def taste(clause: Clause) -> list[Candidate]:
    """Read "I love hiking", "I don't like noise", "I used to enjoy chess"."""
    wanted = clause.tense in {"present", "used_to", "progressive"} or (
        clause.tense == "perfect" and bool(clause.adverbs & {"always", "never"})
    )
    if not wanted or _SPECIFIC.match(clause.low_rest) or clause.low_rest.startswith("to be "):
        return []
    phrase = to_gerund(cut_tail(clause.rest, 9))
    value = value_of(phrase, 7, owned=True)
    if not value or _VAGUE.match(value.lower()) or value.endswith((" less", " better", " most")):
        return []
    bad = clause.verb in _DISLIKES
    if bad and clause.negated:
        return []
    return [
        found
        for item in items_of(value, owned=True)
        for found in _like(clause, item, phrase if item == value and phrase.endswith(item) else item, bad=bad)
    ]


def _like(clause: Clause, value: str, shown: str, *, bad: bool) -> list[Candidate]:
    found = state(clause, "preference.like", value, clause.verb, shown)
    return [_flip(candidate) for candidate in found] if bad else found


def _flip(candidate: Candidate) -> Candidate:
    return replace(candidate, polarity=-candidate.polarity)


def cannot_stand(clause: Clause) -> list[Candidate]:
    """Read "I can't stand noise"."""
    if clause.tense != "can" or not clause.negated:
        return []
    value = value_of(to_gerund(clause.rest), 6)
    if not value or _SPECIFIC.match(clause.low_rest) or _VAGUE.match(value.lower()):
        return []
    return [
        make(
            clause,
            "preference.like",
            item,
            f"can't stand {item}.",
            polarity=-1,
        )
        for item in items_of(value)
    ]


def being_into(clause: Clause) -> list[Candidate]:
    """Read "I'm into pottery", "I'm a big fan of jazz", "I'm not interested in golf"."""
    match = _INTO.match(clause.low_rest)
    if match is None or clause.tense not in {"present", "used_to", "perfect"}:
        return []
    what = clause.rest[match.start("what") : match.end("what")]
    value = value_of(what, 6)
    if not value or _SPECIFIC.match(what.lower()) or _VAGUE.match(value.lower()):
        return []
    words = clause.low_rest[match.start() : match.start("what")].strip()
    attribute = "interest.hobby" if match["into"] else "preference.like"
    return [
        found
        for item in items_of(value)
        for found in state(clause, attribute, item, "be", f"{words} {item}", confidence=0.85)
    ]


_KIND_OF_PERSON: Final = re.compile(
    r"(?:(?:much |still )?more of |such |really |definitely |very much |not )?(?:an? )?(?:big |huge |total )?"
    r"(?P<what>cat|dog|horse|tea|coffee|beer|wine|beach|mountain|book|morning|early|night|evening) (?:person"
    r"|owl|bird)(?:$|[ ,.!])"
)
_WHOLE_KIND: Final = {"cat": "cats", "dog": "dogs", "horse": "horses", "book": "books", "mountain": "mountains"}
_HOURS: Final = {"morning": "mornings", "early": "mornings", "night": "nights", "evening": "evenings"}


def person_of(clause: Clause) -> list[Candidate]:
    """Read "I'm more of a cat person" and "I'm not a morning person"."""
    match = _KIND_OF_PERSON.match(clause.low_rest)
    if match is None or clause.tense not in {"present", "used_to"} or clause.topic:
        return []
    what, told = match["what"], match.group().strip(" ,.!")
    if what in _HOURS:
        return state(clause, "preference.prefers", _HOURS[what], "be", told, confidence=0.85)
    return state(clause, "preference.like", _WHOLE_KIND.get(what, what), "be", told, confidence=0.85)


_GATHERED: Final = re.compile(
    r"\b(?:kids|children|rents|debts|taxes|points|thoughts|payments|donations|metrics|logs)\b"
)


def collecting(clause: Clause) -> list[Candidate]:
    """Read "I collect stamps"."""
    value = cut_tail(clause.rest, 4)
    plain = re.fullmatch(r"(?!my |our |the |some |two |three )[\w' -]{3,40}s", value) is not None
    if not plain or clause.tense not in {"present", "used_to"} or points_outside(value) or _GATHERED.search(value):
        return []
    return state(clause, "interest.hobby", f"collecting {value}", "collect", value, confidence=0.85)


def preferring(clause: Clause) -> list[Candidate]:
    """Read "I prefer tea to coffee" and "I prefer trains"."""
    if clause.tense != "present" or clause.negated:
        return []
    phrase = to_gerund(cut_tail(clause.rest.replace(" than ", " to "), 10))
    match = _PREFER.fullmatch(phrase)
    first = strip_determiner(match["one"] if match else phrase)
    second = strip_determiner(match["two"]) if match else ""
    if not first or points_outside(first) or (second and points_outside(second)) or _SPECIFIC.match(phrase.lower()):
        return []
    value = f"{first} to {second}" if second else first
    return state(clause, "preference.prefers", value, "prefer", value)


def favourite(clause: Clause) -> list[Candidate]:
    """Read "My favourite colour is blue"."""
    match = _FAVOURITE.fullmatch(clause.topic)
    if match is None or clause.tense != "present":
        return []
    return _favourite(clause, match["what"], before_aside(cut_tail(clause.rest, 8)))


def favourite_of_mine(clause: Clause) -> list[Candidate]:
    """Read "Blue is my favourite colour"; the clause's rest is all of its words."""
    match = _OF_MINE.search(clause.low_rest)
    if match is None:
        return []
    before = re.fullmatch(r"(?P<what>.{2,50}?)(?: is|'s| are)(?: \w+ly| still)? ", clause.rest[: match.start()])
    if before is None or match["what"] is None or not _CLOSED.match(clause.low_rest, match.end()):
        return []
    if match.group().startswith("one of") or match.group().split()[-1] in {"so", "and", "because", "to", "for", "of"}:
        return []
    return _favourite(clause, match["what"], before["what"])


_CLOSED: Final = re.compile(r"\s{0,3}(?:$|[,.!;]|and\b|because\b|but\b|in the world\b|of all time\b|ever\b)")


def _favourite(clause: Clause, what: str, said: str) -> list[Candidate]:
    value = said if said.startswith("The ") else strip_determiner(said)
    noun = re.sub(r" (?:of all time|to \w+|right now|so far|ever)$", "", what.strip())
    if (
        not value
        or points_outside(value)
        or len(noun.split()) > 3
        or noun.split()[0] in {"part", "thing", "memory", "ones", "one"}
    ):
        return []
    if " because " in value or "favo" in value.lower() or noun in {"thing", "part", "time"}:
        return []
    last = noun.split()[-1]
    noun = " ".join([*noun.split()[:-1], _SPELLING.get(last, last)])
    attribute = f"preference.favourite.{re.sub('[^a-z]+', '_', noun)}"
    if clause.negated:
        return [make(clause, attribute, value, f"'s favourite {noun} is not {value}.", polarity=-1)]
    verb = "are" if last.endswith("s") and not last.endswith("ss") and (", " in value or " and " in value) else "is"
    return [make(clause, attribute, value, f"'s favourite {noun} {verb} {value}.")]


def hobby(clause: Clause) -> list[Candidate]:
    """Read "My hobbies are chess and climbing" and "My biggest passion is dance"."""
    if not re.fullmatch(r"(?:\w+ ){0,2}(?:hobby|hobbies|passion|passions|interests?)", clause.topic) or clause.negated:
        return []
    if clause.tense != "present":
        return []
    value = value_of(clause.rest, 8)
    return [found for item in (items_of(value) if value else []) for found in _hobby(clause, item)]


_PASSION: Final = re.compile(
    r"(?P<what>[\w' -]{3,40}?) (?:is|are) my (?:biggest |greatest |true |main |favou?rite )?(?:passion"
    r"|hobby|hobbies|passions)(?=$|[,.!]|\s(?:and|so)\b)"
)


def passion_of_mine(clause: Clause) -> list[Candidate]:
    """Read "Dance is my passion"; the clause's rest is all of its words."""
    match = _PASSION.match(clause.rest)
    value = value_of(match["what"], 4) if match else ""
    return _hobby(clause, value[0].lower() + value[1:]) if value else []


def _hobby(clause: Clause, item: str) -> list[Candidate]:
    return [make(clause, "interest.hobby", item, f"has {item} as a hobby.")]


_PLAYED: Final = re.compile(
    r"(?:the )?(?:(?:acoustic|electric|bass|classical) )?(?:guitar|piano|violin|cello|drums?|flute"
    r"|clarinet|saxophone|trumpet|ukulele|harp"
    r"|viola|accordion|keyboard|banjo|tennis|football|soccer|basketball|baseball|golf|chess|volleyball"
    r"|badminton|rugby|hockey|cricket"
    r"|squash|video games|board games|poker|bridge|table tennis|ping pong|pickleball)\b"
)


_INSTRUMENT: Final = re.compile(
    r"the (?!role|part|game|victim|fool|lottery|long|field|song|music|market|waiting|hero|blame|card"
    r"|first|next|same|latest)[a-z]{3,14}"
    r"(?=$|[,.!]|\s(?:in|and|for|at|with|every|since|too)\b)"
)


def playing(clause: Clause) -> list[Candidate]:
    """Read "I play the violin" and "I've been playing chess since 2010"."""
    if clause.tense not in {"present", "perfect", "used_to"}:
        return []
    match = _PLAYED.match(clause.low_rest) or _INSTRUMENT.match(clause.low_rest)
    if match is None:
        return []
    value = strip_determiner(clause.rest[: match.end()])
    return state(clause, "interest.hobby", f"playing {value}", "play", clause.rest[: match.end()], confidence=0.85)


def taking_up(clause: Clause) -> list[Candidate]:
    """Read "I took up pottery last year" and "I got into climbing"."""
    match = re.match(r"(?:up|into) (?P<what>.{2,60})", clause.low_rest)
    words = {"take": "up", "get": "into"}
    if match is None or clause.tense not in {"past", "perfect"} or not clause.low_rest.startswith(words[clause.verb]):
        return []
    value = value_of(clause.rest[match.start("what") :], 4)
    lead = "took up" if clause.verb == "take" else "got into"
    if not value or value.split()[0].lower() in {
        "trouble",
        "fight",
        "argument",
        "college",
        "car",
        "accident",
        "bed",
        "university",
    }:
        return []
    return change(clause, "interest.hobby", value, f"{lead} {value}", confidence=0.85)


Rules = dict[str, tuple[Callable[[Clause], list[Candidate]], ...]]
RULES: Rules = {
    **dict.fromkeys("love like enjoy adore hate dislike detest despise loathe".split(), (taste,)),
    "stand": (cannot_stand,),
    "be": (being_into, favourite, hobby, person_of),
    "collect": (collecting,),
    "prefer": (preferring,),
    "play": (playing,),
    "take": (taking_up,),
    "get": (taking_up,),
}
