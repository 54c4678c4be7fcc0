"""A circuit breaker (Nygard, Release It!, 2007): after some failures in a row, calls are refused at once for a while.

Then one call may try; when it succeeds all is as before, when it fails the pause is twice as long, up to a limit. It
is a value: whoever uses it keeps it, and guards it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

FAILURES: Final = 5
"""Failures in a row that open it."""

FIRST_PAUSE: Final = timedelta(seconds=10)
LONGEST_PAUSE: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Breaker:
    """How many calls failed in a row, until when calls are refused, for how long that is, and whether one tries."""

    failures: int = 0
    until: datetime | None = None
    pause: timedelta = FIRST_PAUSE
    tried: bool = False

    def wait(self, now: datetime) -> timedelta | None:
        """Return how long calls are still refused; None when one may be made."""
        return self.until - now if self.until is not None and now < self.until else None

    def trying(self, now: datetime) -> Breaker:
        """Return the breaker while one call tries whether the fault has passed: others are refused until it tells."""
        return self if self.until is None else replace(self, until=now + self.pause, tried=True)

    def failed(self, now: datetime) -> Breaker:
        """Return the breaker after a failure. Calls that were under way when it opened tell nothing new."""
        if self.until is not None and not self.tried:
            return self
        failures = self.failures + 1
        if failures < FAILURES:
            return replace(self, failures=failures)
        pause = self.pause if self.until is None else min(self.pause * 2, LONGEST_PAUSE)
        return Breaker(failures, now + pause, pause)

    def succeeded(self) -> Breaker:
        """Return the breaker after a success."""
        return Breaker()
