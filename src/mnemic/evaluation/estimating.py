"""Means of measures with both intervals, from rows in which a question's measures stand by name.

A measure that does not apply to a question is absent from its row; those that hold for the same questions are
resampled together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, TypeVar

from mnemic.evaluation.metrics import quantile
from mnemic.evaluation.resampling import over_conversations, over_questions

Row = Mapping[str, float]

_Item = TypeVar("_Item")


def estimates(pairs: Sequence[tuple[str, Row]]) -> dict[str, dict[str, float]]:
    """Return the mean of each measure, its n, and its intervals, from (conversation, row)."""
    found: dict[str, dict[str, float]] = {}
    for names in _blocks([row for _, row in pairs]):
        held = [(conversation, [row[name] for name in names]) for conversation, row in pairs if names[0] in row]
        rows = [row for _, row in held]
        questions = over_questions(rows)
        clusters = over_conversations([[row for _, row in each] for each in by(held, lambda pair: pair[0]).values()])
        for place, name in enumerate(names):
            found[name] = {
                "n": len(rows),
                "mean": fmean(row[place] for row in rows),
                "low": questions[place].low,
                "high": questions[place].high,
                "cluster low": clusters[place].low,
                "cluster high": clusters[place].high,
            }
    return found


def means_of(rows: Sequence[Row]) -> dict[str, float]:
    """Return the mean of each measure over the rows that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: fmean(row[name] for row in rows if name in row) for name in names}


def quantiles(seconds: Sequence[float]) -> dict[str, Any]:
    """Return the median and the 95th percentile; None of nothing."""
    return {"n": len(seconds), "p50": quantile(seconds, 0.5), "p95": quantile(seconds, 0.95)}


def by(items: Sequence[_Item], key: Callable[[_Item], str]) -> dict[str, list[_Item]]:
    """Return items by a key, in the order in which they come."""
    found: dict[str, list[_Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def _blocks(rows: Sequence[Row]) -> list[list[str]]:
    """Return the names of measures, those together that stand in the same rows."""
    found: dict[tuple[int, ...], list[str]] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        found.setdefault(tuple(place for place, row in enumerate(rows) if name in row), []).append(name)
    return list(found.values())
