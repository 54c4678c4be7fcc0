"""The simplest time expressions, found one by one: "yesterday", "last May", "3 May 2023", "two weeks ago", "2019".

A scanner finds the first word of each and the rules of that word are tried there, so that the whole is linear. Atoms
that mean a time only in company ("May", "2019", "three years") are marked with what they need; `temporal` decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

from mnemic.core.temporal_calendar import Calendar, add_months, holiday
from mnemic.core.temporal_words import (
    COUNT,
    COUNTED,
    GAP,
    HOLIDAY,
    LEADS,
    MONTH,
    MONTHS,
    PART,
    SEASON,
    SHORT_WEEKDAY,
    UNIT,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    lower_same_length,
    parse_count,
    word_before,
)
from mnemic.model.moment import Grain, TimeSpan

Need = Literal["", "preposition", "year", "duration"]


@dataclass(frozen=True, slots=True)
class Atom:
    """A simple time expression at `start:end`.

    `spans` are what it may mean in order of time; more than one when the tense has to decide. `need` is the company
    without which it is no time at all. `count` and `unit` are those of a duration.
    """

    start: int
    end: int
    spans: tuple[TimeSpan, ...]
    need: Need = ""
    count: float = 0
    vague: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """What a rule sees: the text, its lower-cased twin, and the calendar of the reference."""

    raw: str
    low: str
    calendar: Calendar


Rule = Callable[[Text, "re.Match[str]"], Atom | None]

_FIRST: Final = re.compile(
    rf"(?<![\w$\u20ac\u00a3#@&/.:+-])(?:(?P<month>{MONTH}\b)|(?P<weekday>{WEEKDAY}\b|{SHORT_WEEKDAY}\b)"
    rf"|(?P<season>{SEASON}\b)"
    rf"|(?P<holiday>{HOLIDAY}(?!\w))|(?P<digit>\d)|(?P<deictic>(?:today|tonight|yesterday|tomorrow"
    rf"|recently|lately|the)\b)"
    rf"|(?P<pointer>(?:last|this|next|past|coming|few)\b)|(?P<count>{COUNT}\b))"
)


def find_atoms(raw: str, calendar: Calendar) -> list[Atom]:
    """Return the atoms of a text in order, none overlapping another."""
    text = Text(raw, lower_same_length(raw), calendar)
    atoms: list[Atom] = []
    position = 0
    while match := _FIRST.search(text.low, position):
        atom = _first_atom(text, match)
        if atom is not None:
            atoms.append(atom)
        position = atom.end if atom is not None else _skip_word(text.low, match.start())
    return atoms


def _skip_word(low: str, position: int) -> int:
    while position < len(low) and low[position].isalnum():
        position += 1
    return position + 1


def _first_atom(text: Text, first: re.Match[str]) -> Atom | None:
    for pattern, rule in _RULES[first.lastgroup or ""]:
        match = pattern.match(text.low, first.start())
        if match is None:
            continue
        try:
            atom = rule(text, match)
        except (ValueError, OverflowError):  # no such day, or one that datetime cannot hold
            continue
        if atom is not None:
            return atom
    return None


def shift(calendar: Calendar, count: float, unit: str, *, vague: bool) -> TimeSpan:
    """Return the day, week, month or year that lies `count` units from now; negative is past, vague is wider."""
    sign = 1 if count > 0 else -1
    if unit in {"minute", "hour"}:
        size = timedelta(minutes=1) if unit == "minute" else timedelta(hours=1)
        start = calendar.reference + count * size
        return TimeSpan(start, start + size, Grain.MOMENT, "")
    if unit == "year" and count != int(count):
        count, unit = count * 12, "month"
    if unit == "fortnight":
        count, unit = count * 2, "week"
    whole = int(count)
    if unit in {"day", "night"}:
        return _shift_days(calendar, whole, vague=vague)
    if unit == "month":
        few = vague and abs(whole) > 2
        first = add_months(calendar.today, whole - 1 if few else whole)
        return calendar.between(first, add_months(first, 3), Grain.SEASON) if few else calendar.month(first)
    if unit in {"year", "decade"}:
        years = whole * (10 if unit == "decade" else 1)
        few = vague and abs(whole) > 2
        return calendar.year(calendar.today.year + years - (1 if few else 0), 3 if few else 1)
    if unit == "weekend":
        return calendar.weekend(calendar.today + timedelta(days=7 * whole))
    if unit in WEEKDAYS:
        nearest = calendar.weekday(WEEKDAYS[unit], future=sign > 0)
        return calendar.days(nearest + timedelta(days=7 * (whole - sign)))
    day = calendar.today + timedelta(days=7 * whole)
    return calendar.month(day) if vague and abs(whole) > 2 else calendar.week(day)


def _shift_days(calendar: Calendar, count: int, *, vague: bool) -> TimeSpan:
    day = calendar.today + timedelta(days=count)
    if not vague:
        return calendar.days(day)
    return calendar.days(day - timedelta(days=1), 3, Grain.WEEK)


def _count(text: Text, match: re.Match[str]) -> Atom | None:
    count, vague = parse_count(match["n"])
    if match["half"]:
        count += 0.5
    unit, tail = match["unit"], match["tail"]
    if tail is None:
        return Atom(match.start(), match.end(), (), "duration", count, vague, unit)
    past = tail in {"ago", "back"}
    return Atom(match.start(), match.end(), (shift(text.calendar, -count if past else count, unit, vague=vague),))


_PAST_DAYS: Final = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}


def _deictic(text: Text, match: re.Match[str]) -> Atom | None:
    word, part, calendar = match["word"], match["part"], text.calendar
    if word in {"recently", "lately"}:
        return _atom(match, calendar.days(calendar.today - timedelta(days=30), 31))
    day = calendar.today + timedelta(days=_PAST_DAYS[word])
    part = "night" if word == "tonight" else part
    return _atom(match, calendar.part(day, part) if part else calendar.days(day))


def _around(text: Text, match: re.Match[str]) -> Atom | None:
    calendar, words = text.calendar, match.group()
    if "yesterday" in words or "tomorrow" in words:
        return _atom(match, calendar.offset(-2 if "yesterday" in words else 2))
    if "other" in words:
        if words.endswith("week"):
            return _atom(match, calendar.week(calendar.today - timedelta(days=10)))
        return _atom(match, calendar.days(calendar.today - timedelta(days=7), 7, Grain.WEEK))
    return _atom(match, shift(calendar, -2 if words.endswith("last") else 2, match["unit"], vague=False))


def _stretch(text: Text, match: re.Match[str]) -> Atom | None:
    """Resolve the past three weeks, the next few months: from or up to now."""
    calendar = text.calendar
    count, _ = parse_count(match["n"] or "one")
    unit = match["unit"]
    if match["n"] is None and (unit == "day" or not match["the"]):
        return None
    future = match["which"] in {"next", "coming"}
    far = back_to(calendar, count, unit, future=future)
    grain = Grain.YEAR if unit == "year" else Grain.DAY
    if future:
        return _atom(match, calendar.between(calendar.today, far, grain))
    return _atom(match, calendar.between(far, calendar.today + timedelta(days=1), grain))


def back_to(calendar: Calendar, count: float, unit: str, *, future: bool = False) -> date:
    """Return the same day `count` units before today (or after it): where "for three years" began."""
    sign = 1 if future else -1
    if unit in {"month", "year", "decade"}:
        months = int(count * {"month": 1, "year": 12, "decade": 120}[unit]) * sign
        first = add_months(calendar.today, months)
        return first + timedelta(days=min(calendar.today.day, (add_months(first, 1) - first).days) - 1)
    size = {"week": 7, "weekend": 7, "fortnight": 14}.get(unit, 1)
    return calendar.today + timedelta(days=int(count * size) * sign)


def _pointed(text: Text, match: re.Match[str]) -> Atom | None:
    """Resolve last, this or next week, month, year or weekend; this morning; last night."""
    calendar, unit = text.calendar, match["unit"]
    which = match["which"].split()[-1]
    step = {"last": -1, "past": -1, "this": 0, "next": 1, "coming": 1}[which]
    if unit in {"morning", "afternoon", "evening", "night"}:
        day = calendar.today + timedelta(days=-1 if step else 0)
        return _atom(match, calendar.part(day, unit)) if step <= 0 else None
    if unit == "weekend" and match["which"].endswith("coming"):
        step = 0
    if step:
        return _atom(match, shift(calendar, step, unit, vague=False))
    now = {"week": calendar.week, "weekend": calendar.weekend, "month": calendar.month}
    return _atom(match, calendar.year(calendar.today.year) if unit == "year" else now[unit](calendar.today))


def _pointed_name(text: Text, match: re.Match[str]) -> Atom | None:
    """Resolve last, this or next weekday, month, season or holiday."""
    calendar, name = text.calendar, match["name"]
    which = match["which"].split()[-1]
    if name in WEEKDAYS:
        day = _pointed_weekday(calendar, WEEKDAYS[name], which, long=match["which"] == which)
        if isinstance(day, tuple):
            return Atom(match.start(), match.end(), day)
        part = match["part"]
        return _atom(match, calendar.part(day, part) if part else calendar.days(day))
    if name in {"march", "fall"} and which in {"past", "coming"} and match["which"] == which:
        return None
    spans = _yearly(calendar, name, range(calendar.today.year - 2, calendar.today.year + 3))
    reference = calendar.reference
    if which in {"last", "past"}:
        over = [span for span in spans if span.end and span.end <= reference]
        return _atom(match, over[-1]) if over else None
    if which in {"next", "coming"}:
        return _atom(match, next(span for span in spans if span.start and span.start > reference))
    return _atom(match, next(span for span in spans if span.end and span.end.year >= reference.year))


def _pointed_weekday(calendar: Calendar, number: int, which: str, *, long: bool) -> date | tuple[TimeSpan, ...]:
    if which in {"last", "past"}:
        return calendar.weekday(number, future=False)
    if which == "next" and long:
        return calendar.today + timedelta(days=7 - calendar.today.weekday() + number)
    if which == "this" and number != calendar.today.weekday():
        return _weekday_spans(calendar, number, "")
    return calendar.today if which == "this" else calendar.weekday(number, future=True)


def _weekday_spans(calendar: Calendar, number: int, part: str | None) -> tuple[TimeSpan, ...]:
    days = [calendar.weekday(number, future=False), calendar.weekday(number, future=True)]
    return tuple(calendar.part(day, part) if part else calendar.days(day) for day in days)


def _yearly(calendar: Calendar, name: str, years: range) -> list[TimeSpan]:
    kept = [year for year in years if 1 < year < 9998]
    if name in MONTHS:
        return [calendar.month(date(year, MONTHS[name], 1)) for year in kept]
    if re.fullmatch(SEASON, name):
        return [calendar.season(name, year) for year in kept]
    return [calendar.days(holiday(name.replace("\u2019", "'"), year)) for year in kept]


def _around_now(calendar: Calendar) -> range:
    return range(calendar.today.year - 1, calendar.today.year + 2)


def _day_of_month(text: Text, match: re.Match[str]) -> Atom | None:
    """Resolve May 3rd, 3 May, May 3 to 5, with or without a year."""
    name, day, last = match["month"], int(match["day"]), match.groupdict().get("last")
    said = text.raw[match.start("month")]
    if name in {"may", "march", "mar", "dec", "sep"} and said.islower() and not (match["nth"] or match["year"]):
        return None
    if COUNTED.match(text.low, match.end()):
        return None
    calendar = text.calendar
    years = range(int(match["year"]), int(match["year"]) + 1) if match["year"] else _around_now(calendar)
    spans = []
    for year in years:
        if day == 29 and MONTHS[name] == 2 and (year % 4 or (year % 100 == 0 and year % 400)):
            continue
        first = date(year, MONTHS[name], day)
        count = int(last) - day + 1 if last and int(last) > day else 1
        spans.append(calendar.days(first, count))
    return Atom(match.start(), match.end(), tuple(spans)) if spans else None


_DAY_BEFORE: Final = re.compile(r"(?<!\d)\d{1,2}(?:st|nd|rd|th)?(?:\sof)?\s\Z")


def _month_of_year(text: Text, match: re.Match[str]) -> Atom | None:
    if _DAY_BEFORE.search(text.low, max(0, match.start() - 9), match.start()):
        return None  # a day that the month does not have: "31 February 2023"
    year = int(match["year"]) if match["year"] else 2000 + int(match["short"])
    return _atom(match, _yearly(text.calendar, match["name"], range(year, year + 1))[0])


def _bare_name(text: Text, match: re.Match[str]) -> Atom | None:
    name = match.group()
    if word_before(text.low, match.start()) not in LEADS:
        return None
    if re.fullmatch(SEASON, name) or (len(name) == 3 and name != "may" and text.raw[match.start()].islower()):
        return None
    return Atom(
        match.start(), match.end(), tuple(_yearly(text.calendar, name, _around_now(text.calendar))), "preposition"
    )


def _bare_weekday(text: Text, match: re.Match[str]) -> Atom | None:
    name = match["name"]
    short = not name.endswith("day")
    if word_before(text.low, match.start()) in {"every", "each", "most", "black", "ash", "alternate"}:
        return None
    if short and text.raw[match.start()].islower():
        return None
    spans = _weekday_spans(text.calendar, WEEKDAYS[name], match["part"])
    return Atom(match.start(), match.end(), spans, "preposition" if short else "")


def _the(text: Text, match: re.Match[str]) -> Atom | None:
    """Resolve the weekend, the summer, the 15th: which one is for the tense to say."""
    calendar, today = text.calendar, text.calendar.today
    if match["day"]:
        first = [add_months(today, step) for step in (-1, 0, 1)]
        number = int(match["day"])
        spans = tuple(
            calendar.days(day.replace(day=number)) for day in first if number <= (add_months(day, 1) - day).days
        )
        return Atom(match.start(), match.end(), spans, "preposition") if spans else None
    if match["decade"]:
        return _atom(match, calendar.year(_decade(match["decade"]), 10))
    spans = (calendar.weekend(today - timedelta(days=7)), calendar.weekend(today))
    return Atom(match.start(), match.end(), spans, "preposition")


def _decade(words: str) -> int:
    digits = words.strip("'").removesuffix("s").strip("'")
    if not digits.isdecimal():
        return {"sixtie": 1960, "seventie": 1970, "eightie": 1980, "ninetie": 1990}[digits]
    number = int(digits)
    return number if number >= 1000 else number + (1900 if number >= 30 else 2000)


def _iso(text: Text, match: re.Match[str]) -> Atom | None:
    year, month, day = int(match["year"]), int(match["month"]), match["day"]
    calendar = text.calendar
    if not day:
        return _atom(match, calendar.month(date(year, month, 1)))
    return _atom(match, calendar.days(date(year, month, int(day))))


def _slashed(text: Text, match: re.Match[str]) -> Atom | None:
    """Resolve 05/2023, and 5/31/2023: the month comes first unless it cannot be one."""
    first, second, year = int(match["first"]), match["second"], int(match["year"])
    if not second:
        return _atom(match, text.calendar.month(date(year, first, 1)))
    month, day = (first, int(second)) if first <= 12 else (int(second), first)
    return _atom(match, text.calendar.days(date(year, month, day)))


def _bare_year(text: Text, match: re.Match[str]) -> Atom | None:
    first = int(match["year"])
    last = match["last"]
    if COUNTED.match(text.low, match.end()):
        return None
    if word_before(text.low, match.start()) not in LEADS and text.low[match.start() - 1 : match.start()] != "(":
        return None
    years = int(last) - first + 1 if last and int(last) > first else 1
    return Atom(match.start(), match.end(), (text.calendar.year(first, years),), "year")


def _atom(match: re.Match[str], span: TimeSpan) -> Atom:
    return Atom(match.start(), match.end(), (span,))


_NTH = r"(?P<nth>st|nd|rd|th)?"
_WITH_YEAR = rf"(?:,?{GAP}(?:of{GAP})?(?P<year>{YEAR}))?"
_PARTED = rf"(?:{GAP}(?P<part>{PART}))?\b"
_WHICH = rf"(?P<which>(?:this{GAP})?(?:last|past|next|coming)|this)"


def _compiled(*rules: tuple[str, Rule]) -> list[tuple[re.Pattern[str], Rule]]:
    return [(re.compile(pattern), rule) for pattern, rule in rules]


_COUNT_RULE = (
    (
        rf"(?P<n>{COUNT}){GAP}(?P<unit>{UNIT})s?\b(?P<half>{GAP}and{GAP}a{GAP}half\b)?"
        rf"(?:{GAP}(?:or{GAP}so{GAP})?(?P<tail>ago|back|from{GAP}(?:now|today))\b)?"
    ),
    _count,
)
_STRETCH_RULE = (
    (
        rf"(?P<the>the{GAP})?(?P<which>last|past|next|coming){GAP}(?:(?P<n>{COUNT}){GAP})?(?P<unit>day|week"
        rf"|month|year)s?\b"
    ),
    _stretch,
)
_RULES: Final = {
    "month": _compiled(
        (
            (
                rf"(?P<month>{MONTH})\.?{GAP}(?:the{GAP})?(?P<day>[0-3]?\d){_NTH}"
                rf"(?:\s?[-\u2013]\s?(?P<last>[0-3]?\d)(?:st|nd|rd|th)?)?(?![\w:]|\.\d|-\w){_WITH_YEAR}"
            ),
            _day_of_month,
        ),
        (rf"(?P<name>{MONTH})\.?(?:{GAP}of|,)?{GAP}(?:(?P<year>{YEAR})|'(?P<short>\d\d)\b)", _month_of_year),
        (rf"{MONTH}\b(?!['-]\w)", _bare_name),
    ),
    "weekday": _compiled(
        (
            (
                rf"(?P<name>{WEEKDAY}|{SHORT_WEEKDAY}(?=\b)){_PARTED}(?!s\b|'s?\w|\s{{1,4}}(?:school|roast"
                rf"|league|mornings|afternoons|evenings|nights))"
            ),
            _bare_weekday,
        )
    ),
    "season": _compiled(
        (rf"(?P<name>{SEASON})(?:{GAP}of)?{GAP}(?:(?P<year>{YEAR})|'(?P<short>\d\d)\b)", _month_of_year)
    ),
    "holiday": _compiled(
        (rf"(?P<name>{HOLIDAY})(?:{GAP}of)?,?{GAP}(?:(?P<year>{YEAR})|'(?P<short>\d\d)\b)", _month_of_year),
        (
            (
                rf"{HOLIDAY}(?!\w|['-]\w)(?!\s(?:party|parties|tree|dinner|gift|gifts|present|presents"
                rf"|market|card|cards|decor|movie|song|costume|lights|eggs?|bunny)\b)"
            ),
            _bare_name,
        ),
    ),
    "digit": _compiled(
        (
            (
                r"(?P<year>(?:18|19|20)\d\d)-(?P<month>0[1-9]"
                r"|1[0-2])(?:-(?P<day>[0-3]\d)(?:t\d\d:\d\d\S{0,20})?)?(?![\w-])"
            ),
            _iso,
        ),
        (r"(?P<first>[0-3]?\d)/(?:(?P<second>[0-3]?\d)/)?(?P<year>(?:18|19|20)\d\d)(?![\w/])", _slashed),
        (
            (
                rf"(?P<day>[0-3]?\d){_NTH}(?:\s?[-\u2013]\s?(?P<last>[0-3]?\d)(?:st|nd|rd"
                rf"|th)?)?{GAP}(?:day{GAP})?(?:of{GAP})?(?P<month>{MONTH})\b{_WITH_YEAR}"
            ),
            _day_of_month,
        ),
        _COUNT_RULE,
        (rf"(?P<year>(?:18|19|20)\d\d)(?:\s?[-\u2013]\s?(?P<last>{YEAR})|(?![\w/-]|[.,:]\d))", _bare_year),
    ),
    "deictic": _compiled(
        (rf"(?P<word>today|tonight|yesterday|tomorrow|recently|lately){_PARTED}", _deictic),
        (rf"the{GAP}day{GAP}(?:before{GAP}yesterday|after{GAP}tomorrow)\b", _around),
        (rf"the{GAP}other{GAP}(?:day|night|week|evening|morning)\b", _around),
        (rf"the{GAP}(?P<unit>week|weekend|month|year|night){GAP}(?:before{GAP}last|after{GAP}next)\b", _around),
        _STRETCH_RULE,
        (
            (
                rf"the{GAP}(?:(?P<day>[0-3]?\d)(?:st|nd|rd|th)\b(?=[.,;!?)]|\Z|\s{{1,4}}(?:and|but|at"
                rf"|we|i|of{GAP}this)\b)"
                rf"|(?P<decade>'?(?:(?:18|19|20)?\d0)'?s|sixties|seventies|eighties|nineties)\b|weekend(?![\w-]))"
            ),
            _the,
        ),
    ),
    "pointer": _compiled(
        _STRETCH_RULE,
        (rf"{_WHICH}{GAP}(?P<unit>weekend|week|month|year|{PART})\b(?!-)", _pointed),
        (
            rf"{_WHICH}{GAP}(?P<name>{WEEKDAY}|{SHORT_WEEKDAY}(?=\b)|{MONTH}|{SEASON}|{HOLIDAY})(?!\w){_PARTED}",
            _pointed_name,
        ),
        _COUNT_RULE,
    ),
    "count": _compiled(_COUNT_RULE),
}
