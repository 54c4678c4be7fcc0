"""Reading JSON out of a language model's reply: fences and prose are left out, a cut reply gives its whole part.

Nothing is repaired that was not said: of a reply that ends too early, values that are not complete are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from pydantic_core import from_json

from mnemic.errors import LanguageError

_FENCE: Final = re.compile(r"```(?:json|JSON)?\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_OPENING: Final = re.compile(r"\{\s*(?:[\"}]|\Z)|\[\s*(?:[{\[\]]|\Z)")
"""An object, or a list of objects, begins; prose in brackets does not look like that."""

_TRIES: Final = 20
"""Places at which JSON may begin that are looked at: prose holds brackets too."""
_SHOWN: Final = 120  # characters of a reply in an error
_NUMBER: Final = re.compile(r"\d+")
_DIGITS: Final = 6  # of a number that something was shown under; longer ones are none, and may be too long to read


def json_in(text: str, *, cut: bool = False, wrapped_as: str | None = None) -> dict[str, Any]:
    """Return the JSON object in a reply.

    With `cut` the reply may end in the middle: what is complete is taken. A list where an object was asked for is
    taken as its field `wrapped_as`. Raises `LanguageError` when there is no object in it.
    """
    for candidate in _candidates(text):
        found = _read(candidate, cut=cut)
        if isinstance(found, list) and wrapped_as is not None and all(isinstance(each, dict) for each in found):
            return {wrapped_as: found}
        if isinstance(found, dict):
            return found
    shown = " ".join(text[:_SHOWN].split())
    raise LanguageError(
        f"the language model answered with something that is not the JSON it was asked for: {shown!r}",
        passing=True, retry_after=None, status=None,
    )  # fmt: skip


def number_in(given: object) -> int:
    """Return the number under which something was shown, however it is written: 3, "m3", "#3"; 0 for none."""
    found = _NUMBER.search(given if isinstance(given, str) else "" if given is None else str(given))
    return int(found.group()) if found is not None and len(found.group()) <= _DIGITS else 0


def _candidates(text: str) -> Iterator[str]:
    for fenced in _FENCE.findall(text):
        yield fenced.strip()
    place = 0
    for _ in range(_TRIES):
        opening = _OPENING.search(text, place)
        if opening is None:
            return
        yield text[opening.start() :]
        if _end(text[opening.start() :]) is None:
            return  # what opens inside of it is only a part
        place = opening.start() + 1


def _read(text: str, *, cut: bool) -> object:
    """Return the value that a text begins with; None when it begins with none."""
    end = _end(text)
    try:
        if end is not None:
            return from_json(text[:end])
        return from_json(text, allow_partial=True) if cut else None
    except ValueError:
        return None


def _end(text: str) -> int | None:
    """Return where the bracket that a text begins with is closed; None when it is not."""
    depth = 0
    inside = escaped = False
    for place, char in enumerate(text):
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return place + 1
    return None
