"""What was read from an attachment, as search, prompts and people read it: one text, marked as nobody's own words.

A picture's text stands in brackets, `[image: caption; description; words]`; of a file or a recording, the bracket names
it and its text follows. Brackets that the text itself has stay: it is quoted, and nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mnemic.model.attachment import Attachment, AttachmentKind
from mnemic.model.seen import Chart, Utterance
from mnemic.text import shorten

TEXT_LIMIT: Final = 400_000
"""Characters of a file or a recording that are kept and searched with a message; more belongs in a knowledge base."""

LINE_LIMIT: Final = 400
"""Characters of an attachment in a line of a prompt."""


def read_text(attachment: Attachment) -> str:
    """Return what was read from an attachment; empty when nothing was."""
    told = _told(attachment)
    if not (attachment.text.strip() or attachment.description.strip() or attachment.seen.get("chart")):
        return ""
    if attachment.kind is AttachmentKind.IMAGE:
        return f"[image: {'; '.join([*told, attachment.text.strip()] if attachment.text.strip() else told)}]"
    head = f"[{attachment.kind.value}: {'; '.join(told)}]" if told else f"[{attachment.kind.value}]"
    return f"{head}\n{attachment.text.strip()}"


def line_of(attachment: Attachment) -> str:
    """Return an attachment on one line, as prompts show it: shortened, and what is in it before what it is called."""
    words = " ".join(read_text(attachment).split())
    if words:
        return shorten(words, LINE_LIMIT)
    told = _told(attachment)
    return (
        f"[{attachment.kind.value}: {shorten('; '.join(told), LINE_LIMIT)}]" if told else f"[{attachment.kind.value}]"
    )


def _told(attachment: Attachment) -> list[str]:
    chart = chart_line(attachment.seen.get("chart"))
    told = [attachment.name, attachment.caption, attachment.description, chart]
    return [" ".join(each.split()) for each in dict.fromkeys(told) if each.strip()]


def chart_line(chart: Any) -> str:
    """Return a chart, as it is kept in `Attachment.seen`, in words: title, axes, and the values of each series."""
    if not isinstance(chart, Mapping):
        return ""
    parts = [f"chart: {chart['title']}" if chart.get("title") else "chart"]
    if axes := [str(each) for each in chart.get("axes") or () if each]:
        parts.append(f"axes: {', '.join(axes)}")
    for name, values in (chart.get("series") or {}).items():
        parts.append(f"{name}: {', '.join(f'{label} {value}'.strip() for label, value in values)}")
    return "; ".join(parts)


def as_seen(chart: Chart) -> dict[str, Any]:
    """Return a chart as it is kept in `Attachment.seen`."""
    series = {name: [[label, value] for label, value in values] for name, values in chart.series.items()}
    return {"title": chart.title, "axes": list(chart.axes), "series": series}


def transcript(heard: Sequence[Utterance]) -> str:
    """Return what was said, an utterance a line, each with its time and, where it is known, who speaks."""
    return "\n".join(
        f"[{_clock(each.start)}] {f'{each.speaker}: ' if each.speaker else ''}{each.text}" for each in heard
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
