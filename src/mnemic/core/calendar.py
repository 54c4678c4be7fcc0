"""When periodic work is due: a cron calendar, read in the zone of the settings, with jitter.

The calendar is that of cron (POSIX `crontab`): minute, hour, day of month, month, day of week. Jitter keeps many stores
on one machine from working at the same second: up to a tenth of the time between two turns, a minute at most.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from mnemic.errors import InputError

_JITTER: Final = 0.1  # of the time between two turns
_MOST: Final = timedelta(minutes=1)


def check_calendar(calendar: str, name: str) -> None:
    """Raise `InputError` for a calendar that is none; an empty one means never."""
    if not calendar:
        return
    from croniter import croniter  # noqa: PLC0415 - only who has a calendar needs it

    if not croniter.is_valid(calendar):
        raise InputError(name, f"{calendar!r} is no calendar of cron, such as `0 3 * * *` (each day at 3:00)")


def next_time(calendar: str, after: datetime, zone: tzinfo, chance: float) -> datetime:
    """Return the next time of a calendar behind `after`, with jitter; `chance` is drawn from [0, 1)."""
    from croniter import croniter  # noqa: PLC0415 - as above

    turns = croniter(calendar, after.astimezone(zone))
    first: datetime = turns.get_next(datetime)
    second: datetime = turns.get_next(datetime)
    late = min((second - first) * _JITTER, _MOST) * chance
    return first.astimezone(UTC) + late
