"""When a job that failed is tried again: growing pauses with jitter, so that many do not come back at one moment.

Exponential backoff with "equal jitter": half of the pause is fixed, half is drawn (Brooker, "Exponential Backoff And
Jitter", AWS Architecture Blog, 2015).
"""

from __future__ import annotations

from typing import Final

LONGEST: Final = 900.0
"""Seconds that a pause grows to at most."""

MOST_ASKED: Final = 86_400.0
"""Seconds that the other side may ask for at most: a header that says a century does not put work off for one."""


def pause(attempt: int, chance: float, *, asked: float = 0.0) -> float:
    """Return the seconds before try `attempt + 1`; `attempt` counts from 1, `chance` is drawn from [0, 1).

    Never less than `asked`, what the other side wanted (Retry-After), a day at most.
    """
    whole = min(LONGEST, 2.0 ** min(attempt, 32))
    return max(whole / 2 + whole / 2 * chance, min(asked, MOST_ASKED))
