"""Feedback in plain English, read by rules into what it asks for; which memories it means is decided elsewhere.

Precision first: words that fit no rule are a statement, which extraction may or may not understand. Other languages
are for a language model (`core/feedback_replies.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mnemic.text import content_terms, words


@dataclass(frozen=True, slots=True)
class Take:
    """Take back what mentions `about`, or states the `claim`; `never` says that it never held.

    `every` says that all that mentions it is meant, not one thing.
    """

    about: str
    claim: str = ""
    every: bool = False
    never: bool = False


@dataclass(frozen=True, slots=True)
class Put:
    """Put words in the place of others, wherever memories have these."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Instead:
    """A statement, and the words that it corrects: "my sister is called Noor, not Nora"."""

    statement: str
    new: str
    old: str


@dataclass(frozen=True, slots=True)
class Told:
    """A statement; `wrong` says that what memory says instead was never right."""

    statement: str
    wrong: bool = False


Asked = Take | Put | Instead | Told

_QUOTES: Final = "\"'\u2018\u2019\u201c\u201d\u00ab\u00bb`"
_POLITE: Final = re.compile(
    r"^(?:(?:please|hey|ok(?:ay)?|well|hm+|oh|sorry|actually|wait|and|but|so|could you|can you|would you|"
    r"i(?:'d like| want) you to|i(?:'d| would) like you to|you should|let's)[\s,:!.\u2014-]+)+",
    re.IGNORECASE,
)
_WRONG: Final = re.compile(
    r"^(?:no(?:pe)?|(?:that|this|it)(?:'s| is| was)(?: all| just| simply)? (?:wrong|false|incorrect|a mistake"
    r"|not (?:true|right|correct|what i said))|(?:that|this|it) (?:isn't|wasn't) (?:true|right|correct)"
    r"|that's not it|wrong|correction|you (?:got|have|had) (?:that|this|it|me) wrong|you misunderstood(?: me)?"
    r"|you(?:'re| are) (?:wrong|mistaken)|i(?: was|'ve been) (?:wrong|mistaken)|i meant(?: to say)?|my mistake)"
    r"[\s,:;!.\u2014-]+",
    re.IGNORECASE,
)
_TAKE: Final = re.compile(
    r"^(?:forget|delete|remove|drop|erase|scrap|disregard|take back|strike|unlearn|don't remember"
    r"|stop remembering)\b\s*(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_CLAIM: Final = re.compile(
    r"^(?:about )?(?:(?:what i (?:said|told you)(?: about)?|the fact|when i said|(?:that )?i (?:said|told you))\s+)?"
    r"(?:that )?(?P<claim>(?:i|my|we|our)\b.+)$",
    re.IGNORECASE,
)
_CLAIMING: Final = re.compile(
    r"^(?:that |i (?:said|told|ever)|what i (?:said|told you)\b(?! about)|the fact|when i|i\b|we\b)", re.IGNORECASE
)
_BEHIND: Final = re.compile(
    r"[,;]\s+(?:it|that|this|i|because|since|as|please)\b.*$|\s+(?:because|since it|as it was)\b.*$"
    r"|\s*[\u2014\u2013]\s.*$|\s-\s.*$|[.!?]\s+.*$",
    re.IGNORECASE | re.DOTALL,
)
_EVERY: Final = re.compile(r"^(?:everything|anything|all|every ?thing)\b|\b(?:everywhere|anywhere)\b", re.IGNORECASE)
_PUT: Final = re.compile(
    r"^(?:replace|rename|change|correct|switch|swap|substitute|fix|update)\s+"
    r"(?:the (?:name|word|spelling)s?(?: of)?\s+)?(?P<old>.{1,80}?)\s+(?:by|with|to|into|for|->|\u2192|=>)\s+"
    r"(?P<new>.{1,80}?)"
    r"(?:\s*,?\s*(?:everywhere|anywhere|in (?:all|every|my).{0,40}|wherever.{0,40}|please|throughout))*\s*[.!]*$",
    re.IGNORECASE,
)
_NEVER: Final = re.compile(
    r"^(?:(?:i|we) (?:have |had )?(?:never|didn't|did not) (?:ever )?"
    r"(?:say|said|told you|tell you|claim(?:ed)?|mention(?:ed)?)"
    r"|it(?:'s| is) (?:not true|wrong|false)|it isn't true)\s+(?:anything about |that )?(?P<claim>.+?)[.!]*$",
    re.IGNORECASE,
)
_NOT: Final = re.compile(
    r"^(?P<told>.+?)(?:\s*[,;\u2014-]\s*(?:and |but )?not|\s+(?:and|but) not|,?\s+(?:rather than|instead of))\s+"
    r"(?P<old>[^,.!?;]{1,60}?)[.!]*$",
    re.IGNORECASE,
)
_NOT_BUT: Final = re.compile(
    r"^(?P<head>.*?)\b(?:is|are|was|it's|he's|she's|they're|that's)?\s*(?:not|isn't|wasn't)\s+(?P<old>[^,.!?;]{1,60}?)\s*"
    r"(?:,?\s*but\s+|[,;.]\s*(?:it's|it is|but|he's|she's)\s+)(?P<new>[^,.!?;]{1,60}?)[.!]*$",
    re.IGNORECASE,
)
_BARE: Final = frozenset(
    """thing things stuff bit part parts story stories one ones memory memories fact facts note notes info information
    about what said told mine your from the a an that this it its everything anything all my our of please topic subject
    me i know have remember whole any mention mentions of business entry entries""".split()
)
"""Words that say nothing about which memory is meant."""


