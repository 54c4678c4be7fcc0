"""From the words after a verb to a short value: where a phrase ends, what is a list, how it reads in the third person.

A phrase that points outside its sentence ("it", "that one", "you") has no value of its own and comes back empty.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.extraction.verbs import gerund, known
from mnemic.core.temporal_words import lower_same_length

_TAIL: Final = re.compile(
    r"\s*(?:[;()\[\]!?\u2026\n]|\.{2,}|:(?=\s|\Z)|\.(?=\s|\Z)|\s[-\u2013\u2014]{1,2}\s|\u2014"
    r"|,\s(?=(?:and\s)?(?:i|we|it|so|but|which|who|where|because|though|even"
    r"|especially|since|as|if|when|while|then|too|just|right|not|thanks|thank|though|with|after|before"
    r"|is|was|he|she|they|you|that|this"
    r"|like|including|plus|although|however|haha|lol|always|never|really|my|our|it's|he's|she's|that's|there"
    r"|mostly|mainly|largely|usually|sometimes|often|badly|keep|please|said|remember|all of|up|down|above|below|near"
    r"|by|on|in|at|for|from|over|under|across|behind|beside|between|around|inside|outside|next|off"
    r"|one of|another|or so)\b))"
    r"|,?\s(?:but|because|'cause|cuz|so|which|although|though|when|while|whenever|unless|until|if|where|who|that|than"
    r"|since|and (?:i|we|it|it's|he|she|they|that|this|you|my|our|i'm|i've|we're|then|have|has|had|am"
    r"|are|is|was|were|can|will|now"
    r"|just|always|so)|as (?:a|an|it|i|we|they|my|much|well|long|soon|the|if)|(?:so|very) much|a lot"
    r"|a ton|too|as well|lol|haha|right now|now"
    r"|these days|at last|after all|at the moment|all the time|though|anyway|either|instead|already|yet|again|together"
    r"|in general|myself|lately"
    r"|by the way|in (?:my|our) (?:life|free time|spare time)|(?:for|to) me|more than|even more|out of)\b"
)
LEADING_PREPOSITION: Final = re.compile(r"^(?:back )?(?:to|for|on|in|into|at|with|off to|out|up|up to|up for)\b ?")
"""A preposition that a phrase after a verb of motion opens with."""
_QUOTES: Final = re.compile('["\u201c\u201d\u00ab\u00bb*]')
_LOOSE_END: Final = re.compile(
    r"(?:,?\s(?:and|or|with|for|to|of|the|a|an|about|from|in|on|at|my|our|by|also|even|just|here|there))+\Z",
    re.IGNORECASE,
)
_POINTERS: Final = frozenset(
    "it them him her there this that these those one ones more others someone everyone".split()
)
_OUTSIDE: Final = frozenset(
    """it this that these those them him her they he she you your yours how what when where why which who there
    here one ones
    everything something anything nothing everyone someone anyone each both all same so too to be being more most
    such me us
    myself each other another any every its their his not no if whatever yourself whoever""".split()
)
_OWNED: Final = re.compile(r"(?:all )?(?P<mine>(?:my|our)\s)", re.IGNORECASE)
_DETERMINER: Final = re.compile(
    r"(?:(?:the|an?|my|our|some|any|all|all kinds of|lots of|a lot of|both|going to the)\s+)+", re.IGNORECASE
)
_ADVERB: Final = re.compile(r"(?:(?:just|really|so|mostly|especially|also|very much|quite|to just)\s+)+", re.IGNORECASE)
_PAIRS: Final = re.compile(
    r"\b(?:rock and roll|rock 'n' roll|mac(?:aroni)? and cheese|fish and chips|bed and breakfast"
    r"|arts and crafts|black and white"
    r"|peanut butter and jelly|salt and pepper|food and drinks?|peace and quiet|ups and downs"
    r"|track and field|drum and bass"
    r"|dungeons and dragons|r and b|gin and tonic|bread and butter|friends and family|family and friends)\b",
    re.IGNORECASE,
)
_LIST: Final = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+")
_PERSON: Final = {
    "my": "their", "our": "their", "mine": "theirs", "ours": "theirs", "me": "them", "us": "them",
    "myself": "themself", "ourselves": "themselves",
}  # fmt: skip
_PERSON_WORD: Final = re.compile(r"\b(?:my|our|mine|ours|me|us|myself|ourselves|your|you|yours)\b", re.IGNORECASE)
_FIRST_PERSON: Final = re.compile(r"\b(?:i|i'm|i've|i'll|i'd|we|we're|we've|we'll|im|ive)\b", re.IGNORECASE)


def cut_tail(rest: str, limit: int = 12, *, keep_as: bool = False) -> str:
    """Return the phrase that a stretch of words opens with, up to `limit` words; empty when it is longer.

    `keep_as` keeps "as a baker" in it.
    """
    low = lower_same_length(rest)
    match = _TAIL.search(low)
    while match is not None and keep_as and match.group().startswith(" as a"):
        match = _TAIL.search(low, match.end())
    phrase = _QUOTES.sub("", rest[: match.start()] if match else rest)
    if match is not None and match.group().strip() == "that" and _LOOSE_END.search(phrase):
        return ""  # "escaping to that world": what it points at is not here
    phrase = _LOOSE_END.sub("", phrase.strip(" \t,;:.!'-\u2013\u2014")).strip(" ,")
    if len(phrase.split()) > limit and ", " in phrase:
        phrase = phrase.split(", ", 1)[0]
    return phrase if len(phrase.split()) <= limit else ""


def value_of(rest: str, limit: int = 8, *, owned: bool = False) -> str:
    """Return the value that a stretch of words opens with: a phrase without determiners; empty when it has none.

    `owned` keeps "my" and "our".
    """
    phrase = _ADVERB.sub("", cut_tail(rest, limit + 3), count=1) if rest else ""
    aside = _ASIDE.search(phrase)
    if aside is not None and not (_JOINED.search(phrase, aside.start()) or _ARTICLE.match(phrase)):
        phrase = phrase[: aside.start()]
    if points_outside(phrase):
        phrase = before_aside(phrase)  # "oysters, raw ones"
    if points_outside(phrase):
        return ""
    plain = strip_determiner(phrase)
    if not plain or len(plain.split()) > limit or points_outside(plain):
        return ""
    return _kept(phrase) if owned else plain


_ASIDE: Final = re.compile(r",\s(?:the|an?|some|any)\s")
_JOINED: Final = re.compile(r"\s(?:and|or|&)\s")
_ARTICLE: Final = re.compile(r"(?:the|an?|some|any)\s", re.IGNORECASE)


def before_aside(phrase: str) -> str:
    """Return what stands before the first comma: "ochre" for "ochre, the dusty one"; lists and places stay whole."""
    head, comma, aside = phrase.partition(", ")
    return head if comma and head and not (_JOINED.search(f" {aside}") or is_name(aside)) else phrase


def strip_determiner(phrase: str) -> str:
    """Return a phrase without "the", "a", "my" and the like in front."""
    match = _DETERMINER.match(phrase)
    return phrase[match.end() :] if match else phrase


_COUNT: Final = re.compile(
    r"(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|a (?:few|couple|dozen|lot|bit)|some|several|many"
    r"|mine|ours"
    r"|theirs)(?: (?:of (?:them|those|these)|more|or \w+))?"
    r"(?= (?:at|on|in|to|with|for|from|before|after|every|each|daily|a day|a week|per)\b|$)"
)
"""A count without the noun it counts: "two every day", "a couple on the way"."""


def points_outside(phrase: str) -> bool:
    """Tell whether a phrase means nothing without the sentences around it, or speaks of the listener."""
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)?", phrase.lower().replace("\u2019", "'"))
    if not words or words[0].split("'")[0] in _OUTSIDE or words[-1] in _POINTERS or _COUNT.match(" ".join(words)):
        return True
    return any(word in {"you", "your", "yours", "you're", "i", "i'm", "we", "it", "i've", "we're"} for word in words)


def _kept(part: str) -> str:
    """Return a phrase without determiners but with "my" and "our": "my job" is not any job."""
    owned = _OWNED.match(part)
    return part[owned.start("mine") :] if owned else strip_determiner(part)


def items_of(phrase: str, longest: int = 3, *, owned: bool = False) -> list[str]:
    """Return the items of a list such as "hiking, swimming and jazz"; the whole phrase when it is not a plain list.

    `owned` keeps "my" and "our" before an item, since a job that somebody loves is theirs.
    """
    if _PAIRS.search(phrase):
        return [phrase]
    said = [part.strip(" .") for part in _LIST.split(phrase)]
    parts = [_kept(part) if owned else strip_determiner(part) for part in said]
    full = next((index for index, part in enumerate(parts) if _FINITE.search(part.lower())), len(parts))
    plain_end = next(
        (index for index, part in enumerate(said) if index and _THE.match(part) and not _THE.match(said[0])), full
    )
    parts = parts[: min(full, plain_end)]
    if full == 0:
        return []
    first = parts[0].split()
    if (
        len(first) > 1
        and first[0].endswith("ing")
        and any(not part.split()[0].endswith("ing") for part in parts[1:] if part)
    ):
        return [phrase] if full == len(_LIST.split(phrase)) else []
    plain = (len(parts) > 1 or full == 1) and all(
        part and len(part.split()) <= longest + bool(_OWNED.match(part)) for part in parts
    )
    if not plain or len(parts) > 8 or any(points_outside(part) for part in parts):
        return [phrase]
    return parts


_THE: Final = re.compile(r"the\b", re.IGNORECASE)
_FINITE: Final = re.compile(r"\b(?:is|are|was|were|has|have|it's|he's|she's|they're|makes?|helps?)\b")


def to_gerund(phrase: str) -> str:
    """Return "swimming in the sea" for "to swim in the sea"; other phrases unchanged."""
    words = phrase.split()
    if len(words) < 2 or words[0].lower() != "to" or not words[1].isalpha():
        return phrase
    return " ".join([gerund(words[1].lower()) if words[1].lower() != "be" else "being", *words[2:]])


def in_third_person(phrase: str, listener: str | None) -> str | None:
    """Return the phrase as said of the speaker ("my kids" is "their kids"); None when that cannot be done safely."""
    plain = phrase.replace("\u2019", "'")
    if _FIRST_PERSON.search(plain):
        return None
    if listener is None and re.search(r"\b(?:you|your|yours|you're)\b", plain, re.IGNORECASE):
        return None
    named = {"you": listener, "your": f"{listener}'s", "yours": f"{listener}'s"}
    return _PERSON_WORD.sub(lambda match: {**_PERSON, **named}[match.group().lower()] or "", phrase)


def is_verb_phrase(phrase: str) -> bool:
    """Tell whether a phrase opens with a verb of the table in its dictionary form."""
    first = phrase.split(" ", 1)[0].lower() if phrase else ""
    return known(first)


def as_name(phrase: str, text: str) -> str:
    """Return a place as a name when its whole text is in small letters, as people type: "madrid" is "Madrid"."""
    plain = text.islower() and len(phrase.split()) <= 2 and not _COMMON_PLACE.search(phrase)
    return phrase.title() if plain else phrase


_COMMON_PLACE: Final = re.compile(
    r"\b(?:the|an?|my|our|this|town|city|house|flat|apartment|home|country|village|suburbs?|here|there"
    r"|dorms?|fear|peace"
    r"|pain|hell|work|abroad|poverty|school|college|sin|denial|harmony)\b"
)


def is_name(phrase: str) -> bool:
    """Tell whether every main word of a phrase is capitalised, as names of places, people and firms are."""
    words = [
        word
        for word in phrase.split()
        if word.lower() not in {"of", "the", "and", "de", "la", "le", "&", "in", "at", "near", "upon"}
    ]
    return bool(words) and all(word[0].isupper() or word[0].isdigit() for word in words) and phrase[0].isupper()
