"""When periodic work is due: the calendar of cron in a zone whose clocks are put forward and back, with jitter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.calendar import check_calendar, next_time
from mnemic.errors import InputError

LISBON = ZoneInfo("Europe/Lisbon")
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
MOMENTS = st.integers(0, 20 * 365 * 24 * 60).map(lambda minutes: datetime(2020, 1, 1, tzinfo=UTC) + minutes * MINUTE)
CALENDARS = ("* * * * *", "*/15 * * * *", "0 * * * *", "30 1 * * *", "0 3 * * *", "0 3 * * 1", "0 0 1 * *", "@daily")


def times(calendar: str, after: datetime, count: int, zone: tzinfo = LISBON) -> list[str]:
    """Return the next times, as UTC."""
    found = []
    for _ in range(count):
        after = next_time(calendar, after, zone, 0.0)
        found.append(f"{after:%d %H:%M}")
    return found


def test_it_is_read_in_the_zone_of_the_settings() -> None:
    winter, summer = datetime(2026, 1, 10, 12, tzinfo=UTC), datetime(2026, 7, 10, 12, tzinfo=UTC)
    assert times("0 3 * * *", winter, 1) == ["11 03:00"]
    assert times("0 3 * * *", summer, 1) == ["11 02:00"]
    assert times("0 3 * * *", summer, 1, UTC) == ["11 03:00"]
    assert times("0 3 * * *", summer, 1, timezone(timedelta(hours=-5))) == ["11 08:00"]


def test_what_is_due_each_hour_is_so_through_the_night_in_which_clocks_are_put_back() -> None:
    before = datetime(2026, 10, 24, 22, 30, tzinfo=UTC)  # on the 25th, 2:00 becomes 1:00 at 1:00 UTC
    assert times("0 * * * *", before, 6) == ["24 23:00", "25 00:00", "25 01:00", "25 02:00", "25 03:00", "25 04:00"]
    assert times("*/30 * * * *", before + HOUR, 5) == ["25 00:00", "25 00:30", "25 01:00", "25 01:30", "25 02:00"]


def test_what_is_due_once_a_day_is_due_each_day_though_clocks_change() -> None:
    assert times("0 3 * * *", datetime(2026, 10, 23, 12, tzinfo=UTC), 3) == ["24 02:00", "25 03:00", "26 03:00"]
    assert times("0 3 * * *", datetime(2026, 3, 27, 12, tzinfo=UTC), 3) == ["28 03:00", "29 02:00", "30 02:00"]


def test_a_time_that_clocks_skip_is_due_when_they_have_and_one_that_they_show_twice_is_due_twice() -> None:
    assert times("30 1 * * *", datetime(2026, 3, 27, 12, tzinfo=UTC), 3) == ["28 01:30", "29 01:00", "30 00:30"]
    found = times("30 1 * * *", datetime(2026, 10, 23, 12, tzinfo=UTC), 4)
    assert found == ["24 00:30", "25 00:30", "25 01:30", "26 01:30"]


@given(st.sampled_from(CALENDARS), MOMENTS, st.floats(0, 1, exclude_max=True))
@settings(deadline=None, max_examples=60)
def test_the_next_time_is_ahead_and_its_jitter_is_bounded(calendar: str, after: datetime, chance: float) -> None:
    plain, found = (next_time(calendar, after, LISBON, each) for each in (0.0, chance))
    following = next_time(calendar, plain, LISBON, 0.0)
    assert after < plain <= found
    assert found - plain <= min(MINUTE, (following - plain) / 10)
    assert found.tzinfo is UTC
    assert next_time(calendar, found, LISBON, 0.0) == following, "jitter makes a turn be skipped or repeated"


def test_many_stores_do_not_begin_at_one_second() -> None:
    after = datetime(2026, 5, 1, tzinfo=UTC)
    found = {next_time("0 3 * * *", after, UTC, each / 100) for each in range(100)}
    assert len(found) == 100
    assert max(found) - min(found) < MINUTE


@pytest.mark.parametrize("calendar", ["", *CALENDARS, "0 3 * * mon-fri", "0 0 29 2 *", "5,35 8-18 * * *", "@hourly"])
def test_calendars_of_cron_are_taken_and_an_empty_one_means_never(calendar: str) -> None:
    check_calendar(calendar, "schedule_upkeep")
    if calendar:
        assert next_time(calendar, datetime(2026, 5, 1, tzinfo=UTC), LISBON, 0.5) > datetime(2026, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "calendar",
    [
        "sometimes", " ", "* * *", "61 * * * *", "0 25 * * *", "0 3 * * 8", "\0", "*/0 * * * *", "0 3 * * * extra",
        "* * * * * *",  # with seconds
        "0 0 1 1 * 0 2020",  # with a year
        "0 0 31 2 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *",  # never
        "@reboot", "H 3 * * *", "R * * * *", "0 3 * * *\n0 4 * * *", "٣ * * * *",
    ],
)  # fmt: skip
def test_what_is_no_calendar_or_never_comes_is_refused_by_the_name_of_its_setting(calendar: str) -> None:
    with pytest.raises(InputError) as told:
        check_calendar(calendar, "schedule_upkeep")
    assert told.value.field == "schedule_upkeep"
    assert repr(calendar) in str(told.value)
