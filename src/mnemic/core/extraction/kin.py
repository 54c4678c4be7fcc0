"""Words for kin and friends, and the names that come with them: "my sister Noor", "our daughter, Lila".

A name is one or two capitalised words right after the noun. Pets are found the same way, so that "my dog Rex" is not
taken for a person.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_NOUNS: Final = {
    "husband": "partner", "wife": "partner", "partner": "partner", "boyfriend": "partner", "girlfriend": "partner",
    "fiancé": "partner", "fiancée": "partner", "fiance": "partner", "fiancee": "partner", "spouse": "partner",
    "sister": "sister", "brother": "brother", "twin sister": "sister", "twin brother": "brother", "sibling": "sibling",
    "mother": "mother", "mom": "mother", "mum": "mother", "father": "father", "dad": "father", "stepmom": "stepmother",
    "stepdad": "stepfather", "stepmother": "stepmother", "stepfather": "stepfather", "stepson": "stepson",
    "stepdaughter": "stepdaughter",
    "daughter": "child", "son": "child", "baby": "child", "kid": "child", "child": "child", "toddler": "child",
    "grandmother": "grandmother", "grandma": "grandmother", "granny": "grandmother", "grandfather": "grandfather",
    "grandpa": "grandfather", "grandson": "grandchild", "granddaughter": "grandchild", "aunt": "aunt", "uncle": "uncle",
    "cousin": "cousin", "niece": "niece", "nephew": "nephew", "friend": "friend", "best friend": "friend",
    "roommate": "roommate", "flatmate": "roommate", "housemate": "roommate", "neighbor": "neighbour",
    "neighbour": "neighbour", "colleague": "colleague", "coworker": "colleague", "co-worker": "colleague",
    "boss": "boss", "manager": "boss", "mentor": "mentor", "coach": "coach", "teacher": "teacher",
    "mother-in-law": "mother_in_law", "father-in-law": "father_in_law", "sister-in-law": "sister_in_law",
    "brother-in-law": "brother_in_law",
}  # fmt: skip
_PETS: Final = frozenset(
    "dog cat puppy kitten pup rabbit bunny hamster parrot horse pony turtle tortoise lizard snake".split()
)
_PLURAL: Final = {"kids": "child", "children": "child", "sons": "child", "daughters": "child", "parents": "parents"} | {
    f"{noun}s": kind for noun, kind in _NOUNS.items() if noun not in {"child", "kid", "daughter", "son"}
}
_ALL: Final = sorted({*_NOUNS, *_PETS}, key=len, reverse=True)
_ADJECTIVE: Final = (
    r"(?:(?:older|younger|elder|oldest|youngest|eldest|little|big|baby|twin|late|new|dear|lovely"
    r"|beautiful|amazing|best|good|old"
    r"|close|ex|first|second|middle|only|own|other|childhood|college|work|gym|sweet|wonderful|adopted|golden retriever"
    r"|rescue|long-time|longtime|\d{1,2}-year-old)[ -]){0,3}"
)
_MINE: Final = re.compile(rf"(?:my|our) (?P<adj>{_ADJECTIVE})(?P<noun>{'|'.join(map(re.escape, _ALL))})(?![\w'-])")
_NAME: Final = re.compile(
    r"(?P<comma>,)?\s(?:(?:named"
    r"|called)\s)?(?P<name>[A-Z][^\W\d_]{1,20}(?:-[A-Z][^\W\d_]{1,20})?(?:\s[A-Z][^\W\d_]{1,20})?)(?!\w"
    r"|['\u2019](?!s\b))"
)
_NOT_NAMES: Final = frozenset(
    """i my we our he she it they the a an and but so in on at if when who that this is was has had will would
    christmas easter
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december
    english spanish french german italian also just day lol omg btw mel's yeah yes no thanks""".split()
)
KIN: Final = re.compile(rf"\b(?:{'|'.join(map(re.escape, [*_NOUNS, *_PLURAL]))})\b")


@dataclass(frozen=True, slots=True)
class Kin:
    """A relative, friend or pet of the speaker: the noun as said, its kind, its names, and where the words end."""

    noun: str
    kind: str
    names: tuple[str, ...]
    start: int
    end: int
    former: bool = False
    pet: bool = False


def kind_of(noun: str) -> str | None:
    """Return the kind that a noun names, singular or plural; None when it is no kin."""
    return _NOUNS.get(noun) or _PLURAL.get(noun)


def find_kin(text: str, low: str, position: int) -> Kin | None:
    """Read "my sister Noor" at a position of the text; `low` is its lower-cased twin."""
    match = _MINE.match(low, position)
    if match is None:
        return None
    noun = match["noun"]
    name = _NAME.match(text, match.end())
    names: tuple[str, ...] = ()
    end = match.end()
    if name and _is_name(text, name):
        names, end = (name["name"],), name.end()
    former = bool(re.search(r"\b(?:ex|late)\b", match["adj"])) or low[position + 3 : position + 6] == "ex-"
    return Kin(noun, _NOUNS.get(noun, "pet"), names, position, end, former, noun in _PETS)


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Refuse words that open a new sentence part; a name after a comma has to be closed by one or by the end."""
    if match["name"].split()[0].lower() in _NOT_NAMES:
        return False
    return not match["comma"] or text[match.end() : match.end() + 1] in {",", ".", "!", ";", "", ")"}


def mentions(text: str, low: str, start: int, end: int) -> list[Kin]:
    """Return the named kin and pets that a stretch of the text mentions."""
    found: list[Kin] = []
    for match in _MINE.finditer(low, start, end):
        if match.start() and low[match.start() - 1].isalnum():
            continue
        kin = find_kin(text, low, match.start())
        if kin is not None and kin.names:
            found.append(kin)
    return found
