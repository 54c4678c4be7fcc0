"""When something happened: the time words of the best evidence, resolved against the moment when they were said.

The answer keeps the grain of the words: "last week" said on 9 June is the week before 9 June, not a day. Evidence
without time words gives only the day on which it was mentioned, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from mnemic.core.answering.asking import Asked
from mnemic.core.answering.evidence import Sentence
from mnemic.core.answering.roots import roots
from mnemic.core.assertions import clock_words
from mnemic.core.temporal import FoundTime, find_times
from mnemic.model.moment import Grain, TimeSpan

_NEAR_UNIT: Final = re.compile(
    r"\b(?:the )?(?P<side>last|past|this past|previous|next|this coming|coming|this)\s+(?P<unit>week|weekend)\b"
)
_WEEKS_AGO: Final = re.compile(r"\b(?P<count>a|one|two|three|four|five|six|\d{1,2}) weeks? (?P<side>ago|back)\b")
_FEW: Final = re.compile(r"\b(?:few|couple of|some|several|other) (?P<unit>day|week|weekend|month|year)s?\b")
_WEEKDAY: Final = re.compile(r"\b(?P<day>mon|tues|wednes|thurs|fri|satur|sun)day\b")
_SINCE: Final = re.compile(r"^(?P<lead>since|starting|from)\s+(?P<rest>.+)$", re.IGNORECASE)
_FOR: Final = re.compile(r"\b(?P<unit>year|month)s?\b")
_NOW: Final = re.compile(r"\b(?:just|today|now|right now|currently|tonight|this morning)\b", re.IGNORECASE)
_VAGUE: Final = re.compile(
    r"^(?:now|nowadays|these days|at the moment|right now|someday|soon|lately|recently)$", re.IGNORECASE
)
_DATE: Final = re.compile(r"\b\d{4}\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.IGNORECASE)
_COMING: Final = re.compile(r"\bwhen (?:is|are|will|does|do)\b|\bgoing to\b|\bplan(?:s|ning|ned)?\b|\bupcoming\b")
_USUALLY: Final = re.compile(r"\bwhen (?:do|does)\b|\bwhat time\b")  # and not on which day it once was
_NUMBERS: Final = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


@dataclass(frozen=True, slots=True)
class Dated:
    """A date that answers, the sentence it stands on, and whether that sentence says it in so many words."""

    text: str
    sentence: Sentence
    plain: bool


def date_answer(asked: Asked, sentences: Sequence[Sentence]) -> Dated | None:
    """Return when the event of the question happened, by the sentences; None when there are none."""
    best: tuple[float, Sentence, FoundTime | None] | None = None
    for sentence in sentences[:60]:
        value, time = _weigh(asked, sentence)
        if best is None or value > best[0]:
            best = (value, sentence, time)
    if best is None:
        return None
    _, sentence, time = best
    if sentence.hit.locator is not None:  # when a document was added says nothing, nor which of several dates is meant
        told = [each for each in find_times(sentence.text, sentence.said_at) if _tells(each, sentence)]
        if time is None or len(told) > 1:
            return None
    elif _USUALLY.search(asked.low) and (hour := clock_words(sentence.text)):
        return Dated(hour[:1].upper() + hour[1:], sentence, plain=True)
    if time is not None:
        return Dated(label(asked, time.span, sentence.said_at), sentence, plain=True)
    said = _narrowed(asked, TimeSpan(sentence.said_at, sentence.said_at + timedelta(days=1), Grain.DAY, ""))
    said = said or day(sentence.said_at)
    now = bool(_NOW.search(sentence.text)) or asked.year or asked.month
    return Dated(said if now else f"Mentioned on {said}", sentence, plain=now)


def _weigh(asked: Asked, sentence: Sentence) -> tuple[float, FoundTime | None]:
    """Return how well a sentence tells when, and the time in it that stands nearest to the question's words."""
    coming = bool(_COMING.search(asked.low))
    times = [(time, 0.0) for time in find_times(sentence.text, sentence.said_at) if _tells(time, sentence)]
    if not times:
        times = [(time, 0.12) for time in _beside(sentence)]
    if not times:
        return sentence.score + _asked_then(asked, sentence.said_at), None
    weighed = []
    for time, cost in times:
        ahead = time.span.start is not None and time.span.start > sentence.said_at
        fit = 0.05 if ahead == coming else -0.05
        fit += _asked_then(asked, time.span.start or sentence.said_at)
        weighed.append((0.3 + fit - cost - 0.002 * _distance(asked, sentence, time), time))
    value, time = max(weighed, key=lambda item: item[0])
    return sentence.score + value, time


