"""Where statements may stand in a text: sentences that assert something, cut into clauses.

Code, links, quoted lines and the words of others are blanked out first, offsets kept. Questions, conditions, jokes and
whatever tells a model to break its rules are left out; the rules that follow read only what is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mnemic.core.extraction.verbs import can_be_past
from mnemic.core.temporal_words import lower_same_length
from mnemic.text import sentence_spans

_LONGEST_SENTENCE: Final = 600
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,400}`", re.DOTALL)
_LINK: Final = re.compile(r"\b(?:https?://|www\.)\S{1,2000}|\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{2,64}")
_QUOTED: Final = re.compile('"[^"\n]{1,400}"|\u201c[^\u201d\n]{1,400}\u201d|\u00ab[^\u00bb\n]{1,400}\u00bb')
_QUOTED_LINE: Final = re.compile(r"^[ \t]{0,8}(?:>|[\u266a\u266b]).*$|[\u266a\u266b][^\n]{0,400}", re.MULTILINE)
_SPOKEN: Final = re.compile(r"\b(?:i|i'm|me|my|we|you|your|are|is|was|will)\b|[,.!?]")
_REFUSED: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,60}\b(?:rules?|instructions?|prompts?"
    r"|guidelines|polic(?:y|ies))\b"
    r"|\bsystem prompt\b"
    r"|\b(?:write|compose|draft|generate|continue)\b[^.!?\n]{0,40}\b(?:story|poem|song|letter|email"
    r"|essay|script|bio|speech|tweet|post|dialogue|scene)\b"
    r"|\b(?:translate|rephrase|paraphrase|proofread|rewrite)\b|\bfix the grammar\b|\bcorrect this\b"
)
_JOKE: Final = re.compile(
    r"\bjust kidding\b|\bj/?k\b|\bkidding!|/s\b|\bsarcasm\b|\byeah,? right\b|\bas if!|\bnot!(?=\s|\Z)|\bin my dreams\b"
    r"|\bapril fools|\bsaid no(?: ?one|body)"
)
_UNREAL: Final = re.compile(
    r"\b(?:if|unless|whether|according to|wish(?:es|ed)?|imagine|suppose|supposing|pretend(?:ing)?"
    r"|hypothetically|let's say|say i"
    r"|what if|as though|in case|role-?play|dreamed|dreamt|dreaming|otherwise|provided that|assuming|even if)\b"
)
_BOUNDARY: Final = re.compile(
    r"(?:,|\s[-\u2013\u2014]{1,2}|\u2014|;|:|\.\.\.|\u2026)?\s{1,3}"
    r"(?P<word>and then|and so|and now|and also|and|but now|but|so now|so|then|though|although"
    r"|even though|because|'cause|cause|cuz"
    r"|since|plus|yet|while|whereas|which is why|that's why|as)\s{1,3}"
    r"(?=(?:now |also |still |just |recently |currently )?(?:i|i'm|i've|i'll|i'd|im|ive|we|we're|we've"
    r"|we'll|my|our|he|he's|she"
    r"|she's|they|they're|it|it's|you|you're|this|that|that's|there|there's|everyone|everybody|people)\b)"
    r"|(?:,|;|:|\s[-\u2013\u2014]{1,2}|\u2014|\.\.\.|\u2026)\s{0,3}"
    r"(?=(?:now |also |and |but |so )?(?:i|i'm|i've|i'll|im|ive|we|we're|we've|we'll|my|our|he|he's|she|she's)\b)"
    r"|(?<=\w)-\s{1,3}(?=(?:i|i'm|i've|we|we're|we've|my)\b)|;\s{1,3}|\s[-\u2013\u2014]{1,2}\s{1,3}|\u2014"
)
_SHARED_SUBJECT: Final = re.compile(
    r",?\s(?:and|but|then|and then)\s(?:(?:then|just|also|finally|recently|even|now"
    r"|never) )?(?=(?P<verb>[a-z]{3,14})\b)"
)
_REPORTED: Final = re.compile(
    r"\b(?:said|says|told|tells|claims?|claimed|thinks?|thought|asked|wrote|sings?|sang|goes|was like"
    r"|texted|guess|heard"
    r"|reads?|begins|starts|titled|chorus|verse|quote|goes like this|lyrics?|story|poem|prompt)"
    r"(?: (?:me|us|him|her|them))?[\s,:-]{0,4}\Z"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A clause at `start:end`. `shares` tells that its subject stands in the piece before it."""

    start: int
    end: int
    first: bool
    shares: bool = False


