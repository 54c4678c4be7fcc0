"""Plots of the report as inline SVG: sessions and topics over time, the tiers filling, and bars of parts.

Each function turns values into markup and knows nothing of where they came from. Colours are classes that the style
sheet gives a light and a dark shade; text is escaped here.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from mnemic.shells.cli.wording import shown

WIDTH: Final = 960.0
LEFT: Final = 12.0
RIGHT: Final = 12.0
ROW: Final = 26.0
"""Height of a topic's row in the timeline."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A session in the timeline: `weight` (0 to 1) is its size among all."""

    at: datetime
    weight: float
    label: str


@dataclass(frozen=True, slots=True)
class Span:
    """A topic in the timeline: `heat` (0 to 1) is its share of the warmest."""

    start: datetime
    end: datetime
    heat: float
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: a name, the class of its colour, and a value for each step."""

    name: str
    style: str
    values: Sequence[float]


def safe(text: str) -> str:
    """Return text as it may stand in markup and in attributes."""
    return html.escape(shown(text), quote=True)


def tag(name: str, inner: str = "", **attributes: object) -> str:
    """Return an element; `style_` and `class_` lose their underscore, others swap it for a dash."""
    pairs = "".join(f' {key.rstrip("_").replace("_", "-")}="{_figure(value)}"' for key, value in attributes.items())
    return f"<{name}{pairs}>{inner}</{name}>"


def timeline(dots: Sequence[Dot], spans: Sequence[Span]) -> str:
    """Return sessions as dots over an axis of months, and topics as bars below, warmest first."""
    moments = [dot.at for dot in dots] + [moment for span in spans for moment in (span.start, span.end)]
    if not moments:
        return ""
    start, end = min(moments), max(moments)
    height = 64 + ROW * len(spans) + 10
    parts = [_months(start, end, height)]
    for dot in dots:
        mark = tag("title", safe(dot.label))
        parts.append(tag("circle", mark, cx=_x(dot.at, start, end), cy=44, r=4 + 6 * dot.weight, class_="dot"))
    for row, span in enumerate(spans):
        parts.append(_bar(span, start, end, 64 + ROW * row))
    label = f"{len(dots)} sessions and {len(spans)} topics over time"
    return tag("svg", "".join(parts), viewBox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label=label)


def _bar(span: Span, start: datetime, end: datetime, top: float) -> str:
    left, right = _x(span.start, start, end), _x(span.end, start, end)
    width = max(right - left, 10.0)
    left = min(left, WIDTH - RIGHT - width)
    bar = tag("rect", tag("title", safe(span.label)), x=left, y=top + 5, width=width, height=14, rx=7,
              class_=f"heat{_step(span.heat)}")  # fmt: skip
    after = left + width + 6
    if after < WIDTH * 0.62:
        return bar + tag("text", safe(span.label), x=after, y=top + 16, class_="name")
    if left > WIDTH * 0.4:
        return bar + tag("text", safe(span.label), x=left - 6, y=top + 16, text_anchor="end", class_="name")
    return bar + tag("text", safe(span.label), x=left + 10, y=top + 16, class_="name inside")


def _months(start: datetime, end: datetime, height: float) -> str:
    """Return a line and a name for each month; for some of them when there are many."""
    months: list[datetime] = []
    year, month = start.year, start.month
    while (moment := datetime(year, month, 1, tzinfo=start.tzinfo or UTC)) <= end:
        months.append(moment)
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    every = -(-len(months) // 14)
    parts: list[str] = []
    drawn = [moment for moment in months if moment >= start] or months
    for moment in drawn[::every]:
        x = _x(max(moment, start), start, end)
        parts.append(tag("line", x1=x, x2=x, y1=24, y2=height, class_="grid"))
        name = f"{moment:%b %Y}" if moment.month == 1 or moment is drawn[0] else f"{moment:%b}"
        parts.append(tag("text", name, x=x, y=16, class_="tick", text_anchor=_anchor(x)))
    return "".join(parts)


def curves(lines: Sequence[Line], names: Sequence[str]) -> str:
    """Return curves over equal steps, on one scale from 0, each with its last value at its end."""
    steps = max((len(line.values) for line in lines), default=0)
    top = max((value for line in lines for value in line.values), default=0.0)
    if steps == 0 or top <= 0:
        return ""
    height, floor = 240.0, 206.0
    across = (WIDTH - 60 - 44) / max(steps - 1, 1)
    parts: list[str] = []
    for value in _scale(top):
        y = floor - (floor - 16) * value / top
        parts.append(tag("line", x1=44, x2=WIDTH - 60, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", f"{value:g}", x=36, y=y + 4, text_anchor="end", class_="tick"))
    for line in lines:
        points = [(44 + across * step, floor - (floor - 16) * value / top) for step, value in enumerate(line.values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(tag("polyline", points=path, class_=f"curve {line.style}"))
        x, y = points[-1]
        parts.append(tag("circle", tag("title", safe(line.name)), cx=x, cy=y, r=4, class_=f"end {line.style}"))
        parts.append(tag("text", f"{line.values[-1]:g}", x=x + 9, y=y + 4, class_="value"))
    every = -(-steps // 10)
    for step in range(0, steps, every):
        x = 44 + across * step
        parts.append(tag("text", safe(names[step]), x=x, y=floor + 22, text_anchor=_anchor(x), class_="tick"))
    label = ", ".join(f"{line.name}: {line.values[-1]:g}" for line in lines)
    return tag("svg", "".join(parts), viewBox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label=safe(label))


def stacked(parts: Sequence[tuple[str, float]], full: float, label: str) -> str:
    """Return one thin bar of parts, each (class, value), as long as their sum's share of `full`."""
    drawn: list[str] = []
    at = 0.0
    for style, value in parts:
        width = 100 * max(value, 0.0) / full if full > 0 else 0.0
        drawn.append(tag("rect", x=at, y=0, width=width, height=8, class_=style))
        at += width
    shape = tag("rect", x=0, y=0, width=100, height=8, class_="track") + "".join(drawn)
    return tag("svg", shape, viewBox="0 0 100 8", preserveAspectRatio="none", role="img", aria_label=safe(label),
               class_="bar")  # fmt: skip


def _scale(top: float) -> list[float]:
    """Return three to six round values from 0 up to the highest."""
    step = next(size * 10**power for power in range(7) for size in (1, 2, 5) if top / (size * 10**power) <= 5)
    return [step * place for place in range(int(top / step) + 1)]


def _x(at: datetime, start: datetime, end: datetime) -> float:
    whole = (end - start).total_seconds()
    share = (at - start).total_seconds() / whole if whole > 0 else 0.5
    return LEFT + 10 + share * (WIDTH - LEFT - RIGHT - 20)


def _anchor(x: float) -> str:
    return "start" if x < 40 else "end" if x > WIDTH - 40 else "middle"


def _step(share: float) -> int:
    return min(4, int(share * 5))


def _figure(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