def _tells(time: FoundTime, sentence: Sentence) -> bool:
    """Tell whether a time says when; in a document, which nobody knows when it was written, only a date does."""
    told = time.span.words.strip()
    return bool(_DATE.search(told)) if sentence.hit.locator is not None else not _VAGUE.match(told)


def _asked_then(asked: Asked, moment: datetime) -> float:
    """Return what it is worth that a moment lies in the time that the question names ("the hike in June")."""
    if not asked.times:
        return 0.0
    return 0.15 if any(span.contains(moment) for span in asked.times) else -0.15


def _beside(sentence: Sentence) -> list[FoundTime]:
    """Return the times in the rest of the same hit."""
    text = sentence.hit.text[:4_000]
    found = find_times(text, sentence.said_at)
    return [
        time
        for time in found
        if not sentence.start <= time.start < sentence.end
        and min(abs(time.start - sentence.end), abs(sentence.start - time.end)) < 120
        and _tells(time, sentence)
    ]


def _distance(asked: Asked, sentence: Sentence, time: FoundTime) -> int:
    wanted = set(asked.stems)
    places = [match.start() for match in re.finditer(r"\w+", sentence.text) if wanted & roots(match.group())]
    return min((abs(place - time.start) for place in places), default=40)


def label(asked: Asked, span: TimeSpan, said_at: datetime) -> str:
    """Return a span as an answer, no more precise than its words."""
    narrowed = _narrowed(asked, span)
    if narrowed:
        return narrowed
    low = " ".join(span.words.lower().split())
    for pattern, show in _SHOWN:
        match = pattern.search(low)
        shown = show(match, span, said_at) if match else None
        if shown:
            return shown
    text = _open(span, said_at) if span.grain is Grain.OPEN else span.label()
    return text[:1].upper() + text[1:]


def _narrowed(asked: Asked, span: TimeSpan) -> str | None:
    if span.start is None or not (asked.year or asked.month):
        return None
    if asked.year:
        return f"{span.start:%Y}"
    return f"{span.start:%B %Y}" if span.grain not in {Grain.YEAR, Grain.SEASON} else None


def _near_unit(match: re.Match[str], _: TimeSpan, said_at: datetime) -> str:
    side = {"this": "of", "next": "after", "coming": "after", "this coming": "after"}.get(match["side"], "before")
    return f"The {match['unit']} {side} {day(said_at)}"


def _weeks_ago(match: re.Match[str], _: TimeSpan, said_at: datetime) -> str:
    count = _NUMBERS.get(match["count"]) or int(match["count"])
    word = {1: "a week"}.get(count, f"{match['count']} weeks")
    return f"About {day(said_at - timedelta(weeks=count))} ({word} before {day(said_at)})"


def _few(match: re.Match[str], _: TimeSpan, said_at: datetime) -> str | None:
    unit = match["unit"]
    if "ago" not in match.string and "other" not in match.group() and "last" not in match.string:
        return None
    return f"A few {unit}s before {day(said_at)}"


def _weekday(match: re.Match[str], span: TimeSpan, said_at: datetime) -> str | None:
    if span.grain is not Grain.DAY or span.start is None or re.search(r"\d", match.string):
        return None
    side = "before" if span.start <= said_at else "after"
    return f"{day(span.start)} (the {span.start:%A} {side} {day(said_at)})"


_SHOWN: Final = ((_NEAR_UNIT, _near_unit), (_WEEKS_AGO, _weeks_ago), (_FEW, _few), (_WEEKDAY, _weekday))


def _open(span: TimeSpan, said_at: datetime) -> str:
    """Return an open span without the first of January that stands for a year."""
    since = _SINCE.match(span.words.strip())
    inner = find_times(f"in {since['rest']}", said_at) if since else []
    if inner and inner[0].span.grain is not Grain.OPEN:
        return f"since {inner[0].span.label()}"
    unit = _FOR.search(span.words.lower())
    if span.start is not None and unit and not since:
        return f"since about {span.start:%Y}" if unit["unit"] == "year" else f"since about {span.start:%B %Y}"
    return span.label()


def day(moment: datetime) -> str:
    """Return a day as people write it: 9 June 2023."""
    return f"{moment.day} {moment:%B %Y}"