def blank(text: str) -> str:
    """Return the text, of the same length, with code, links and the words of others as spaces."""
    if "```" in text or "`" in text:
        text = _CODE.sub(_spaces, text)
    if "://" in text or "www." in text or "@" in text:
        text = _LINK.sub(_spaces, text)
    if ">" in text or "\u266a" in text or "\u266b" in text:
        text = _QUOTED_LINE.sub(_spaces, text)
    if '"' in text or "\u201c" in text or "\u00ab" in text:
        text = _QUOTED.sub(_speech, text)
    return text


def _spaces(match: re.Match[str]) -> str:
    return "".join(char if char == "\n" else " " for char in match.group())


def _speech(match: re.Match[str]) -> str:
    """Keep a quoted title, blank what somebody says."""
    words = lower_same_length(match.group())
    return _spaces(match) if _SPOKEN.search(words[1:-1]) else match.group()


_SUSPECT: Final = (
    *"ignore disregard forget override bypass prompt write compose draft generate continue translate phrase".split(),
    *"proofread grammar correct kidding jk j/k /s sarcas right not! dreams april".split(),
    "as if!",
    "no one",
    "said no",
)


def is_refused(low: str) -> bool:
    """Tell whether a lower-cased text is a joke or tells a model to break its rules."""
    suspect = any(word in low for word in _SUSPECT)
    return suspect and bool(_REFUSED.search(low) or _JOKE.search(low))


_SECRET: Final = re.compile(
    r"\b(?:pass(?:word|code|phrase)s?|pin|cvv|cvc|iban|ssn|social security|(?:api|private|secret|access|licen[cs]e)[- ]"
    r"(?:key|token)s?|seed phrase|recovery (?:phrase|code)|security (?:code|question)|credentials|login"
    r"|(?:passport|card|account|phone|mobile|cell|tax|insurance|routing|sort|door|alarm|gate|locker|safe|entry"
    r"|national|id|licen[cs]e) (?:number|code)s?|my (?:new |old )?number (?:is|was)|number's)\b"
    r"|\b[a-z]{1,3}\d{6,}\b|\b(?!\d{4}-\d\d-\d\d)\d(?:[ -]?\d){8,}"
)
"""What opens a door or an account. It is never kept, whoever owns it: a profile is shown and searched."""


_SECRET_HINTS: Final = (
    *"passw passc passp pin cvv cvc iban ssn social key token phrase recover security credential login".split(),
    *"number code".split(),
)
_DIGITS: Final = re.compile(r"\d[\d -]{5}")


def clauses(blanked: str, low: str) -> Iterator[Piece]:
    """Yield the clauses that assert something, in order."""
    guarded = any(hint in low for hint in _SECRET_HINTS) or _DIGITS.search(low) is not None
    for start, end in sentence_spans(blanked):
        if end - start > _LONGEST_SENTENCE or _asks(low[start:end]):
            continue
        if guarded and _SECRET.search(low, start, end):
            continue
        yield from _cut(low, start, end)


_HAS_SUBJECT: Final = re.compile(
    r"\b(?:i|we|my|our|he|she|they|it|i'm|i've|we're|it's|that's|you|said|says|told)\b|[;:\u2014]|\s-|\.\."
)
_THIRD: Final = frozenset("works lives loves likes hates studies teaches enjoys plays speaks".split())
_LONGEST_LEAD: Final = 60


def _asks(sentence: str) -> bool:
    return "?" in sentence[-4:]


def _cut(low: str, start: int, end: int) -> Iterator[Piece]:
    unreal = _UNREAL.search(low, start, end)
    begin, shares = start, False
    cuts = [*_cuts(low, start, end), (end, end, False)]
    for stop, resume, shares_next in cuts:
        real = unreal is None or stop <= unreal.start()
        if begin < stop and real and not _REPORTED.search(low, max(start, begin - 24), begin):
            yield Piece(begin, stop, first=begin == start, shares=shares)
        begin, shares = resume, shares_next


def _cuts(low: str, start: int, end: int) -> list[tuple[int, int, bool]]:
    cuts: list[tuple[int, int, bool]] = []
    begin = start
    for match in _BOUNDARY.finditer(low, start, end):
        if (
            match["word"] is None
            and not _HAS_SUBJECT.search(low, begin, match.start())
            and match.start() - begin < _LONGEST_LEAD
        ):
            continue  # "Last week, I moved": a lead, not a clause
        if (
            match["word"] == "and"
            and low[match.end() : match.end() + 2] == "i "
            and low.count(" ", begin, match.start()) < 2
        ):
            continue  # "Lena and I are going": one subject
        cuts.append((match.start(), match.end(), False))
        begin = match.end()
    for match in _SHARED_SUBJECT.finditer(low, start, end):
        if (can_be_past(match["verb"]) or match["verb"] in _THIRD) and not any(
            a <= match.start() < b for a, b, _ in cuts
        ):
            cuts.append((match.start(), match.end(), True))
    return sorted(cuts)
