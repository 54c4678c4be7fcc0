"""Whether the background work of the whole store gets done: what is dead, what has been due for long, what is late.

It looks at rows only, of all cubes, and reaches no content; what to do about it is said by who shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from mnemic.model.job import LANES, WAITING, JobCount, JobState
from mnemic.ports.clock import Clock
from mnemic.ports.store import Store, Transaction

PATIENCE: Final = timedelta(minutes=10)
"""A job that has been due for so long has nobody who does it."""

LATE: Final = timedelta(hours=1)
"""The same for periodic work."""

_LOOKED_AT: Final = 64  # cubes of a lane whose leases are looked at

Checked = tuple[str, bool, str]
"""What was looked at, whether it is well, and what was seen."""

Leaders = Mapping[str, tuple[datetime | None, datetime | None, str]]


def check_work(store: Store, clock: Clock) -> Sequence[Checked]:
    """Look the background work over."""
    now = clock.now()
    with store.read() as tx:
        tx.enter_all()
        counts = tx.turns.counts()
        leaders = tx.turns.leaders()
        over = _leases_over(tx, now)
    return [_dead(counts), _due(counts, now), _leases(over), _periodic(leaders, now)]


def _leases_over(tx: Transaction, now: datetime) -> Counter[str]:
    """Count the jobs, by kind, whose worker has fallen silent and that nobody has taken over yet."""
    found: Counter[str] = Counter()
    for lane in LANES:
        for cube_key in dict.fromkeys(tx.turns.due(lane, now, _LOOKED_AT)):
            found.update(job.kind for job in tx.turns.expired(cube_key, lane, now))
    return found


def _dead(counts: Sequence[JobCount]) -> Checked:
    dead: Counter[str] = Counter()
    for each in counts:
        if each.state is JobState.DEAD:
            dead[each.kind] += each.count
    return "dead jobs", not dead, _by_kind(dead) or "none"


def _due(counts: Sequence[JobCount], now: datetime) -> Checked:
    name = "due jobs"
    waiting = [each for each in counts if each.state in WAITING]
    total = sum(each.count for each in waiting)
    oldest = min((each.oldest_due for each in waiting if each.oldest_due is not None), default=None)
    if oldest is None or oldest >= now:
        return name, True, f"{total} wait for their time" if total else "none"
    told = f"{total} wait, the first has been due for {_age(now - oldest)}"
    return name, now - oldest < PATIENCE, told


def _leases(over: Counter[str]) -> Checked:
    return "leases", not over, f"over, and not taken over: {_by_kind(over)}" if over else "none is over"


def _periodic(leaders: Leaders, now: datetime) -> Checked:
    told, well = [], True
    for name, (ended, due, outcome) in sorted(leaders.items()):
        late = due is not None and now - due > LATE
        failed = outcome.startswith("failed")
        well = well and not late and not failed
        done = "never done" if ended is None else f"done {_age(now - ended)} ago"
        then = "" if due is None else f", due for {_age(now - due)}" if due <= now else f", due in {_age(due - now)}"
        told.append(f"{name} {done}{then}{f': {outcome}' if failed else ''}")
    return "periodic work", well, "; ".join(told) or "none has been done yet"


def _by_kind(kinds: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def _age(span: timedelta) -> str:
    seconds = max(span.total_seconds(), 0.0)
    for unit, length in (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
