"""When a statement of the model holds: by the words of the message where rules read them, else by the dates it gives.

A date counts only when the message has words for it, has its digits, or was sent on that day.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from mnemic.core.refining.bearing import is_english
from mnemic.core.refining.quoting import locate
from mnemic.core.refining.reading import When
from mnemic.core.temporal import find_times
from mnemic.model.message import StoredMessage
from mnemic.model.moment import Grain, TimeSpan
from mnemic.text import words

Lasting = Literal["state", "event", "plan"]
"""Whether a statement holds over time, happens once, or is meant to."""

_DATE: Final = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?)?(?:[T ].*)?\Z")
_SURE: Final = re.compile(r"\b(?:last|next|this|ago|past|coming|\d{4})\b", re.IGNORECASE)
"""Words that leave no choice of the year or the week."""

_WEEKDAY: Final = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.IGNORECASE)
_YEAR: Final = 366  # days
_WEEK: Final = 7
_VAGUE: Final = frozenset(
    """spring summer autumn fall winter christmas easter holiday holidays weekend week month year years morning evening
    night childhood birthday school university college since ago later before after until then when while during day
    days weeks months""".split()
)
"""English words by which somebody may tell a time that rules do not read."""

_PAST: Final = 130  # years before the message that a date may lie
_COMING: Final = 60  # and after it


@dataclass(frozen=True, slots=True)
class Held:
    """From when until when a statement holds, and what the words say about it."""

    valid_from: datetime
    valid_to: datetime | None
    time: TimeSpan | None


def held(when: When, message: StoredMessage, kind: Lasting) -> Held:
    """Return when a statement of a message holds.

    What happens is dated by its time and has no end of its own; a plan holds from when it was told.
    """
    told = _told(when, message)
    span = _dated(when, message) if told is None else _as_the_model_has_it(told, when, message)
    if span is None:
        return Held(message.said_at, None, None)
    start, said_at = span.start, message.said_at
    if kind == "plan":
        return (
            Held(said_at, None, span) if span.end is None or span.end > said_at else Held(start or said_at, None, span)
        )
    if kind == "event":
        return Held(start or said_at, None, span)
    if start is None:
        over = span.end or said_at
        return Held(said_at if over > said_at else over - timedelta(microseconds=1), over, span)
    last = _edge(when.end, message) if when.end else None
    return Held(start, last[1] if last is not None and last[1] > start else None, span)


def _told(when: When, message: StoredMessage) -> TimeSpan | None:
    """Return what the words of the message mean, where rules can read them."""
    place = locate(when.words, message.text) if when.words else None
    if place is None:
        return None
    found = [
        time for time in find_times(message.text, message.said_at) if time.start < place[1] and place[0] < time.end
    ]
    return found[0].span if found else None


def _dated(when: When, message: StoredMessage) -> TimeSpan | None:
    """Return the span of the dates that the model gives, where the message bears them out."""
    start, end = _edge(when.start, message), _edge(when.end, message)
    if start is None and end is None:
        return None
    if not _tells_a_time(when, message) and not any(
        _is_borne_out(edge, message) for edge in (start, end) if edge is not None
    ):
        return None
    words = when.words or when.start or when.end
    if start is None:
        return TimeSpan(None, end[1], Grain.OPEN, words) if end else None
    if end is None or end[1] <= start[0]:
        return TimeSpan(*start, words)
    return TimeSpan(start[0], end[1], start[2] if start[0] == end[0] else Grain.DAY, words)


def _as_the_model_has_it(told: TimeSpan, when: When, message: StoredMessage) -> TimeSpan:
    """Return what the words mean, at the model's choice where they leave one: whether "8 May" or "Monday" is to come.

    Rules go by the tense of the sentence, and a model knows more of it.
    """
    edge = _edge(when.start or when.end, message)
    if edge is None or told.start is None or told.end is None or _SURE.search(told.words):
        return told
    first, after, grain = edge
    days = abs(first.date() - told.start.date()).days
    another_year = (first.month, first.day) == (told.start.month, told.start.day) and 0 < days <= _YEAR
    another_week = days == _WEEK and bool(_WEEKDAY.search(told.words))
    if grain is told.grain and (another_year or another_week):
        return TimeSpan(first, after, grain, told.words)
    return told


def _tells_a_time(when: When, message: StoredMessage) -> bool:
    """Tell whether the model's words for a time stand in the message and may tell one.

    In English these are read by rules, so that words they do not know tell none.
    """
    if not when.words or locate(when.words, message.text) is None:
        return False
    return not is_english(message.text) or any(word in _VAGUE for word in words(when.words))


_Edge = tuple[datetime, datetime, Grain]


def _edge(date: str, message: StoredMessage) -> _Edge | None:
    """Return the first moment of a date, the moment after its last, and its grain; None for no date, or a far one."""
    match = _DATE.match(date.strip())
    if match is None:
        return None
    year, month, day = (int(match[name]) if match[name] else 0 for name in ("year", "month", "day"))
    if not message.said_at.year - _PAST <= year <= message.said_at.year + _COMING:
        return None
    try:
        first = datetime(year, month or 1, day or 1, tzinfo=message.said_at.tzinfo)
    except ValueError:
        return None
    if day:
        return first, first + timedelta(days=1), Grain.DAY
    if month:
        return first, (first + timedelta(days=32)).replace(day=1), Grain.MONTH
    return first, first.replace(year=year + 1), Grain.YEAR


def _is_borne_out(edge: _Edge, message: StoredMessage) -> bool:
    first, after, grain = edge
    if first <= message.said_at < after and grain is Grain.DAY:
        return True
    digits = set(re.findall(r"\d+", message.text))
    needed = {str(first.year)} | ({str(first.day)} if grain is Grain.DAY else set())
    return needed <= digits
