"""Reading JSON out of a language model's reply: fences and prose are left out, a cut reply gives its whole part.

What it says is read as models write it: numbers in words around them, texts with line ends and spaces at will.
Nothing is repaired that was not said: of a reply that ends too early, values that are not complete are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from pydantic_core import from_json

from mnemic.errors import LanguageError
from mnemic.model.language import Reply
from mnemic.text import clean, shorten

T = TypeVar("T")

_FENCE: Final = re.compile(r"```(?:json|JSON)?\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_OPENING: Final = re.compile(r"\{\s*(?:[\"}]|\Z)|\[\s*(?:[{\[\]]|\Z)")
"""An object, or a list of objects, begins; prose in brackets does not look like that."""

_TRIES: Final = 20
"""Places at which JSON may begin that are looked at: prose holds brackets too."""
_SHOWN: Final = 120  # characters of a reply in an error
_NUMBER: Final = re.compile(r"\d+")
_DIGITS: Final = 6  # of a number that can be one of something shown


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


def entries_in(reply: Reply, name: str) -> list[dict[str, Any]]:
    """Return the objects in the list `name` of a reply. Raises `LanguageError` when it holds no JSON."""
    found = json_in(reply.text, cut=reply.cut, wrapped_as=name).get(name)
    return [each for each in items_of(found) if isinstance(each, dict)]


def items_of(found: object) -> list[Any]:
    """Return the items of what should be a list; an object may stand alone for one."""
    return found if isinstance(found, list) else [found] if isinstance(found, dict) else []


def number_in(given: object) -> int:
    """Return the first number that stands in what a model wrote for one: 3, "3", "m3", "memory 3"; 0 for none."""
    if isinstance(given, int):
        return given
    found = _NUMBER.search(str(given))
    return int(found.group()) if found and len(found.group()) <= _DIGITS else 0


def picked(given: object, shown: Sequence[T]) -> T | None:
    """Return what a model means of what it was shown, numbered from 1; None when there is no such number."""
    number = number_in(given)
    return shown[number - 1] if 1 <= number <= len(shown) else None


def one_line(text: object, limit: int) -> str:
    """Return what a model wrote as a text that can be kept: clean, on one line, not longer than the limit."""
    return shorten(clean(str(text or "")), limit)


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