def read_feedback(text: str) -> Asked:
    """Return what feedback asks for; what fits no rule is a statement. Never raises, whatever the text."""
    said = text.strip().replace("\u2019", "'")
    bare = _POLITE.sub("", said)
    wrong = _WRONG.match(bare)
    if wrong is not None:
        bare = _POLITE.sub("", bare[wrong.end() :])
    never = _NEVER.match(bare) or (_NEVER.match(said) if wrong is not None else None)
    if never is not None:
        return Take(about=_subject_of(never["claim"]), claim=_claim(never["claim"]), never=True)
    take = _TAKE.match(bare)
    if take is not None:
        return _take(take["rest"])
    put = _PUT.match(bare)
    if put is not None and _unquoted(put["old"]) and _unquoted(put["new"]):
        return Put(_unquoted(put["old"]), _unquoted(put["new"]))
    return _instead(bare) or Told(bare if wrong is not None else said, wrong=wrong is not None)


def _take(rest: str) -> Take:
    told = _BEHIND.sub("", rest).strip().rstrip(".!")
    every = _EVERY.search(told) is not None
    claim = _CLAIM.match(told) if _CLAIMING.match(told) else None
    return Take(about=_subject_of(told), claim=_claim(claim["claim"]) if claim else "", every=every)


def _claim(said: str) -> str:
    """Return a claim as somebody would put it."""
    told = said.strip().rstrip(".!")
    return told[:1].upper() + told[1:] if told[:2].lower() in ("i ", "i'", "my", "we") else told


def _subject_of(told: str) -> str:
    """Return the words that tell what is meant, without those that only frame it."""
    kept = [word for word in re.split(r"\s+", _unquoted(told)) if word]
    return " ".join(word for word in kept if not set(words(word)) <= _BARE)


def _instead(bare: str) -> Instead | None:
    both = _NOT_BUT.match(bare)
    if both is not None:
        old, new = _unquoted(both["old"]), _unquoted(both["new"])
        head = both["head"].strip(" ,.;:")
        return Instead(f"{head} {_verb_of(bare, both)} {new}".strip() if head else new, new, old)
    match = _NOT.match(bare)
    if match is None:
        return None
    old = _unquoted(match["old"])
    new = _as_many(match["told"], old)
    return Instead(match["told"].strip(" ,;"), new, old) if new and content_terms(old) else None


def _verb_of(bare: str, match: re.Match[str]) -> str:
    between = bare[match.end("head") : match.start("old")].lower()
    return next((verb for verb in ("was", "are", "is") if verb in between), "is")


def _as_many(told: str, old: str) -> str:
    """Return the last words of a statement, as many as the words that they correct; all capitals in a row at least."""
    last = told.strip(" ,;").split()
    count = len(old.split())
    while count < len(last) and last[-count][:1].isupper() and last[-count - 1][:1].isupper() and old[:1].isupper():
        count += 1
    found = last[-count:]
    return _unquoted(" ".join(found)) if len(last) >= count else ""


def _unquoted(said: str) -> str:
    return said.strip().strip(_QUOTES).strip()


def put_in(text: str, old: str, new: str) -> str:
    """Return a text with words in the place of others, whole words only.

    Where the old words are told in capitals, those in capitals are meant if there are any; a new word takes the capital
    of the one that it replaces at the beginning of a sentence.
    """
    exact = _whole(old, 0)
    pattern = exact if old != old.lower() and exact.search(text) else _whole(old, re.IGNORECASE)

    def fitting(match: re.Match[str]) -> str:
        found = match.group()
        raised = found[:1].isupper() and old[:1].islower()
        return new[:1].upper() + new[1:] if raised else new

    return pattern.sub(fitting, text)


def has_words(text: str, phrase: str) -> bool:
    """Tell whether a text has these words, whole, whatever their case."""
    return bool(phrase) and _whole(phrase, re.IGNORECASE).search(text) is not None


def _whole(phrase: str, flags: int) -> re.Pattern[str]:
    inner = r"\s+".join(re.escape(word) for word in phrase.split())
    before = r"(?<!\w)" if _is_spaced(phrase[0]) else ""
    after = r"(?!\w)" if _is_spaced(phrase[-1]) else ""
    return re.compile(f"{before}{inner}{after}", flags)


def _is_spaced(char: str) -> bool:
    """Tell whether a character is of a script that puts spaces between words."""
    return char.isalnum() and not "\u2e80" <= char <= "\u9fff" and not "\u0e00" <= char <= "\u0e7f"
