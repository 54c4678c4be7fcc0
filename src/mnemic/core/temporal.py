"""Time expressions of English, resolved against the moment when they were said.

`find_times` reads statements, `question_times` questions. Atoms come from `temporal_atoms`; here they are joined with
the words before them ("since", "early", "the week before") and with each other ("from 2015 to 2018"), and those that
need company they do not have ("May", "2019", "three years") are dropped. A bare weekday, month or date takes the tense
of its sentence: past unless something says that it is to come.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final, Literal

from mnemic.core.temporal_atoms import Atom, Text, back_to, find_atoms, shift
from mnemic.core.temporal_calendar import Calendar, add_months
from mnemic.core.temporal_words import (
    COUNT,
    FUTURE,
    GAP,
    LEADS,
    PAST,
    WEEKDAY,
    WEEKDAYS,
    lower_same_length,
    parse_count,
    word_before,
)
from mnemic.model.moment import Grain, TimeSpan

Tense = Literal["past", "future"]


@dataclass(frozen=True, slots=True)
class FoundTime:
    """A time expression at `start:end` of the text and what it means; `span.words` are its words."""

    span: TimeSpan
    start: int
    end: int


_WINDOW: Final = 64
_SENTENCE_EDGE: Final = re.compile(r"[.!?\n;](?=\s|\Z)")
_STAGE: Final = re.compile(
    rf"(?<![\w-])(?:(?P<simple>early|earlier|mid|middle|late|later)(?:{GAP}(?:in|of|on))?(?:{GAP}the)?[\s-]"
    rf"|(?:at{GAP}|in{GAP}|by{GAP}|towards{GAP})?(?:the{GAP})?(?P<stage>very{GAP}beginning|beginning"
    rf"|start|middle|end){GAP}of(?:{GAP}the)?{GAP})\Z"
)
_ORDINAL: Final = re.compile(
    rf"(?<![\w-])(?:in{GAP}|on{GAP}|during{GAP})?(?:the{GAP})?(?P<nth>first|second|third|fourth|last"
    rf"|1st|2nd|3rd|4th){GAP}"
    rf"(?P<unit>weekend|week|{WEEKDAY}){GAP}(?:of|in){GAP}\Z"
)
_RELATIVE: Final = re.compile(
    rf"(?<![\w-])(?:on{GAP}|in{GAP}|during{GAP})?(?:(?:the{GAP})?(?P<last>last{GAP})?(?P<n>{COUNT}{GAP})?"
    rf"(?P<unit>day|night|evening|morning|weekend|week|month|year|summer|{WEEKDAY})s?{GAP}"
    rf"(?P<side>right{GAP}before|just{GAP}before|before|prior{GAP}to|preceding|after|following|of){GAP})(?:the{GAP})?\Z"
)
_OPENING: Final = re.compile(
    rf"(?<![\w-])(?:(?P<since>(?:ever{GAP})?since(?:{GAP}(?:back{GAP})?in)?|starting(?:{GAP}(?:in|on|from))?)"
    rf"|(?P<until>until|till|up{GAP}to|up{GAP}until)|(?P<before>before|prior{GAP}to)|(?P<after>after)){GAP}\Z"
)
_PLAIN: Final = re.compile(
    rf"(?<![\w-])(?:(?:back{GAP}|sometime{GAP}|some{GAP}time{GAP})?(?P<word>in|on|at|over|during"
    rf"|throughout|around|about|by|for|of|from"
    rf"|between|circa|through|within){GAP}|back{GAP}|this{GAP}past{GAP})\Z"
)
_JOIN: Final = re.compile(r"(?:\s?[-\u2013]\s?|\s{1,4}(?:to|until|till|through|and|thru)\s{1,4})\Z")
_LEANING: Final = re.compile(
    rf"{GAP}(?:right{GAP}|just{GAP})?(?:before|after|prior{GAP}to|preceding|following){GAP}(?:the{GAP})?"
)
_WITHIN: Final = re.compile(rf"{GAP}(?:of|in){GAP}")
_INSIDE: Final = re.compile(rf",?{GAP}(?:of{GAP}|in{GAP}|on{GAP})?")
_RANGE_OPENERS: Final = frozenset({"from", "between"})
_PERFECT: Final = re.compile(r"\b(?:have|has|'ve|been|i've|we've)\b|'ve\b")
_COMING: Final = re.compile(r"(?:\b(?:is|are|am|be|in)|'s|'re|'m|back|due|leave|leaving|there|again)\s{0,4}\Z")


def find_times(text: str, reference: datetime, *, tense: Tense | None = None) -> list[FoundTime]:
    """Return the time expressions of a text in order, none overlapping another.

    `reference` is the aware moment when it was said; spans are in its zone. `tense` decides which Friday or which May
    is meant; without it each sentence decides for itself.
    """
    calendar = Calendar(reference)
    atoms = find_atoms(text, calendar)
    if not atoms:
        return []
    view = Text(text, lower_same_length(text), calendar)
    found: list[FoundTime] = []
    floor = index = 0
    while index < len(atoms):
        after = atoms[index + 1] if index + 1 < len(atoms) else None
        joined = _join(view, atoms[index], after, floor, tense) if after else None
        if joined is None and after and _leans(view, atoms[index], after):
            index += 1
            continue
        time = joined or _resolve(view, atoms[index], floor, tense)
        if time is not None:
            found.append(time)
            floor = time.end
        index += 2 if joined else 1
    return found


def _leans(view: Text, first: Atom, second: Atom) -> bool:
    """Tell whether the first is only the unit of the second: "last Friday before Christmas"."""
    gap = view.low[first.end : second.start]
    if len(gap) >= 20 or not second.spans:
        return False
    if second.spans[0].grain is Grain.MONTH and view.low.startswith("last", first.start):
        return _WITHIN.fullmatch(gap) is not None
    return _LEANING.fullmatch(gap) is not None


def question_times(question: str, reference: datetime) -> list[TimeSpan]:
    """Return what the time expressions of a question mean; a month, date or weekday without a year is the latest.

    A question that asks for what is to come ("What will Ann do on Friday?") takes the next one instead.
    """
    tense: Tense = "future" if FUTURE.search(lower_same_length(question)) else "past"
    return [time.span for time in find_times(question, reference, tense=tense)]


def _resolve(view: Text, atom: Atom, floor: int, tense: Tense | None) -> FoundTime | None:
    """Give an atom its meaning with the words before it, or drop it."""
    if atom.need == "duration":
        return _duration(view, atom, floor)
    lead = word_before(view.low, atom.start)
    if lead not in LEADS:
        kept = not atom.need or (atom.need == "year" and _in_brackets(view.low, atom))
        return _found(view, _choose(view, atom, floor, tense), atom.start, atom.end) if kept else None
    start, need = atom.start, atom.need
    span = _choose(view, atom, floor, tense or _tense_of(view.low, atom.start, lead))
    try:
        for pattern, change in _CHANGES:
            before = pattern.search(view.low, max(floor, start - _WINDOW), start)
            changed = change(view.calendar, before, span) if before else None
            if before and changed is not None:
                start, span, need = before.start(), changed, ""
    except (ValueError, OverflowError):  # beyond what datetime can hold
        return None
    plain = _PLAIN.search(view.low, max(floor, start - _WINDOW), start)
    if need and not (plain and _may_lead(plain, atom)) and not (need == "year" and _in_brackets(view.low, atom)):
        return None
    if plain and plain["word"] not in {"of", "from", "between", "about", "for"}:
        start = plain.start()
    return _found(view, span, start, atom.end)


def _tense_of(low: str, position: int, lead: str) -> Tense | None:
    """Tell that "until June" is to come, unless the words before it tell of the past."""
    if lead in {"until", "till"} and not PAST.search(low[max(0, position - _WINDOW) : position]):
        return "future"
    return "past" if lead == "since" else None


def _may_lead(plain: re.Match[str], atom: Atom) -> bool:
    word = plain["word"]
    return word is None or atom.need != "year" or word not in {"at", "on", "over", "for", "about"}


def _in_brackets(low: str, atom: Atom) -> bool:
    return low[atom.start - 1 : atom.start] == "(" and low[atom.end : atom.end + 1] == ")"


def _found(view: Text, span: TimeSpan, start: int, end: int) -> FoundTime:
    return FoundTime(replace(span, words=view.raw[start:end]), start, end)


def _choose(view: Text, atom: Atom, floor: int, tense: Tense | None) -> TimeSpan:
    if len(atom.spans) == 1:
        return atom.spans[0]
    if tense is None:
        left = max(floor, atom.start - 2 * _WINDOW)
        edges = [edge.end() for edge in _SENTENCE_EDGE.finditer(view.low, left, atom.start)]
        left = edges[-1] if edges else left
        close = _SENTENCE_EDGE.search(view.low, atom.end, atom.end + _WINDOW)
        sentence = view.low[left : close.start() if close else atom.end + _WINDOW]
        tense = "future" if FUTURE.search(sentence) and not _told(sentence) else "past"
    return view.calendar.nearest(list(atom.spans), future=tense == "future")


def _told(sentence: str) -> bool:
    past, future = PAST.search(sentence), FUTURE.search(sentence)
    return bool(
        past and future and past.start() < future.start() and "going to" not in sentence and "will" not in sentence
    )


def _duration(view: Text, atom: Atom, floor: int) -> FoundTime | None:
    """Three years: a time after "in" (to come) or "for" (since then, in the perfect)."""
    left = max(floor, atom.start - _WINDOW)
    lead = re.compile(rf"(?<![\w-])(?:(in|for|within)(?:{GAP}about|{GAP}over|{GAP}almost|{GAP}nearly)?){GAP}\Z").search(
        view.low, left, atom.start
    )
    if lead is None:
        return None
    edges = [edge.end() for edge in _SENTENCE_EDGE.finditer(view.low, left, lead.start())]
    before = view.low[edges[-1] if edges else left : lead.start()]
    calendar = view.calendar
    try:
        if lead[1] == "for":
            if not _PERFECT.search(before) or atom.unit in {"minute", "hour", "night"}:
                return None
            start = calendar.midnight(back_to(calendar, atom.count, atom.unit))
            return _found(view, TimeSpan(start, None, Grain.OPEN, ""), lead.start(), atom.end)
        if not (FUTURE.search(before) or _ARRANGED.search(before) or _COMING.search(before)) or _PAST_NEAR.search(
            before
        ):
            return None
        return _found(view, shift(calendar, atom.count, atom.unit, vague=atom.vague), lead.start(), atom.end)
    except (ValueError, OverflowError, KeyError):
        return None


_ARRANGED: Final = re.compile(r"\b(?:have|has|have got|'ve got) (?:an?|my|our|another)\b")
_PAST_NEAR: Final = re.compile(r"\b(?:was|were|did|went|had|lost|made|read|ran|\w{3,14}ed)\b[^.!?]{0,40}\Z")


def _inside(view: Text, first: Atom, second: Atom, floor: int) -> FoundTime | None:
    """In May last year, on Friday last week: the second tells which of the first is meant."""
    if len(first.spans) < 2 or len(second.spans) != 1 or not _INSIDE.fullmatch(view.low[first.end : second.start]):
        return None
    fitting = [span for span in first.spans if span.start and second.spans[0].contains(span.start)]
    if not fitting:
        return None
    time = _resolve(view, Atom(first.start, first.end, (fitting[0],)), floor, None)
    return _found(view, time.span, time.start, second.end) if time else None


def _join(view: Text, first: Atom, second: Atom, floor: int, tense: Tense | None) -> FoundTime | None:
    """From 2015 to 2018, between May and July, 2015 to 2018."""
    gap = view.low[first.end : second.start]
    if len(gap) > 12 or not first.spans or not second.spans:
        return None
    if not _JOIN.fullmatch(gap):
        return _inside(view, first, second, floor)
    lead = _PLAIN.search(view.low, max(floor, first.start - _WINDOW), first.start)
    if lead is None or (lead["word"] not in _RANGE_OPENERS):
        return None
    begin = _choose(view, first, floor, tense)
    if len(first.spans) > 1 and len(second.spans) == 1:
        begin = _same_year(begin, second.spans[0])
    later = [span for span in second.spans if span.end and begin.start and span.end > begin.start]
    if not later or begin.start is None:
        return None
    grain = max(begin.grain, later[0].grain, key=_ROUGHNESS.index)
    grain = Grain.DAY if grain in {Grain.WEEK, Grain.MONTH, Grain.SEASON, Grain.MOMENT} else grain
    return _found(view, TimeSpan(begin.start, later[0].end, grain, ""), lead.start(), second.end)


def _same_year(span: TimeSpan, other: TimeSpan) -> TimeSpan:
    """Move a month or day without a year to the last one begun before the other ends: "between May and July 2022"."""
    if span.start is None or other.start is None or (span.start.month, span.start.day) == (2, 29):
        return span
    start = span.start.replace(year=other.start.year)
    return replace(span, start=start if start <= other.start else start.replace(year=start.year - 1))


_ROUGHNESS: Final = [Grain.MOMENT, Grain.DAY, Grain.WEEK, Grain.MONTH, Grain.SEASON, Grain.YEAR, Grain.OPEN]


def _stage(calendar: Calendar, match: re.Match[str], span: TimeSpan) -> TimeSpan | None:
    """Resolve early, mid or late in a year, a month or a week."""
    start, end = span.start, span.end
    if start is None or end is None:
        return None
    word = (match["simple"] or match["stage"]).split()[-1]
    if word in {"earlier", "later"} and span.contains(calendar.reference):
        today = calendar.midnight(calendar.today)
        first, last = (start, today + timedelta(days=1)) if word == "earlier" else (today, end)
        return TimeSpan(first, last, span.grain if span.grain is not Grain.WEEK else Grain.DAY, "")
    third = {"early": 0, "earlier": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1}.get(word, 2)
    if span.grain is Grain.YEAR and (end - start).days < 370:
        first_month, months = ((1, 3), (5, 4), (10, 3))[third]
        first_day = date(start.year, first_month, 1)
        return calendar.between(first_day, add_months(first_day, months), Grain.SEASON)
    if span.grain is Grain.MONTH:
        cuts = [start.date(), start.date() + timedelta(days=10), start.date() + timedelta(days=20), end.date()]
        return calendar.between(cuts[third], cuts[third + 1], Grain.DAY)
    size = (end - start) / 3
    return TimeSpan(start + size * third, start + size * (third + 1), span.grain, "")


def _ordinal(calendar: Calendar, match: re.Match[str], span: TimeSpan) -> TimeSpan | None:
    """Resolve the first week of August, the last Friday in May."""
    if span.start is None or span.end is None or span.grain is not Grain.MONTH:
        return None
    number = {"f": 0, "1": 0, "s": 1, "2": 1, "t": 2, "3": 2, "4": 3, "l": -1}[match["nth"][0]]
    number = 3 if match["nth"] == "fourth" else number
    first, unit = span.start.date(), match["unit"]
    weekday = {"week": None, "weekend": 5}.get(unit, WEEKDAYS.get(unit))
    if weekday is None:
        days = 7 * number if number >= 0 else (span.end.date() - first).days - 7
        return calendar.days(first + timedelta(days=days), 7, Grain.WEEK)
    fitting = [day for day in range((span.end - span.start).days) if (first + timedelta(days=day)).weekday() == weekday]
    return calendar.days(first + timedelta(days=fitting[number]), 2 if unit == "weekend" else 1)


def _relative(calendar: Calendar, match: re.Match[str], span: TimeSpan) -> TimeSpan | None:
    """Resolve the week before 9 June, two days after Christmas, the week of 9 June."""
    if span.start is None or span.end is None:
        return None
    side, unit = match["side"].split()[-1], match["unit"]
    count, _ = parse_count(match["n"] or "one")
    first, last = span.start.date(), (span.end - timedelta(microseconds=1)).date()
    day, anchored = (last, 1) if side in {"after", "following"} else (first, -1)
    if side == "of":
        if unit not in {"week", "weekend", "day", "night", "evening", "morning"} or span.grain is not Grain.DAY:
            return None
        return {"week": calendar.week, "weekend": calendar.weekend}.get(unit, calendar.days)(first)
    there = Calendar(calendar.midnight(day))
    if unit in {"night", "evening", "morning"}:
        return there.part(day + timedelta(days=anchored), unit)
    if unit == "summer":
        return there.season("summer", day.year + anchored)
    if unit == "weekend" and anchored > 0:
        return there.weekend(day if day.weekday() < 5 else day + timedelta(days=7))
    return shift(there, count * anchored, unit, vague=False)


def _open(_: Calendar, match: re.Match[str], span: TimeSpan) -> TimeSpan | None:
    """Resolve since and after, which leave the end open, and until and before, which leave the start open."""
    if match["since"]:
        return TimeSpan(span.start, None, Grain.OPEN, "")
    if match["after"]:
        return TimeSpan(span.end, None, Grain.OPEN, "")
    return TimeSpan(None, span.end if match["until"] else span.start, Grain.OPEN, "")


_CHANGES: Final = ((_STAGE, _stage), (_ORDINAL, _ordinal), (_RELATIVE, _relative), (_OPENING, _open))
