"""The breaker opens after failures in a row, and calls that were under way then do not lengthen its pause."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mnemic.core.breaker import FAILURES, FIRST_PAUSE, Breaker

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def opened() -> Breaker:
    breaker = Breaker()
    for _ in range(FAILURES):
        breaker = breaker.failed(NOW)
    return breaker


def test_calls_that_were_under_way_when_it_opened_do_not_lengthen_the_pause() -> None:
    breaker = opened()
    for _ in range(8):
        breaker = breaker.failed(NOW + timedelta(seconds=1))
    assert breaker == opened()
    assert breaker.wait(NOW) == FIRST_PAUSE


def test_a_try_that_fails_doubles_the_pause() -> None:
    later = NOW + FIRST_PAUSE
    breaker = opened().trying(later).failed(later)
    assert breaker.wait(later) == 2 * FIRST_PAUSE
