"""Words and figures as the terminal shows them: dates, durations, sizes, bars, and text made safe to print.

What people stored may hold control characters; a terminal must not obey them.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_BLOCKS: Final = " ▏▎▍▌▋▊▉█"
DASH: Final = "\u2013"
"""Between the ends of a span, as typesetters write it."""

_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


def shown(text: str) -> str:
    """Return text without control characters, direction overrides and lone surrogates."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 0) -> str:
    """Return text on one line, cut at a word when it is longer than `limit` (0: never)."""
    line = " ".join(shown(text).split())
    if not limit or len(line) <= limit:
        return line
    cut = line[: limit - 1]
    at = cut.rfind(" ")
    return (cut[:at] if at > limit * 0.6 else cut).rstrip(" ,;:.") + "…"


def excerpt(text: str, limit: int, near: str = "") -> str:
    """Return text on one line; when it is too long, the part around the words that `near` has too."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    found = [line.lower().find(word) for word in re.findall(r"\w{4,}", near.lower())]
    at = max((place for place in found if place >= 0), default=0) if near else 0
    if at < limit - 24:
        return one_line(line, limit)
    start = line.rfind(" ", 0, max(at - limit // 2, 1)) + 1
    return "\u2026" + one_line(line[start:], limit - 1)


def day(moment: datetime) -> str:
    """Return a date as people write it: 7 Jun 2025."""
    return f"{moment.day} {moment:%b %Y}"


def span(start: datetime, end: datetime) -> str:
    """Return two dates as a span, the year once when it is the same; one date when they are."""
    if start.date() == end.date():
        return day(start)
    return f"{start.day} {start:%b}{'' if start.year == end.year else f' {start.year}'} {DASH} {day(end)}"


def clock(moment: datetime) -> str:
    """Return a date with the time of day."""
    return f"{day(moment)} {moment:%H:%M}"


def took(seconds: float) -> str:
    """Return a duration in the unit that fits: 3.2 ms, 1.4 s, 2 min 5 s."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.1f} ms" if seconds < 0.0995 else f"{seconds * 1000:.0f} ms"
    if seconds < 99.5:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def size(count: int) -> str:
    """Return a number of bytes in the unit that fits."""
    value = float(count)
    for unit in _UNITS[:-1]:
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} {_UNITS[-1]}"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: 1 page, 2 pages, 3 memories."""
    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun if count == 1 else many}"


def bar(share: float, width: int) -> str:
    """Return a bar of `width` cells filled to a share between 0 and 1, in eighths of a cell."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_BLOCKS[rest] if rest else "")).ljust(width)
