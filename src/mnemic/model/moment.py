"""Moments and spans of time.

A moment is an aware `datetime`. Stores keep it as microseconds since 1970 in UTC plus the offset it came with, so
that it sorts, and can be shown as it was said. A span is what words such as "last spring" mean: a first moment, a
moment after the last, and the grain that the words had.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970-01-01 UTC; negative before it."""
    return (moment - _EPOCH) // _MICRO


def from_micros(micros: int, offset_minutes: int = 0) -> datetime:
    """Return the moment, shown in the zone that it came with."""
    zone = UTC if offset_minutes == 0 else timezone(timedelta(minutes=offset_minutes))
    try:
        return (_EPOCH + timedelta(microseconds=micros)).astimezone(zone)
    except OverflowError:  # the first or last day that datetime can hold, in a zone that leaves its range
        return _EPOCH + timedelta(microseconds=micros)


def offset_minutes(moment: datetime) -> int:
    """Return the minutes east of UTC that the moment is written in."""
    return round((moment.utcoffset() or timedelta()).total_seconds() / 60)


def midnight(moment: datetime) -> datetime:
    """Return the beginning of a moment's day in UTC: budgets count from there."""
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


class Grain(enum.StrEnum):
    """How precise a time expression is."""

    MOMENT = "moment"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The time that some words mean: `start` <= t < `end`, either end None when it is open ("since 2019")."""

    start: datetime | None
    end: datetime | None
    grain: Grain
    words: str

    def contains(self, moment: datetime) -> bool:
        """Tell whether the moment lies in the span."""
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)

    def label(self) -> str:
        """Return the span as people write it: "14 March 2025", "March 2025", "spring 2025", "2025", "since 2019"."""
        start, end = self.start, self.end
        if self.grain is Grain.OPEN or start is None or end is None:
            if start is not None:
                return f"since {_plain(start)}"
            return f"until {_plain(end)}" if end is not None else "at some time"
        last = end - timedelta(microseconds=1)
        match self.grain:
            case Grain.YEAR:
                return f"{start:%Y}" if start.year == last.year else f"{start:%Y}\u2013{last:%Y}"
            case Grain.SEASON:
                name = {12: "winter", 3: "spring", 6: "summer", 9: "autumn"}.get(start.month)
                return f"{name} {last:%Y}" if name else f"{start:%B %Y}\u2013{last:%B %Y}"
            case Grain.MONTH:
                return f"{start:%B %Y}"
            case Grain.WEEK:
                return f"the week of {start.day} {start:%B %Y}"
            case _:
                same_day = start.date() == last.date()
                return _plain(start) if same_day else f"{_plain(start)} \u2013 {_plain(last)}"


def _plain(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"
