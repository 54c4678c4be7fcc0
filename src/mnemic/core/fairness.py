"""Whose turn it is: sharing workers between cubes and between priorities, so that nobody starves.

Between cubes, in each lane and priority: start-time fair queueing (Goyal, Vin and Cheng, "Start-time Fair Queueing",
SIGCOMM 1996, section 2). Each cube has a turn, a number that grows with what it was given, by its weight; the lowest
goes first. A virtual time keeps a cube that was idle from claiming what it did not use: where work of a cube begins
anew, it counts from there. It stands half way through what began last and not, as in the paper, at its beginning, where
an endless stream of cubes never seen before would starve one that was served once (`bench/simulation`). Between
priorities: smooth weighted round-robin, of those that have something waiting. A cube's rate is a token bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.model.job import Priority

PRIORITY_WEIGHTS: Final = {Priority.INTERACTIVE: 16, Priority.NORMAL: 4, Priority.BACKGROUND: 1}
"""Of so many turns in a row, each priority comes first this often, when all have work waiting."""

_ROUND: Final = sum(PRIORITY_WEIGHTS.values())


def begins(turn: float, virtual: float) -> float:
    """Return where in virtual time a cube's next job begins."""
    return max(turn, virtual)


def ends(begun: float, cost: float, weight: float) -> float:
    """Return the cube's turn after a job that began there. Raises `ValueError` for a weight of 0 or less."""
    if weight <= 0:
        raise ValueError("a weight is above 0")
    return begun + cost / weight


def moves_to(begun: float, ended: float) -> float:
    """Return the virtual time after a job that begins at `begun` and after which its cube's turn is `ended`."""
    return (begun + ended) / 2


def priorities(turn: int) -> Sequence[Priority]:
    """Return the order in which to look at the priorities when a worker takes its job number `turn`, from 0.

    What comes first holds its share of the turns; the others follow by urgency, so that no turn is wasted.
    """
    first = _ORDER[turn % _ROUND]
    return (first, *(each for each in Priority if each is not first))


def refilled(tokens: float, seconds: float, per_minute: int) -> float:
    """Return what a cube's token bucket holds after `seconds`; it takes one minute's worth at most."""
    return min(float(per_minute), tokens + max(seconds, 0.0) * per_minute / 60.0)


def until_token(tokens: float, per_minute: int) -> float:
    """Return the seconds until the bucket holds a whole token."""
    return max(0.0, (1.0 - tokens) * 60.0 / per_minute)


def _smooth(weights: dict[Priority, int]) -> tuple[Priority, ...]:
    """Return one round of smooth weighted round-robin: each as often as its weight says, spread evenly."""
    credit = dict.fromkeys(weights, 0)
    order = []
    for _ in range(sum(weights.values())):
        for each, weight in weights.items():
            credit[each] += weight
        best = max(weights, key=lambda each: (credit[each], -each))
        credit[best] -= sum(weights.values())
        order.append(best)
    return tuple(order)


_ORDER: Final = _smooth(PRIORITY_WEIGHTS)
