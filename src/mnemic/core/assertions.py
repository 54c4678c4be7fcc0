"""What an English sentence asserts: the values in it, what they are about, and whether it asserts anything at all.

Read for comparing two sentences (`core.corrections`), not for understanding one: what is not sure is not read. Values
are numbers with what they count, times of day, dates, weekdays and names; the other words are what they are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mnemic.text import STOP_WORDS, content_terms, stem, words

_MONTHS: Final = "january february march april may june july august september october november december".split()
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DATE: Final = re.compile(
    rf"\b(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)\b"
    rf"|\b(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<name2>{_MONTH})\b\.?(?:,? (?P<year2>\d{{4}})\b)?"
    rf"|\b(?P<name3>{_MONTH})\b\.? (?P<day3>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year3>\d{{4}})\b)?"
    rf"|\b(?P<name4>{_MONTH})\b(?:,? (?P<year4>\d{{4}})\b)?",
    re.IGNORECASE,
)
_WEEKDAY: Final = re.compile(r"\b(?P<day>mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_CLOCK: Final = r"\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m\b\.?|o'clock)|\d{1,2}:\d\d"
_TIME: Final = re.compile(
    rf"(?<![\d.:])(?P<first>{_CLOCK})(?:\s?(?:-|\u2013|to|until|and)\s?(?P<last>{_CLOCK}))?", re.IGNORECASE
)
_PLAIN: Final = r"\d+(?:[.,]\d+)*"
_NUMBER: Final = re.compile(
    rf"(?P<sign>[$\u20ac\u00a3\u00a5])?\s?(?<![\w.,])(?P<first>{_PLAIN})(?:st|nd|rd|th)?"
    rf"(?:\s?(?:-|\u2013|to|and)\s?(?P<last>{_PLAIN}))?\s?(?P<after>%|\u20ac|\$|percent\b|euros?\b|dollars?\b|pounds?\b)?"
    r"(?![\w])",
    re.IGNORECASE,
)
_SIGNS: Final = {"$": "dollar", "\u20ac": "euro", "\u00a3": "pound", "\u00a5": "yen", "%": "percent"}
_WORDED = dict(
    zip(
        "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty "
        "ninety hundred".split(),
        (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 30, 40, 50, 60, 90, 100),
        strict=True,
    )
)
_ORDINALS: Final = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_WORDED |= {word: number for number, word in enumerate(_ORDINALS, start=1)}
_IN_WORDS: Final = re.compile(rf"\b(?:{'|'.join(_WORDED)})\b", re.IGNORECASE)
_HOUR: Final = re.compile(
    rf"(?<=\bat )(?P<hour>{'|'.join(list(_WORDED)[:12])}|noon|midnight)\b(?:\s+o'clock)?"
    r"(?=\s*(?:$|[.,;:!)]|(?:now|sharp|on|in|every|each|and|instead|not|today|from)\b))",
    re.IGNORECASE,
)
"""Hours in words: closes at six."""

_BOUND: Final = re.compile(
    r"(?:\b(?:at least|at most|up to|(?:no )?(?:more|less|fewer) than|about|around|roughly|nearly|"
    r"almost|over|under|below|above|approximately|circa|minimum(?: of)?|maximum(?: of)?|within|some)"
    r"|~|[<>\u2264\u2265])"
    r"\s*[$\u20ac\u00a3]?$",
    re.IGNORECASE,
)
_SINCE: Final = re.compile(
    rf"\b(?:since|as of|as from|starting|effective|beginning|from)\s+(?:{_DATE.pattern.replace('?P<', '?P<_')}"
    r"|\d{4}\b|this (?:year|month|week)|now on|today)",
    re.IGNORECASE,
)
"""When something began to hold says nothing of what holds."""

_NAME: Final = re.compile(r"\b[A-Z\u00c0-\u00de][\w'\u2019&.-]*[\w](?:\s+[A-Z\u00c0-\u00de][\w'\u2019&-]*\w)*")
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|isn't|aren't|wasn't|be|been|has|have|had|moved?|moves|changed|becomes?|became|goes|lives?"
    r"|sits?|works?|reports?|starts?|begins?|ends?|opens?|closes?|takes?|gets?|costs?|needs?|uses?|runs?|lasts?|belongs?"
    r"|leads?|heads?|applies|apply|stays?|remains?)\b",
    re.IGNORECASE,
)
_PREPOSITION: Final = re.compile(r"\b(in|at|on|to|by|from|with|near|for|under|of|as|via)\s+(?:the\s+)?$", re.IGNORECASE)
_DENIED: Final = re.compile(
    r"\b(?:not|never|no longer|cannot|none|nobody|without)\b|n't\b|\bno (?=\w)(?!one\b|doubt|matter)", re.IGNORECASE
)
_OVER: Final = re.compile(r"\bno longer\b|\b(?:not|n't)\b.*\bany ?more\b|n't\b.*\bany ?more\b", re.IGNORECASE)
_CHANGED: Final = re.compile(
    r"\b(?:has|have|was|were|got|been|is|are)?\s*(?:been |being )?(?:moved|changed|raised|increased|lowered|reduced"
    r"|cut|extended|shortened|renamed|switched|replaced|postponed|shifted|updated|rescheduled|relocated|went up|gone up"
    r"|went down|gone down)\b(?: \w+){0,4}? (?:to|by|with)\b",
    re.IGNORECASE,
)
_CALLING: Final = re.compile(
    r"^\W*(?:(?:heads up|fyi|btw|by the way|note|hi|hey|hello|update|psa|correction|reminder|attention|well|so"
    r"|also|ok(?:ay)?|and|no|yes|actually|just)(?: (?:all|everyone|everybody|team|folks))?\s*[,:!.-]\s*)+",
    re.IGNORECASE,
)
"""What comes before the point."""

_EVERY: Final = re.compile(r"\b(?:every|each|per)\s+[a-z]+\b", re.IGNORECASE)
_SCOPE: Final = re.compile(
    r"\b(?:during|for|in|if|when|while|after|before|unless|except|only|within|with|without|at|on|of|until)\s+"
    r"((?:[\w'-]+\s*){1,3})",
    re.IGNORECASE,
)
_FROM_TO: Final = re.compile(r"(?<=\bfrom )(.{1,30}?) to (?=.)", re.IGNORECASE)
_NOW: Final = re.compile(
    r"\b(?:now|nowadays|currently|these days|meanwhile|instead of|rather than|anymore|actually|correction)\b",
    re.IGNORECASE,
)
_CONTRAST: Final = re.compile(
    r"\b(?:but|not|now|instead|rather|actually|from .{1,30} to|up to|however)\b|n't\b|\u2192|->", re.IGNORECASE
)
_TENTATIVE: Final = re.compile(
    r"\?|\b(?:if|should|would|could|might|may be|maybe|perhaps|i think|i guess|i believe|i suppose|not sure|unsure|wish"
    r"|hope|hopefully|wants?|wanted|proposes?|proposed|suggests?|suggested|suggestion|considers?|considering|let's"
    r"|let us|what about|imagine|probably|possibly|allegedly|rumou?r|i heard|someone said|going to|will|shall|won't"
    r"|wonder|unless|plans?|planning|planned|expect|expects|asked|ask|asks|example|e\.g|for instance|dream"
    r"|used to think|please|ought|aim|aims|target|draft|like to|prefer|'ll|'d)\b",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:yesterday|last (?:week|month|year|summer|winter|spring|autumn|fall|night|time|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday)|ago|back then|once|formerly|previously|in the past|used to|originally"
    r"|at the time|earlier|until recently|before that|in those days|this (?:morning|afternoon)|tonight|today's)\b",
    re.IGNORECASE,
)
_WAS: Final = re.compile(r"\b(?:was|were|had|did|wasn't|weren't|hadn't|didn't)\b", re.IGNORECASE)
_MINE: Final = re.compile(r"\b(?:i|i'm|i've|my|me|mine|myself)\b", re.IGNORECASE)
_FILLERS: Final = frozenset(
    stem(word)
    for word in """
    now nowadays currently today actually really correction also only just still already anymore longer since per
    each every everyone everybody employee employees staff people company us our one ones get gets got have has be
    is are been being become becomes amount total new moved move moves changed change changes raised raise increased
    increase lowered lower reduced reduce extended extend shortened shorten updated update switched switch went gone
    go up down set fyi note instead rather know knows said say says told tell according wrong outdated incorrect
    right correct true thing there here it that this they them hi hey ok okay thanks hello well yes no not never any
    more about exactly precisely always year annually yearly entitled entitle may can cannot
    """.split()
)
"""Words that do not tell what a value is about."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a kind (number, time, date, weekday), as it compares; `units` are the stems of what a number counts.

    `bound` says that the words leave it open: at least, about. A `label` tells which one is meant: room 12, floor 3.
    """

    kind: str
    value: str
    units: frozenset[str] = frozenset()
    bound: bool = False
    label: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """A name: its stems, the preposition before it, and whether it stands before the verb."""

    stems: frozenset[str]
    preposition: str
    leads: bool


@dataclass(frozen=True, slots=True)
class Assertion:
    """A sentence, read. `about` are the stems of its words but for values, names and fillers.

    `denied`: it says that something is not so; `over`: no longer; `changes`: that it has been changed, or is so now;
    `contrasts`: it sets one thing against another. `firm` is False for questions, wishes, plans, the past and what is
    about the speaker alone. `pasts` are the stems of its forms in -ed, `scoped` those that say for which case it holds.
    """

    text: str
    about: frozenset[str]
    values: tuple[Value, ...]
    names: tuple[Name, ...]
    denied: bool
    over: bool
    changes: bool
    contrasts: bool
    firm: bool
    pasts: frozenset[str]
    scoped: frozenset[str]


@lru_cache(maxsize=8_192)
def read_assertion(text: str) -> Assertion:
    """Read a sentence."""
    told = _SINCE.sub(_blank, _CALLING.sub(_blank, text))
    if _CHANGED.search(text):
        told = _FROM_TO.sub(r"\1 -> ", told)  # what it was and what it is, not a stretch of both
    values, spans = _values(told)
    names = tuple(_names(told, spans))
    named = frozenset(each for name in names for each in name.stems)
    left = _EVERY.sub(
        _blank, "".join(" " if any(start <= at < end for start, end in spans) else char for at, char in enumerate(told))
    )
    about = frozenset(content_terms(left)) - named - _FILLERS - {stem(word) for word in _WORDED}
    units = frozenset(unit for value in values for unit in value.units)
    changes = bool(_CHANGED.search(text) or _NOW.search(text))
    over = bool(_OVER.search(text))
    past = bool(_PAST.search(text)) or (bool(_WAS.search(text)) and not _CHANGED.search(text))
    return Assertion(
        text=text,
        about=about | (units - _FILLERS),
        values=values,
        names=names,
        denied=bool(_DENIED.search(text)),
        over=over,
        changes=changes or over,
        contrasts=bool(_CONTRAST.search(text)),
        firm=not (_TENTATIVE.search(text) or past or _MINE.search(text)),
        scoped=frozenset(each for match in _SCOPE.finditer(left) for each in content_terms(match.group(1))) - _FILLERS,
        pasts=frozenset(stem(word) for word in words(text) if word.endswith("ed")),
    )


def clock_words(text: str) -> str:
    """Return the first time of day that a sentence names, as it stands there: "at five", "9:30"; empty when none."""
    found = _TIME.search(text) or _HOUR.search(text)
    if found is None:
        return ""
    before = re.search(
        r"\b(?:at|from|until|till|by|before|after|around|about)\s+$", text[: found.start()], re.IGNORECASE
    )
    return text[before.start() if before else found.start() : found.end()].strip()


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _values(text: str) -> tuple[tuple[Value, ...], list[tuple[int, int]]]:
    found: list[tuple[int, Value]] = []
    spans: list[tuple[int, int]] = []

    def take(match: re.Match[str], value: Value) -> None:
        if not any(start < match.end() and match.start() < end for start, end in spans):
            found.append((match.start(), value))
            spans.append(match.span())

    for match in _DATE.finditer(text):
        if (value := _date(match, text)) is not None:
            take(match, value)
    for match in _WEEKDAY.finditer(text):
        take(match, Value("weekday", match["day"].lower()))
    for match in (*_TIME.finditer(text), *_HOUR.finditer(text)):
        take(match, Value("time", _hours(match)))
    for match in _NUMBER.finditer(text):
        take(match, _number(match, text))
    for match in _IN_WORDS.finditer(text):
        word = match.group().lower()
        units, label = _units(text, match.end(), match.start())
        if units and not label and word != "one":
            bound = bool(_BOUND.search(text[: match.start()]))
            take(match, Value("number", str(_WORDED[word]), units, bound, label=word in _ORDINALS))
    return tuple(value for _, value in sorted(found, key=lambda item: item[0])), spans


def _date(match: re.Match[str], text: str) -> Value | None:
    parts = match.groupdict()
    name = parts["name2"] or parts["name3"] or parts["name4"]
    if name is not None and name.lower() == "may" and name != "May":
        return None
    if name == "May" and parts["name4"] and not _PREPOSITION.search(text[: match.start()]):
        return None  # "May I ask"
    month = int(parts["month"]) if parts["month"] else 1 + next(
        place for place, each in enumerate(_MONTHS) if each.startswith(str(name).lower()[:3])
    )  # fmt: skip
    day = parts["day"] or parts["day2"] or parts["day3"]
    if day is None and not parts["year4"] and not _PREPOSITION.search(text[: match.start()]):
        return None
    return Value("date" if day else "month", f"{month}/{int(day)}" if day else str(month))


def _hours(match: re.Match[str]) -> str:
    if match.re is _HOUR:
        return f"{_WORDED.get(match['hour'].lower(), 12)}:00"
    return _clock(match["first"]) + (f"-{_clock(match['last'])}" if match["last"] else "")


def _clock(told: str) -> str:
    digits = re.findall(r"\d+", told)
    hour, minute = int(digits[0]), int(digits[1]) if len(digits) > 1 else 0
    low = told.lower()
    if "p" in low and hour < 12:
        hour += 12
    return f"{hour}:{minute:02d}"


def _number(match: re.Match[str], text: str) -> Value:
    unit = match["after"] or match["sign"]
    units, label = _units(text, match.end(), match.start())
    if unit:
        units, label = units | {stem(_SIGNS.get(unit, unit.lower()))}, False
    value = _plain(match["first"]) + (f"-{_plain(match['last'])}" if match["last"] else "")
    label = label or bool(re.search(r"\d(?:st|nd|rd|th)", match.group()))
    return Value("number", value, units, bool(_BOUND.search(text[: match.start()])), label)


def _plain(told: str) -> str:
    """Return a number without the marks between thousands, and without zeros behind its point."""
    whole = re.sub(r"[,.](?=\d{3}(?:\D|$))", "", told).replace(",", ".")
    return re.sub(r"\.0+$", "", whole)


def _units(text: str, end: int, start: int) -> tuple[frozenset[str], bool]:
    """Return the stems of the words that a number counts: those behind it, or else the one before it, as of a label."""
    behind = re.match(r"[\s-]*((?:[a-z][\w-]*\s*){1,3})", text[end:])
    kept: list[str] = []
    for word in words(behind.group(1)) if behind else ():
        if word in STOP_WORDS or (stem(word) in _FILLERS and stem(word) != stem("year")):
            break
        kept.append(stem(word))
    if kept:
        return frozenset(kept[:2]), False
    before = words(text[max(0, start - 30) : start])[-1:]
    found = frozenset(stem(word) for word in before if word not in STOP_WORDS and stem(word) not in _FILLERS)
    return found, bool(found)


def _names(text: str, spans: list[tuple[int, int]]) -> Iterator[Name]:
    verb = _VERB.search(text)
    first = re.search(r"\w", text)
    for match in _NAME.finditer(text):
        start, shown = match.start(), match.group()
        if first is not None and start == first.start():
            rest = shown.split(None, 1)
            if len(rest) < 2 or not content_terms(rest[0]):  # a capital only because it begins the sentence
                if len(rest) < 2:
                    continue
                start, shown = match.end() - len(rest[1]), rest[1]
        if any(begin <= start < end for begin, end in spans):
            continue
        stems = frozenset(content_terms(shown))
        if stems and stems != {"i"}:
            preposition = _PREPOSITION.search(text[:start])
            leads = verb is None or start < verb.start()
            yield Name(stems, preposition.group(1).lower() if preposition else "", leads)
