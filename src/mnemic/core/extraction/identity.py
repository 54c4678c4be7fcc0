"""Who somebody is: name, age, birthday, origin, nationality, gender, faith, and the languages they speak or learn."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import as_name, before_aside, cut_tail, is_name, strip_determiner
from mnemic.core.extraction.statements import change, make, state
from mnemic.core.extraction.tastes import Rules
from mnemic.core.temporal_words import NUMBERS
from mnemic.model.memory import Candidate

_NATION: Final = re.compile(
    r"(?:half[- ])?(?P<nation>afghan|albanian|algerian|american|argentin(?:e|ian)|armenian|australian"
    r"|austrian|bangladeshi|basque|belgian"
    r"|bolivian|brazilian|british|bulgarian|cambodian|canadian|catalan|chilean|chinese|colombian"
    r"|croatian|cuban|czech|danish|dominican"
    r"|dutch|ecuadorian|egyptian|english|estonian|ethiopian|filipino|filipina|finnish|french|georgian"
    r"|german|ghanaian|greek|guatemalan"
    r"|haitian|hungarian|icelandic|indian|indonesian|iranian|iraqi|irish|israeli|italian|jamaican"
    r"|japanese|jordanian|kenyan|korean"
    r"|south korean|kurdish|latvian|lebanese|lithuanian|malaysian|maltese|mexican|mongolian|moroccan"
    r"|nepali|nepalese|new zealander"
    r"|nigerian|norwegian|pakistani|palestinian|peruvian|polish|portuguese|puerto rican|romanian"
    r"|russian|scottish|senegalese|serbian"
    r"|singaporean|slovak|slovenian|somali|south african|spanish|sri lankan|sudanese|swedish|swiss"
    r"|syrian|taiwanese|thai|tunisian"
    r"|turkish|ugandan|ukrainian|uruguayan|venezuelan|vietnamese|welsh|zimbabwean)(?:$|[ ,.!]+(?:and"
    r"|but|by birth|citizen)?(?:$|\s))"
)
_LANGUAGE: Final = re.compile(
    r"(?:afrikaans|albanian|amharic|arabic|armenian|basque|bengali|bulgarian|cantonese|catalan|chinese"
    r"|croatian|czech|danish|dutch|english"
    r"|esperanto|estonian|farsi|finnish|french|gaelic|galician|georgian|german|greek|gujarati|hebrew"
    r"|hindi|hungarian|icelandic"
    r"|indonesian|irish|italian|japanese|korean|kurdish|latin|latvian|lithuanian|malay|maltese"
    r"|mandarin|marathi|mongolian|nepali"
    r"|norwegian|persian|polish|portuguese|punjabi|romanian|russian|serbian|sign language|slovak"
    r"|slovenian|somali|spanish|swahili"
    r"|swedish|tagalog|tamil|telugu|thai|turkish|ukrainian|urdu|vietnamese|welsh|yiddish|yoruba|zulu)\b"
)
_NUMBER: Final = "|".join(word for word in NUMBERS if len(word) > 2)
_AGE: Final = re.compile(
    rf"(?P<age>\d{{1,3}}"
    rf"|(?:{_NUMBER})(?:[- ](?:{_NUMBER}))?)(?P<years>[- ]years?(?:[- ]old)?(?: of age)?)?(?= now|$"
    rf"|[ ,.!]*$| and\b| but\b|,)"
)
_FROM: Final = re.compile(r"(?:originally |actually |really |also )?from (?P<where>.{2,60})")
_GENDER: Final = re.compile(
    r"(?:an? )?(?P<gender>(?:trans(?:gender)?|cis(?:gender)?) (?:woman|man)|transgender|trans|non-?binary"
    r"|genderfluid|agender)(?: person)?(?:$|[ ,.!])"
)
_FAITH: Final = re.compile(
    r"(?:an? )?(?:practi[cs]ing )?(?P<faith>christian|catholic|protestant|muslim|jewish|hindu|buddhist"
    r"|sikh|atheist|agnostic|mormon|quaker)(?:$|[ ,.!])"
)
_PRONOUNS: Final = re.compile(r"(?P<pronouns>(?:he|she|they|ze|xe)/(?:him|her|hers|them|they|she|he|zir)(?:/\w{2,6})?)")


def being(clause: Clause) -> list[Candidate]:
    """Read age, origin, nationality, gender, faith and fluency after "I am"."""
    if clause.tense not in {"present", "used_to"} or clause.topic:
        return []
    rest = clause.low_rest
    for pattern, read in ((_AGE, _age), (_FROM, _origin), (_NATION, _nation), (_GENDER, _gender), (_FAITH, _faith)):
        match = pattern.match(rest)
        if match is not None:
            return read(clause, match)
    return _fluent(clause)


_GREETING: Final = re.compile(
    r"\b(?:hi|hello|hey|greetings|good (?:morning|evening|afternoon)|(?:nice|pleased) to meet you)\b"
)


_GIVEN: Final = re.compile(
    r"(?!(?:Back|Here|New|Just|Home|Not|So|Fine|Good|Great|Sorry|In|At|On|The)\b)"
    r"(?P<name>[A-Z][a-z'-]{1,20}(?: [A-Z][a-z'-]{1,20})?)(?=$|[,.!]| and\b| from\b)"
)


def introduced(clause: Clause) -> list[Candidate]:
    """Read "Hi, I'm Marta": a name right after a greeting."""
    name = _GIVEN.match(clause.rest)
    if name is None or clause.tense != "present" or clause.person != "first" or clause.negated or clause.topic:
        return []
    greeted = _GREETING.search(clause.turn.low, max(0, clause.start - 20), clause.verb_start)
    known = _NATION.match(clause.low_rest) or _FAITH.match(clause.low_rest) or name["name"] == clause.turn.speaker
    if greeted is None or known:
        return []
    return state(clause, "identity.name", name["name"], "be", f"called {name['name']}", confidence=0.8)


def _age(clause: Clause, match: re.Match[str]) -> list[Candidate]:
    words = match["age"].replace("-", " ").split()
    age = int(words[0]) if words[0].isdigit() else sum(NUMBERS[word] for word in words)
    if (
        not 1 <= age <= 120
        or clause.negated
        or clause.tense != "present"
        or (not match["years"] and age < 5 and clause.kin is None)
    ):
        return []
    return state(clause, "identity.age", str(age), "be", f"{age} years old")


def _origin(clause: Clause, match: re.Match[str]) -> list[Candidate]:
    where = cut_tail(clause.rest[match.start("where") :], 5)
    where = re.split(r",? and | but |, (?=[a-z])", where)[0]
    where = as_name(where, clause.turn.text)
    town = re.match(r"an? (?:\w+ )?(?:town|village|city|suburb|island) (?:in|near|called|outside) [A-Z]", where)
    if not where or not (is_name(where) or town) or where in {"IT", "HR", "PR", "QA"}:
        return []
    return state(clause, "identity.origin", strip_determiner(where), "be", f"from {where}")


def _nation(clause: Clause, match: re.Match[str]) -> list[Candidate]:
    nation = clause.rest[match.start("nation") : match.end("nation")]
    return state(clause, "identity.nationality", nation, "be", nation) if nation[:1].isupper() else []


def _gender(clause: Clause, match: re.Match[str]) -> list[Candidate]:
    words = clause.rest[: match.end("gender")]
    return state(clause, "identity.gender", match["gender"], "be", words)


def _faith(clause: Clause, match: re.Match[str]) -> list[Candidate]:
    words = clause.rest[: match.end("faith")]
    return state(clause, "identity.religion", words[match.start("faith") :], "be", words)


def _fluent(clause: Clause) -> list[Candidate]:
    match = re.match(r"(?:\w+ )?fluent in ", clause.low_rest)
    return _languages(clause, "language.speaks", match.end(), "speak") if match else []


def _languages(clause: Clause, attribute: str, start: int, verb: str) -> list[Candidate]:
    found: list[Candidate] = []
    for match in _LANGUAGE.finditer(clause.low_rest, start, start + 80):
        name = clause.rest[match.start() : match.end()]
        if clause.low_rest[: match.start()].endswith((" a ", " an ", "my ", "the ")):
            continue  # "with a Welsh accent"
        if name[0].isupper() or name == "sign language":
            found += state(clause, attribute, name, verb, name)
    return found


_COUNTED: Final = re.compile(
    r"(?:\w+|a few|a couple of) (?:different )?languages?(?: fluently| at home)?(?:[:,(-]| -)? ?"
)


def speaking(clause: Clause) -> list[Candidate]:
    """Read "I speak Basque and Spanish" and "I can't speak Welsh"."""
    if clause.tense not in {"present", "can", "used_to"}:
        return []
    match = re.match(
        r"(?:(?:a (?:little|bit of)|some|basic|fluent|both|only|good|decent|\w+ly) ){0,2}", clause.low_rest
    )
    start = match.end() if match else 0
    counted = _COUNTED.match(clause.low_rest)
    start = counted.end() if counted else start
    return _languages(clause, "language.speaks", 0, "speak") if _LANGUAGE.match(clause.low_rest, start) else []


def learning(clause: Clause) -> list[Candidate]:
    """Read "I'm learning Welsh" and "I've been learning Welsh since 2022"."""
    start = re.match(r"(?:(?:to speak|some|how to speak) )?", clause.low_rest)
    ongoing = clause.tense in {"progressive", "present", "used_to"} or (clause.tense == "perfect" and clause.time)
    if not ongoing or start is None or not _LANGUAGE.match(clause.low_rest, start.end()):
        return []
    return _languages(clause, "language.learning", start.end(), "learn")


def named(clause: Clause) -> list[Candidate]:
    """Read "My name is Ottilie Brandt", "My birthday is on 9 May", "My pronouns are they/them"."""
    if clause.negated or clause.tense != "present" or clause.person != "first" or not clause.topic:
        return []
    if clause.topic in {"name", "full name", "real name", "first name"}:
        name = re.match(r"(?:[A-Z][\w'\u2019-]{0,30}\s?){1,4}", clause.rest)
        value = name.group().strip() if name else ""
        return state(clause, "identity.name", value, "be", f"called {value}")
    if clause.topic == "nickname":
        value = cut_tail(clause.rest, 3)
        return state(clause, "identity.nickname", value, "be", f"nicknamed {value}")
    if clause.topic == "pronouns":
        match = _PRONOUNS.match(clause.low_rest)
        return (
            state(clause, "identity.pronouns", match["pronouns"], "use", f"{match['pronouns']} pronouns")
            if match
            else []
        )
    if clause.topic == "birthday":
        return _birthday(clause)
    return _native(clause)


def _native(clause: Clause) -> list[Candidate]:
    if clause.topic in {"first language", "native language", "mother tongue", "native tongue"}:
        return _languages(clause, "language.speaks", 0, "speak")
    if clause.topic == "nationality":
        value = cut_tail(clause.rest, 2)
        return state(clause, "identity.nationality", value, "be", value)
    return []


def _birthday(clause: Clause) -> list[Candidate]:
    span = clause.time.span if clause.time else None
    if span is None or span.start is None or span.end is None or span.end - span.start > timedelta(days=1):
        return []
    value = f"{span.start.day} {span.start:%B}"
    return [make(clause, "identity.birthday", value, f"'s birthday is on {value}.")]


def _town(said: str) -> str:
    where = before_aside(re.split(r",? and | but ", cut_tail(said, 12))[0])
    return where if where and is_name(where) and len(where.split()) <= 5 else ""


def born(clause: Clause) -> list[Candidate]:
    """Read "I was born in Tbilisi in 1988" and "I was raised in Ghana"."""
    match = re.match(
        r"(?:born(?: and raised)?|(?P<raised>raised|brought up))(?: (?:in|at) (?P<where>.{2,50}))?", clause.low_rest
    )
    if match is None or clause.tense != "past" or clause.negated or clause.topic:
        return []
    found: list[Candidate] = []
    span = clause.time.span if clause.time else None
    if match["where"]:
        where = _town(clause.rest[match.start("where") :])
        attribute = "identity.origin" if match["raised"] else "identity.birthplace"
        if where:
            found += change(clause, attribute, where, f"was {match['raised'] or 'born'} in {where}")
    if match["raised"]:
        return found
    if span and span.start and span.end and span.end - span.start <= timedelta(days=1):
        found += change(clause, "identity.birthday", f"{span.start.day} {span.start:%B}", "was born")
    return found


def raised(clause: Clause) -> list[Candidate]:
    """Read the end of "I was born in Riga and raised in Oslo"."""
    if not clause.dropped or clause.tense != "past" or not clause.low_rest.startswith("in "):
        return []
    where = _town(clause.rest[3:])
    return change(clause, "identity.origin", where, f"was raised in {where}") if where else []


def turning(clause: Clause) -> list[Candidate]:
    """Read "I turned 50 last Sunday"."""
    match = re.match(rf"(?P<age>\d{{1,3}}|{_NUMBER})(?:$|[ ,.!])", clause.low_rest)
    if match is None or clause.tense not in {"past", "perfect"} or clause.negated:
        return []
    age = int(match["age"]) if match["age"].isdigit() else NUMBERS[match["age"]]
    return change(clause, "identity.age", str(age), f"turned {age}") if 1 <= age <= 120 else []


def growing_up(clause: Clause) -> list[Candidate]:
    """Read "I grew up in Ghana" and "I come from Chile"."""
    pattern = r"up in (?P<where>.{2,50})" if clause.verb == "grow" else r"from (?P<where>.{2,50})"
    match = re.match(pattern, clause.low_rest)
    if match is None or clause.negated or (clause.verb == "come" and clause.tense != "present"):
        return []
    where = _town(clause.rest[match.start("where") :])
    if not where:
        return []
    words = f"grew up in {where}" if clause.verb == "grow" else f"comes from {where}"
    return change(clause, "identity.origin", where, words)


def going_by(clause: Clause) -> list[Candidate]:
    """Read "I go by Sam" and "I go by they/them"."""
    match = re.match(r"by (?P<name>[A-Z][\w-]{1,20})(?:$|[ ,.!])", clause.rest)
    if match is None or clause.tense != "present" or clause.negated:
        return []
    return state(clause, "identity.nickname", match["name"], "go", f"by {match['name']}")


def using_pronouns(clause: Clause) -> list[Candidate]:
    """Read "I use they/them pronouns" and "My pronouns are they/them"."""
    match = _PRONOUNS.match(clause.low_rest)
    if match is None or clause.tense != "present" or clause.negated:
        return []
    return state(clause, "identity.pronouns", match["pronouns"], "use", f"{match['pronouns']} pronouns")


_CALLED: Final = re.compile(
    r"(?:everyone|everybody|people|my friends|friends|they"
    r"|most people) (?:just )?calls? me (?P<name>[A-Z][\w-]{1,20})(?:$|[ ,.!])"
)


_CALL_ME: Final = re.compile(
    r"(?:(?:hi|hello|hey|so|oh|and)[,!]? )?(?:please |just |you can |you may "
    r"|feel free to ){0,2}call me (?P<name>[A-Z][\w-]{1,20})"
    r"(?:,? (?:please|from now on|for short|instead))?$",
    re.IGNORECASE,
)
_NOT_NAMES: Final = frozenset(
    "maybe later tomorrow tonight today back crazy old anytime when if a the mr mrs ms".split()
)


def called(clause: Clause) -> list[Candidate]:
    """Read "everyone calls me Otti"; the clause's rest is all of its words."""
    match = _CALLED.match(clause.rest) or _CALL_ME.match(clause.rest)
    if match is None or not match["name"][0].isupper() or match["name"].lower() in _NOT_NAMES:
        return []
    return state(clause, "identity.nickname", match["name"], "be", f"called {match['name']}")


def identifying(clause: Clause) -> list[Candidate]:
    """Read "I identify as non-binary"."""
    match = re.match(r"as ", clause.low_rest)
    gender = _GENDER.match(clause.low_rest, match.end()) if match else None
    if gender is None or clause.tense != "present" or clause.negated:
        return []
    return state(clause, "identity.gender", gender["gender"], "identify", clause.rest[: gender.end("gender")])


RULES: Rules = {
    "identify": (identifying,),
    "be": (being, named, born, introduced),
    "speak": (speaking,),
    "learn": (learning,),
    "study": (learning,),
    "turn": (turning,),
    "raise": (raised,),
    "grow": (growing_up,),
    "come": (growing_up,),
    "go": (going_by,),
    "use": (using_pronouns,),
}
