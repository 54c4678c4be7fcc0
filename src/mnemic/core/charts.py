"""What can be told of a chart from the words in it and where they stand, without seeing its lines and bars.

A picture counts as a chart when numbers stand along an axis, evenly and in order: along its left or right edge, or in a
row. Then its title is the line above all others, its axes are what their numbers span, and labels under the numbers
name what is compared. Values are told only where a number stands right over its label, as in a labelled bar chart.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.model.seen import Chart, Line

_NUMBER: Final = re.compile(r"[-+\u2212]?(?:[$€£¥]\s?)?\d[\d,. ]*(?:\s?(?:%|[kKmMbB]|°C|€|\$))?")
_TICKS: Final = 3  # numbers in a line from which it is an axis
_NEAR: Final = 0.04  # share of the picture within which things stand in one line
_EVEN: Final = 0.35  # by how much a step of an axis may differ from the middle one, as a share of it
_TITLE_WORDS: Final = 14
_LABELS: Final = 40


@dataclass(frozen=True, slots=True)
class _Word:
    """A line of words with its middle and its edges."""

    text: str
    x: float
    y: float
    top: float
    bottom: float

    @property
    def number(self) -> float | None:
        return _number(self.text)


def chart_in(lines: Sequence[Line]) -> Chart | None:
    """Return the chart that these lines of words belong to, as far as it can be told; None when it looks like none."""
    words = [
        _Word(
            line.text.strip(),
            (line.box[0] + line.box[2]) / 2,
            (line.box[1] + line.box[3]) / 2,
            line.box[1],
            line.box[3],
        )
        for line in lines
        if any(char.isalnum() for char in line.text)  # grid lines are often taken for dashes
    ]
    upright = _axis([each for each in words if each.number is not None])
    if upright is None:
        return None
    left = [each for each in words if each not in upright]
    title = _title(left, min(each.top for each in upright))
    below = max(each.y for each in upright)
    labels = _labels([each for each in left if each.y > below - _NEAR], below)
    axes = [f"{upright[-1].text} to {upright[0].text}"]
    if labels:
        axes.insert(0, f"{labels[0].text} to {labels[-1].text}")
    values = _values([each for each in left if each.number is not None and each.y < below], labels)
    named = {"values": values} if values else {}
    return Chart(title.text if title else "", tuple(axes), named)


def _axis(numbers: Sequence[_Word]) -> list[_Word] | None:
    """Return the numbers that stand in one upright line, evenly, from the largest on top down."""
    best: list[_Word] = []
    for start in numbers:
        line = sorted((each for each in numbers if abs(each.x - start.x) <= _NEAR), key=lambda each: each.y)
        if len(line) > len(best) and len(line) >= _TICKS and _is_even([each.y for each in line]) and _falls(line):
            best = line
    return best or None


def _falls(line: Sequence[_Word]) -> bool:
    values = [each.number or 0.0 for each in line]
    return all(above > below for above, below in itertools.pairwise(values)) and _is_even(values)


def _is_even(values: Sequence[float]) -> bool:
    steps = [abs(after - before) for before, after in itertools.pairwise(values)]
    middle = sorted(steps)[len(steps) // 2]
    return middle > 0 and all(abs(step - middle) <= _EVEN * middle for step in steps)


def _title(words: Sequence[_Word], top: float) -> _Word | None:
    """Return the first line of words above the axis."""
    above = [each for each in words if each.bottom <= top + _NEAR and each.number is None]
    found = min(above, key=lambda each: each.y, default=None)
    return found if found is not None and len(found.text.split()) <= _TITLE_WORDS else None


def _labels(words: Sequence[_Word], below: float) -> list[_Word]:
    """Return the labels in the first row under the axis, from left to right."""
    first = min((each.y for each in words if each.y > below - _NEAR / 2), default=None)
    if first is None:
        return []
    row = sorted((each for each in words if abs(each.y - first) <= _NEAR), key=lambda each: each.x)
    return row[:_LABELS] if len(row) >= 2 else []


def _values(numbers: Sequence[_Word], labels: Sequence[_Word]) -> list[tuple[str, str]]:
    """Return labels with the numbers that stand over them, when each has exactly one."""
    found: list[tuple[str, str]] = []
    for label in labels:
        over = [each for each in numbers if abs(each.x - label.x) <= _NEAR]
        if len(over) != 1:
            return []
        found.append((label.text, over[0].text))
    return found


def _number(text: str) -> float | None:
    if not _NUMBER.fullmatch(text):
        return None
    digits = re.sub(r"[^\d.,-]", "", text.replace("\u2212", "-"))
    plain = digits.replace(",", "") if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", digits) else digits.replace(",", ".")
    try:
        return float(plain)
    except ValueError:
        return None
