"""What was made out in a picture or heard in a recording, before it becomes part of a message or a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Line:
    """A line of words in a picture. `box` is left, top, right, bottom in shares of the picture, 0 to 1."""

    text: str
    confidence: float
    box: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart that was read: its title, what its axes measure, and values by series, each (label, value as written)."""

    title: str
    axes: tuple[str, ...]
    series: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a vision model made of a picture: a sentence or two, the words in it, and the chart that it is, if it is."""

    description: str
    text: str = ""
    chart: Chart | None = None


@dataclass(frozen=True, slots=True)
class Utterance:
    """A stretch of speech: from and to in seconds from the beginning, who spoke when that is known, and the words."""

    start: float
    end: float
    text: str
    speaker: str = ""
