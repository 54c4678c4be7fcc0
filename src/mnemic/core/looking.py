"""What a vision model is asked about a picture, and what of its reply is taken.

What it says is a description, kept beside the message and never as anybody's words. A reply that is none is an error:
an outage, a refusal or an empty object never become content.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mnemic.core.prompts import load, on_one_line
from mnemic.core.replies import items_of, json_in, one_line
from mnemic.errors import LanguageError
from mnemic.model.language import Picture, Prompt, Reply, Turn
from mnemic.model.seen import Chart, Seen
from mnemic.text import clean

PURPOSE: Final = "look"
"""What such calls are accounted as."""

MAX_TOKENS: Final = 2_000
_DESCRIPTION: Final = 2_000  # characters that are kept of a description
_TEXT: Final = 20_000  # and of the words in a picture
_WORDS: Final = 200  # and of a title, an axis, a label or a value
_POINTS: Final = 200  # of all series together
_BESIDE: Final = 1_000


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_STRING: Final = {"type": "string"}
_POINT: Final = _object({"label": _STRING, "value": _STRING})
_SERIES: Final = _object({"name": _STRING, "points": {"type": "array", "items": _POINT}})
SCHEMA: Final = _object({
    "description": _STRING,
    "text": _STRING,
    "is_chart": {"type": "boolean"},
    "chart": _object({
        "title": _STRING,
        "axes": {"type": "array", "items": _STRING},
        "series": {"type": "array", "items": _SERIES},
    }),
})  # fmt: skip


def prompt_of(picture: Picture, beside: str) -> Prompt:
    """Return the prompt for a picture; `beside` is what was said with it."""
    told = f"What was said with the picture:\n{on_one_line(beside, _BESIDE)}" if beside.strip() else "The picture:"
    turns = (Turn("system", load("look")), Turn("user", told, (picture,)))
    return Prompt(turns, schema=SCHEMA, max_tokens=MAX_TOKENS)


def seen_of(reply: Reply) -> Seen:
    """Return what a reply says is to be seen. Raises `LanguageError` when it says nothing."""
    found = json_in(reply.text, cut=reply.cut)
    description, text = one_line(found.get("description"), _DESCRIPTION), clean(_as_text(found.get("text")))[:_TEXT]
    chart = _chart(found.get("chart")) if found.get("is_chart") is not False else None
    if not description and not text.strip() and chart is None:
        raise LanguageError(
            "the vision model answered with an object that says nothing of the picture",
            passing=True, retry_after=None, status=None,
        )  # fmt: skip
    return Seen(description, text.strip(), chart)


def _as_text(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(str(each) for each in value)
    return value if isinstance(value, str) else ""


def _chart(given: object) -> Chart | None:
    if not isinstance(given, Mapping):
        return None
    axes = given.get("axes")
    named = [one_line(each, _WORDS) for each in axes] if isinstance(axes, list) else []
    series: dict[str, list[tuple[str, str]]] = {}
    left = _POINTS
    for each in items_of(given.get("series")):
        if not isinstance(each, Mapping):
            continue
        points = [_point(point) for point in items_of(each.get("points"))[:left] if isinstance(point, Mapping)]
        left -= len(points)
        if points:
            series.setdefault(one_line(each.get("name"), _WORDS) or "values", []).extend(points)
    title = one_line(given.get("title"), _WORDS)
    axes_told = tuple(each for each in named if each)
    return Chart(title, axes_told, series) if title or axes_told or series else None


def _point(point: Mapping[str, Any]) -> tuple[str, str]:
    return one_line(point.get("label"), _WORDS), one_line(point.get("value"), _WORDS)
