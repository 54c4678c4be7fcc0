"""Changing one entry of a JSON file that belongs to another program: everything else stays as it is, to the byte.

The text is not written anew from its values, which would lose how its owner laid it out: one member is put in,
replaced or taken out where it stands. What is not plain JSON (comments, an entry twice) is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import JSONDecodeError
from typing import Any, Final

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_COMMENT: Final = re.compile(r"^\s*(//|/\*)|[,{\[\]}\"\d]\s*(//|/\*)", re.MULTILINE)
_INDENT: Final = re.compile(r"[{\[]\r?\n([ \t]+)")
_DECODER: Final = json.JSONDecoder()


class NotPlainError(ValueError):
    """The text is no JSON object that can be changed safely; the message says why."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: where its name begins, and its value from `start` to `end`."""

    name: str
    at: int
    start: int
    end: int


def member_put(text: str, path: tuple[str, str], value: Any) -> str:
    """Return the text with a value at `path`, making the object that holds it when it is missing.

    Raises `NotPlainError`. A value that is there already leaves the text as it is.
    """
    if not text.strip():
        return json.dumps({path[0]: {path[1]: value}}, indent=2, ensure_ascii=False) + "\n"
    root = _object_at(text, _begin(text), "the file")
    outer = _one(root, path[0])
    if outer is None:
        return _inserted(text, _begin(text), root, path[0], {path[1]: value})
    inner = _object_at(text, outer.start, path[0])
    entry = _one(inner, path[1])
    if entry is None:
        return _inserted(text, outer.start, inner, path[1], value)
    if _value(text, entry) == value:
        return text
    return text[: entry.start] + _written(text, entry.at, value) + text[entry.end :]


def member_taken(text: str, path: tuple[str, str]) -> str:
    """Return the text without the value at `path`; as it is when there is none. Raises `NotPlainError`."""
    if not text.strip():
        return text
    outer = _one(_object_at(text, _begin(text), "the file"), path[0])
    if outer is None:
        return text
    inner = _object_at(text, outer.start, path[0])
    entry = _one(inner, path[1])
    if entry is None:
        return text
    place = inner.index(entry)
    if place > 0:
        return text[: inner[place - 1].end] + text[entry.end :]
    if len(inner) > 1:
        return text[: entry.at] + text[inner[1].at :]
    close = text.index("}", entry.end)
    return text[: outer.start + 1] + text[close:]


def member_at(text: str, path: tuple[str, str]) -> Any:
    """Return the value at `path`; None when there is none. Raises `NotPlainError`."""
    if not text.strip():
        return None
    outer = _one(_object_at(text, _begin(text), "the file"), path[0])
    entry = None if outer is None else _one(_object_at(text, outer.start, path[0]), path[1])
    return None if entry is None else _value(text, entry)


def _begin(text: str) -> int:
    return _blank(text, 1 if text.startswith("\ufeff") else 0)


def _blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _object_at(text: str, at: int, what: str) -> list[Member]:
    """Return the members of the object that begins at a place of the text, the whole of which must be JSON."""
    try:
        json.loads(text.removeprefix("\ufeff"))
        if text[at] != "{":
            raise NotPlainError(f"{what} holds no JSON object")
        return list(_members(text, at))
    except (JSONDecodeError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, JSONDecodeError) else ""
        if _COMMENT.search(text):
            raise NotPlainError(f"it has comments{where}, which a change would have to move about") from error
        raise NotPlainError(f"it is not valid JSON{where}") from error


def _members(text: str, at: int) -> Iterator[Member]:
    """Yield the members of an object that is known to be valid JSON."""
    at = _blank(text, at + 1)
    while text[at] != "}":
        name, after = _DECODER.raw_decode(text, at)
        start = _blank(text, _blank(text, after) + 1)  # behind the colon
        _, end = _DECODER.raw_decode(text, start)
        yield Member(name, at, start, end)
        at = _blank(text, end)
        if text[at] == ",":
            at = _blank(text, at + 1)


def _one(members: list[Member], name: str) -> Member | None:
    found = [each for each in members if each.name == name]
    if len(found) > 1:
        raise NotPlainError(f"it names {name!r} twice")
    return found[0] if found else None


def _value(text: str, member: Member) -> Any:
    return json.loads(text[member.start : member.end])


def _inserted(text: str, opening: int, members: list[Member], name: str, value: Any) -> str:
    """Return the text with a member added at the end of an object."""
    line, step = _newline(text), _step(text)
    if members:
        last = members[-1]
        before = _indent_of(text, last.at)
        told = f"{json.dumps(name)}: {_laid_out(value, before, step, line)}"
        between = "," + (line + before if before is not None else " ")
        return text[: last.end] + between + told + text[last.end :]
    outer = _indent_of(text, opening) or _line_indent(text, opening)
    inner = outer + step
    told = f"{line}{inner}{json.dumps(name)}: {_laid_out(value, inner, step, line)}{line}{outer}"
    return text[: opening + 1] + told + text[text.index("}", opening) :]


def _written(text: str, at: int, value: Any) -> str:
    return _laid_out(value, _indent_of(text, at), _step(text), _newline(text))


def _laid_out(value: Any, indent: str | None, step: str, line: str) -> str:
    """Return a value in the manner of the file: on lines of its own behind an indent, or on one line when None."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, indent=step, ensure_ascii=False).split("\n")
    return (line + indent).join(lines)


def _indent_of(text: str, at: int) -> str | None:
    """Return the blanks before something that begins its line; None when something else stands there."""
    front = text[text.rfind("\n", 0, at) + 1 : at]
    return front if not front.strip() and "\n" in text[:at] else None


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip())]


def _step(text: str) -> str:
    found = _INDENT.search(text)
    return found.group(1) if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
