"""Plots of an evaluation as inline SVG: curves with bands, estimates with whiskers in rows, and spans of time.

Each function turns values into markup and knows nothing of where they came from; colours are classes of the style
sheet. Plots are drawn for half a page, so that they stand side by side on a screen and below each other on a telephone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.shells.cli.report_plots import safe, tag

WIDTH: Final = 480.0
LEFT: Final = 40.0
RIGHT: Final = 14.0
TOP: Final = 12.0
HEIGHT: Final = 280.0
FLOOR: Final = HEIGHT - 46.0
ROW: Final = 15.0
"""Height of one estimate in a row plot."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place on a curve, and its interval where it has one; `label` stands beside it, `told` appears on pointing."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    label: str = ""
    told: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve: a name, the class of its colour, and its points from left to right."""

    name: str
    style: str
    points: Sequence[Point]


@dataclass(frozen=True, slots=True)
class Axis:
    """The horizontal axis: marks, each (value, text), what it counts, and whether its scale is logarithmic."""

    marks: Sequence[tuple[float, str]]
    name: str
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a value stands, in the drawing's units."""
        low, high = (self._scaled(self.marks[end][0]) for end in (0, -1))
        share = (self._scaled(value) - low) / (high - low) if high > low else 0.5
        return LEFT + 8 + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT - 16)

    def _scaled(self, value: float) -> float:
        return math.log(max(value, 1e-6)) if self.log else value


@dataclass(frozen=True, slots=True)
class Row:
    """One estimate in a row plot: a mean and its interval, from 0 to 1."""

    style: str
    mean: float
    low: float
    high: float
    told: str


@dataclass(frozen=True, slots=True)
class Span:
    """One span of seconds in a row plot: from the median to the 95th percentile."""

    style: str
    low: float
    high: float
    told: str


def curves(drawn: Sequence[Curve], axis: Axis, label: str) -> str:
    """Return curves over an axis, from 0 to 1, bands behind them and whiskers where single points have intervals."""
    parts = [_unit_grid(), _marks(axis)]
    parts += [_band(curve, axis) for curve in drawn]
    parts += [_curve(curve, axis) for curve in drawn]
    return _svg("".join(parts), HEIGHT, label)


def rows(groups: Sequence[tuple[str, Sequence[Row]]], label: str) -> str:
    """Return estimates with whiskers, one below the other, in named groups."""
    height = TOP + sum(24 + ROW * len(each) for _, each in groups) + 28
    parts = []
    for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        x = _share(value)
        parts.append(tag("line", x1=x, x2=x, y1=TOP, y2=height - 24, class_="grid"))
        parts.append(tag("text", f"{value:g}", x=x, y=height - 8, text_anchor="middle", class_="tick"))
    top = TOP
    for name, each in groups:
        parts.append(tag("text", safe(name), x=LEFT, y=top + 14, class_="name"))
        for number, row in enumerate(each):
            parts.append(_estimate(row, top + 24 + ROW * number))
        top += 24 + ROW * len(each)
    return _svg("".join(parts), height, label)


def spans(groups: Sequence[tuple[str, Sequence[Span]]], label: str) -> str:
    """Return spans of seconds on one logarithmic axis, in named groups."""
    values = [value for _, each in groups for span in each for value in (span.low, span.high) if value > 0]
    if not values:
        return ""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    axis = Axis([(10.0**power, _seconds(power)) for power in range(first, max(last, first + 1) + 1)], "", log=True)
    height = TOP + sum(24 + ROW * len(each) for _, each in groups) + 28
    parts = []
    for value, text in axis.marks:
        x = axis.place(value)
        parts.append(tag("line", x1=x, x2=x, y1=TOP, y2=height - 24, class_="grid"))
        parts.append(tag("text", text, x=x, y=height - 8, text_anchor="middle", class_="tick"))
    top = TOP
    for name, each in groups:
        parts.append(tag("text", safe(name), x=LEFT, y=top + 14, class_="name"))
        for number, span in enumerate(each):
            y = top + 24 + ROW * number
            left, right = axis.place(span.low), axis.place(span.high)
            parts.append(tag("rect", tag("title", safe(span.told)), x=left, y=y - 3, width=max(right - left, 3.0),
                             height=6, rx=3, class_=f"span {span.style}"))  # fmt: skip
            parts.append(tag("circle", cx=left, cy=y, r=4, class_=f"end {span.style}"))
        top += 24 + ROW * len(each)
    return _svg("".join(parts), height, label)


def _svg(inner: str, height: float, label: str) -> str:
    return tag("svg", inner, viewBox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label=safe(label))


def _unit_grid() -> str:
    parts = []
    for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        y = _height(value)
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", f"{value:g}", x=LEFT - 8, y=y + 4, text_anchor="end", class_="tick"))
    return "".join(parts)


def _marks(axis: Axis) -> str:
    parts = [tag("text", safe(text), x=axis.place(value), y=FLOOR + 18, text_anchor="middle", class_="tick")
             for value, text in axis.marks]  # fmt: skip
    name = tag("text", safe(axis.name), x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle", class_="tick")
    return "".join(parts) + name


def _band(curve: Curve, axis: Axis) -> str:
    upper = [f"{axis.place(each.x):.1f},{_height(each.high):.1f}" for each in curve.points if each.high is not None]
    lower = [f"{axis.place(each.x):.1f},{_height(each.low):.1f}" for each in curve.points if each.low is not None]
    return (
        tag("polygon", points=" ".join([*upper, *reversed(lower)]), class_=f"band {curve.style}")
        if len(upper) > 1
        else ""
    )


def _curve(curve: Curve, axis: Axis) -> str:
    places = [(axis.place(point.x), _height(point.y)) for point in curve.points]
    parts = [tag("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places), class_=f"curve {curve.style}")]
    if len(places) == 1 and (low := curve.points[0].low) is not None and (high := curve.points[0].high) is not None:
        x = places[0][0]
        parts.append(tag("line", x1=x, x2=x, y1=_height(low), y2=_height(high), class_=f"whisker {curve.style}"))
    for (x, y), point in zip(places, curve.points, strict=True):
        parts.append(tag("circle", tag("title", safe(point.told)), cx=x, cy=y, r=4, class_=f"end {curve.style}"))
        if point.label:
            parts.append(tag("text", safe(point.label), x=x, y=y - 10, text_anchor="middle", class_="value"))
    return "".join(parts)


def _estimate(row: Row, y: float) -> str:
    left, right, middle = _share(row.low), _share(row.high), _share(row.mean)
    whisker = tag("line", x1=left, x2=right, y1=y, y2=y, class_=f"whisker {row.style}")
    dot = tag("circle", tag("title", safe(row.told)), cx=middle, cy=y, r=4.5, class_=f"end {row.style}")
    return whisker + dot


def _height(share: float) -> float:
    return FLOOR - (FLOOR - TOP) * share


def _share(value: float) -> float:
    return LEFT + value * (WIDTH - LEFT - RIGHT)


def _seconds(power: int) -> str:
    """Return a power of ten of seconds in words: 10 ms, 1 s."""
    if power >= 0:
        return f"{10**power:g} s"
    return f"{10 ** (power + 3):g} ms" if power >= -3 else f"{10 ** (power + 6):g} \u00b5s"
