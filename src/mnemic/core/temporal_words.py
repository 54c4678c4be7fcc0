"""The vocabulary of time expressions: numbers, units, months, weekdays, and what marks a clause as future.

All patterns are matched against lower-cased text of the same length as the original, and every repetition in them is
bounded, so that matching stays linear on any input.
"""

from __future__ import annotations

import re
from typing import Final

GAP: Final = r"\s{1,4}"
"""White space between two words; bounded, so that long runs of blanks cost nothing."""

NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
    )
} | {"a": 1, "an": 1, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_SPELLED = "|".join(word for word in NUMBERS if word not in {"a", "an", "zero"})
COUNT: Final = (
    rf"(?:\d{{1,3}}|an?{GAP}couple(?:{GAP}of)?|couple(?:{GAP}of)?|an?{GAP}few|few|several|half{GAP}an?|an?|{_SPELLED})"
)
WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        (
            ("monday", "mon"),
            ("tuesday", "tues", "tue"),
            ("wednesday", "wed"),
            ("thursday", "thurs", "thu"),
            ("friday", "fri"),
            ("saturday", "sat"),
            ("sunday", "sun"),
        )
    )
    for name in names
}
WEEKDAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
SHORT_WEEKDAY: Final = "(?:mon|tues?|wed|thurs?|fri|sat|sun)"
UNIT: Final = rf"(?:minute|hour|day|night|weekend|week|fortnight|month|year|decade|{WEEKDAY})"
MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sept", "sep"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        1,
    )
    for name in names
}
MONTH: Final = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)"
)
SEASON: Final = "(?:spring|summer|fall|autumn|winter)"
HOLIDAY: Final = (
    r"(?:christmas(?: eve| day)?|boxing day|new year['\u2019]s(?: eve| day)?|halloween|valentine['\u2019]s(?: day)?"
    r"|independence day|st\.? patrick['\u2019]s day|thanksgiving(?: day)?|easter(?: sunday| monday)?|good friday)"
)
PART: Final = "(?:morning|afternoon|evening|night)"
YEAR: Final = r"(?:18|19|20)\d\d(?![\w/]|[.,:-]\d)"

FUTURE: Final = re.compile(
    r"\b(?:will|won't|shall|gonna"
    r"|going to|plan(?:s|ning)?|planned for|hop(?:e|ing) to|can't wait|upcoming|soon|tomorrow"
    r"|want to|would like|see you|let's|intend|scheduled|due|look(?:ing)? forward|excited for|booked|starts|begins"
    r"|leaves?|(?:am|are|is|i'm|we're|they're|she's|he's|it's)\s(?:\w{1,12}ly\s)?(?:\w{2,14}ing|in|on))\b|'ll\b"
)
"""Words that tell that what a clause speaks of has yet to come."""

PAST: Final = re.compile(
    r"\b(?:was|were|did|didn't|went|had|got|took|made|met|saw|won|lost|ran|came|gave|bought|told|said"
    r"|found|felt|left|been"
    r"|have|has|i've|we've|started|finished|\w{3,14}ed)\b"
)
"""Words that tell that what a clause speaks of is over."""

COUNTED: Final = re.compile(
    r"\s{1,4}(?:words?|people|persons?|dollars?|euros?|pounds?|bucks|miles?|met(?:er|re)s?"
    r"|kilomet(?:er|re)s?|km|kg|feet"
    r"|foot"
    r"|steps?|calories|pages?|times|points?|users?|members?|followers?|items?|rows?|tokens?|bytes|mb|gb|minutes?|hours?"
    r"|seconds?|days?|weeks?|months?|years?|pieces|copies|characters|lines|of us|men|women|kids"
    r"|children|students|guests)\b"
)
"""Nouns after a number that make it a count and not a date."""


LEADS: Final = frozenset(
    """in on at over during throughout around about by for of from between circa through within since until till to and
    before after preceding following the back early earlier mid middle late later starting past thru""".split()
)
"""Words right before an atom that may belong to it; after any other, its meaning is its own."""


def word_before(low: str, position: int) -> str:
    """Return the word that ends right before a position, white space and hyphens between them left out."""
    return low[max(0, position - 16) : position].rstrip(" \t\n-\u2013").rpartition(" ")[2].rpartition("\n")[2]


def parse_count(words: str) -> tuple[float, bool]:
    """Return the number that a match of COUNT names, and whether it is only approximate."""
    first = words.split(maxsplit=1)[0]
    if "couple" in words:
        return 2, True
    if "few" in words:
        return 3, True
    if first == "several":
        return 4, True
    if first == "half":
        return 0.5, False
    return (int(first) if first.isdecimal() else NUMBERS[first]), False


def lower_same_length(text: str) -> str:
    """Return the text in lower case with straight apostrophes; offsets stay those of the original."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return lowered.replace("\u2019", "'")
