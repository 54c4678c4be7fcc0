"""When periodic work is due: a cron calendar, read in the zone of the settings, with jitter.

The calendar is that of cron (POSIX `crontab`): minute, hour, day of month, month, day of week, or a word such as
`@daily`. A time that clocks skip when they are put forward is due when they have done so; one that they show twice is
due twice. Jitter keeps many stores on one machine from working at the same second: up to a tenth of the time between
two turns, a minute at most.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from mnemic.errors import InputError

_FIELD: Final = r"(?:[0-9*/,#-]|[a-z]{3}|l)+"  # days and months have names of three letters, l is a month's last day
_FORM: Final = re.compile(f"@[a-z]+|{_FIELD}(?: +{_FIELD}){{4}}", re.IGNORECASE)  # croniter also takes seconds, years
_ANY: Final = datetime(2026, 1, 1, tzinfo=UTC)
_JITTER: Final = 0.1  # of the time between two turns
_MOST: Final = timedelta(minutes=1)


def check_calendar(calendar: str, name: str) -> None:
    """Raise `InputError` for a calendar that is none, or whose time never comes; an empty one means never."""
    if not calendar:
        return
    from croniter import CroniterBadDateError, croniter  # noqa: PLC0415 - only who has a calendar needs it

    if not _FORM.fullmatch(calendar) or not croniter.is_valid(calendar):
        raise InputError(name, f"{calendar!r} is no calendar of cron, such as `0 3 * * *` (each day at 3:00)")
    try:
        croniter(calendar, _ANY).get_next(datetime)
    except CroniterBadDateError as error:
        raise InputError(name, f"{calendar!r} names a day that never comes") from error


def next_time(calendar: str, after: datetime, zone: tzinfo, chance: float) -> datetime:
    """Return the next time of a calendar behind `after`, with jitter; `chance` is drawn from [0, 1)."""
    from croniter import croniter  # noqa: PLC0415 - as above

    turns = croniter(calendar, after.astimezone(zone))
    first: datetime = turns.get_next(datetime)
    second: datetime = turns.get_next(datetime)
    late = min((second - first) * _JITTER, _MOST) * chance
    return first.astimezone(UTC) + late
