"""Calendar arithmetic behind time expressions: days, weeks from Monday, months, seasons and holidays around a moment.

Everything is counted in the zone of the reference. Seasons are those of the northern hemisphere, in whole months, and
a winter is named after the year it ends in, as `TimeSpan.label` names it; Thanksgiving is the one of the USA.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final

from mnemic.model.moment import Grain, TimeSpan

_SEASON_MONTH: Final = {"winter": 12, "spring": 3, "summer": 6, "autumn": 9, "fall": 9}
_PARTS: Final = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24)}
_FIXED: Final = {
    "christmas": (12, 25),
    "christmas day": (12, 25),
    "christmas eve": (12, 24),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "new year's": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
    "valentine's": (2, 14),
    "independence day": (7, 4),
    "st. patrick's day": (3, 17),
    "st patrick's day": (3, 17),
}


def add_months(day: date, count: int) -> date:
    """Return the first day of the month that lies `count` months from the month of `day`."""
    index = day.year * 12 + day.month - 1 + count
    return date(index // 12, index % 12 + 1, 1)


def easter(year: int) -> date:
    """Return Easter Sunday of a Gregorian year (Meeus, Jones and Butcher)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    f = (b - (b + 8) // 25 + 1) // 3
    g = (19 * a + b - d - f + 15) % 30
    h, i = divmod(c, 4)
    k = (32 + 2 * e + 2 * h - g - i) % 7
    m = (a + 11 * g + 22 * k) // 451
    month, day = divmod(g + k - 7 * m + 114, 31)
    return date(year, month, day + 1)


def holiday(name: str, year: int) -> date:
    """Return the day of a holiday, named in lower case, in a year; `KeyError` for one that is not known."""
    if name in {"thanksgiving", "thanksgiving day"}:
        first = date(year, 11, 1)
        return first + timedelta(days=(3 - first.weekday()) % 7 + 21)
    if name.startswith("easter"):
        return easter(year) + timedelta(days=1 if name.endswith("monday") else 0)
    if name == "good friday":
        return easter(year) - timedelta(days=2)
    return date(year, *_FIXED[name])


@dataclass(frozen=True, slots=True)
class Calendar:
    """Spans around a reference moment, in its zone.

    Dates that `datetime` cannot hold raise `ValueError` or `OverflowError`.
    """

    reference: datetime

    @property
    def today(self) -> date:
        """The day of the reference."""
        return self.reference.date()

    def midnight(self, day: date) -> datetime:
        """Return the first moment of a day."""
        return datetime.combine(day, time(), self.reference.tzinfo)

    def days(self, first: date, count: int = 1, grain: Grain = Grain.DAY) -> TimeSpan:
        """Return `count` whole days from `first`."""
        return TimeSpan(self.midnight(first), self.midnight(first + timedelta(days=count)), grain, "")

    def between(self, first: date, after: date, grain: Grain) -> TimeSpan:
        """Return the days from `first` up to, and without, `after`."""
        return TimeSpan(self.midnight(first), self.midnight(after), grain, "")

    def offset(self, count: int) -> TimeSpan:
        """Return the day that lies `count` days from today."""
        return self.days(self.today + timedelta(days=count))

    def week(self, day: date) -> TimeSpan:
        """Return the week, from Monday, that holds a day."""
        return self.days(day - timedelta(days=day.weekday()), 7, Grain.WEEK)

    def weekend(self, day: date) -> TimeSpan:
        """Return the Saturday and Sunday of the week that holds a day."""
        return self.days(day + timedelta(days=5 - day.weekday()), 2)

    def month(self, day: date) -> TimeSpan:
        """Return the month that holds a day."""
        return self.between(day.replace(day=1), add_months(day, 1), Grain.MONTH)

    def year(self, first: int, count: int = 1) -> TimeSpan:
        """Return `count` years from `first`."""
        return self.between(date(first, 1, 1), date(first + count, 1, 1), Grain.YEAR)

    def season(self, name: str, year: int) -> TimeSpan:
        """Return a season; a winter is the one that ends in the year."""
        first = date(year - 1 if name == "winter" else year, _SEASON_MONTH[name], 1)
        return self.between(first, add_months(first, 3), Grain.SEASON)

    def part(self, day: date, name: str) -> TimeSpan:
        """Return the morning, afternoon, evening or night of a day; a night ends at midnight."""
        first, last = _PARTS[name]
        start = self.midnight(day)
        return TimeSpan(start + timedelta(hours=first), start + timedelta(hours=last), Grain.DAY, "")

    def weekday(self, number: int, *, future: bool) -> date:
        """Return the nearest such weekday (Monday is 0) strictly after, or strictly before, today."""
        if future:
            return self.today + timedelta(days=(number - self.today.weekday() - 1) % 7 + 1)
        return self.today - timedelta(days=(self.today.weekday() - number - 1) % 7 + 1)

    def nearest(self, spans: list[TimeSpan], *, future: bool) -> TimeSpan:
        """Of spans in order of time, return the latest begun by the reference, or the first that is not over."""
        if future:
            return next((span for span in spans if span.end and span.end > self.reference), spans[-1])
        return next((span for span in reversed(spans) if span.start and span.start <= self.reference), spans[0])
