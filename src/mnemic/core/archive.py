"""Lines of an exported cube to records and back. Reading checks every field and names the line and the field.

What a record refers to, and whether it is there already, is not decided here but where it is stored.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from mnemic.core.intake import ID_LIMIT
from mnemic.errors import InputError
from mnemic.ids import content_hash
from mnemic.model.archive import FORMAT, KINDS, LAYOUT, NESTED, Field, FieldType, Record
from mnemic.model.moment import Grain, TimeSpan
from mnemic.model.parts import check_content

_COUNT_LIMIT: Final = 2**31 - 1  # what a store keeps counts and positions in
_KEY_LIMIT: Final = 500  # bytes: several stand in one index
_NAME_LIMIT: Final = 520  # characters: those of an id, and a few before it
_UNSAFE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
"""What some readers take for the end of a line, and what UTF-8 cannot hold: written as escapes."""


@dataclass(frozen=True, slots=True)
class Line:
    """A record with its kind and the number of its line, from 1."""

    number: int
    kind: str
    record: Record

    def fault(self, field: str, message: str) -> InputError:
        """Return an error about one of its fields."""
        return InputError(f"lines[{self.number}].{field}", message)


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: which embedder the vectors come from, and how many records of each kind follow."""

    model: str
    width: int
    counts: Mapping[str, int]


def write_line(value: Mapping[str, Any]) -> str:
    """Return an object as one line of JSON, without the end of line."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return data if data.isascii() else _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", data)


def encode(kind: str, record: Record) -> dict[str, Any]:
    """Return a record as JSON can hold it, in the order of the layout; fields without a value are left out."""
    return {"type": kind, **_encoded(LAYOUT[kind], record)}


def read_lines(lines: Iterable[object]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return the objects of lines with their numbers from 1; blank lines are left out. Raises `InputError`."""
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise InputError(f"lines[{number}]", f"needs a string, got {type(line).__name__}")
        text = line.removeprefix("\ufeff") if number == 1 else line
        if text.strip():
            yield number, _object(number, text)


def read_header(number: int, found: Mapping[str, Any]) -> Header:
    """Return the header. Raises `InputError` for another format."""
    field = f"lines[{number}]"
    if found.get("format") != FORMAT:
        raise InputError(
            f"{field}.format", f"is {found.get('format')!r}, not {FORMAT!r}: no export of Mnemic, or a newer one's"
        )
    embedder, counts = found.get("embedder"), found.get("counts")
    if not isinstance(embedder, Mapping) or not isinstance(embedder.get("name"), str):
        raise InputError(f"{field}.embedder", "needs an object with name and width")
    if not _is_count(embedder.get("width")):
        raise InputError(f"{field}.embedder.width", "needs a whole number")
    if not isinstance(counts, Mapping) or not all(kind in KINDS and _is_count(each) for kind, each in counts.items()):
        raise InputError(f"{field}.counts", "needs an object with the number of records of each kind")
    return Header(embedder["name"], embedder["width"], dict(counts))


def decode(number: int, found: Mapping[str, Any]) -> Line:
    """Return the record of a line. Raises `InputError` naming the line and the field."""
    kind = found.get("type")
    if not isinstance(kind, str) or kind not in LAYOUT:
        raise InputError(f"lines[{number}].type", f"{kind!r} is not known; known: {', '.join(KINDS)}")
    values = {name: value for name, value in found.items() if name != "type"}
    return Line(number, kind, _decoded(LAYOUT[kind], values, f"lines[{number}]"))


def moved_id(known: str, cube_id: str) -> str:
    """Return the id that loading gave a thing until schema 0006 when another cube of the store had its own already."""
    digits = content_hash(cube_id, known)
    return f"{known[:18]}-{digits[:4]}-{digits[4:16]}"


def _object(number: int, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InputError(f"lines[{number}]", f"is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"lines[{number}]", f"needs an object, got {type(found).__name__}")
    return found


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _encoded(fields: Sequence[Field], record: Record) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields:
        value = record.get(field.name)
        if value is None:
            continue
        found[field.name] = _written(field, value)
    return found


def _written(field: Field, value: Any) -> Any:
    match field.type:
        case FieldType.TIME:
            return value.isoformat()
        case FieldType.BYTES:
            return base64.b64encode(value).decode()
        case FieldType.VECTORS:
            return [None if each is None else base64.b64encode(each).decode() for each in value]
        case FieldType.SPAN:
            ends = [None if moment is None else moment.isoformat() for moment in (value.start, value.end)]
            return [*ends, value.grain.value, value.words]
        case FieldType.RECORDS:
            return [_encoded(NESTED[field.of], each) for each in value]
        case _:
            return value


def _decoded(fields: Sequence[Field], found: Mapping[str, Any], place: str) -> dict[str, Any]:
    names = {field.name for field in fields}
    unknown = next((name for name in found if name not in names), None)
    if unknown is not None:
        raise InputError(f"{place}.{unknown}", f"is not known here; known: {', '.join(sorted(names))}")
    record: dict[str, Any] = {}
    for field in fields:
        value = found.get(field.name)
        where = f"{place}.{field.name}"
        if value is None:
            if not field.optional:
                raise InputError(where, f"is missing; it needs {field.type.value}")
            record[field.name] = None
        elif field.type is FieldType.RECORDS:
            record[field.name] = _decoded_list(field, value, where)
        else:
            record[field.name] = _value(field, value, where)
    return record


def _decoded_list(field: Field, value: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise InputError(where, f"needs {field.type.value}")
    return [_decoded(NESTED[field.of], each, f"{where}[{place}]") for place, each in enumerate(value)]


def _value(field: Field, value: Any, where: str) -> Any:
    if field.type is FieldType.CHOICE:
        if value not in field.choices:
            raise InputError(where, f"{value!r} is not known; known: {', '.join(field.choices)}")
        return value
    try:
        return _READERS[field.type](value)
    except (ValueError, TypeError, binascii.Error) as error:
        raise InputError(where, f"needs {field.type.value}, got {str(value)[:60]!r}") from error
    except InputError as error:
        raise InputError(f"{where}{error.field}", error.message.removeprefix(f"{error.field}: ")) from error


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _COUNT_LIMIT


def _must(condition: bool, value: Any) -> Any:  # noqa: FBT001 - reads as it is meant
    if not condition:
        raise ValueError
    return value


def _id(value: Any) -> str:
    return str(_must(0 < len(_text(value)) <= ID_LIMIT and "\0" not in value, value))


def _key(value: Any) -> str:
    return str(_must(len(_id(value).encode()) <= _KEY_LIMIT, value))


def _name(value: Any) -> str:
    return str(_must(len(_text(value)) <= _NAME_LIMIT, value))


def _text(value: Any) -> str:
    return str(_must(isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value), value))


def _time(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    _must(moment.tzinfo is not None and 1 < moment.year < 9999, value)
    return moment


def _span(value: Any) -> TimeSpan:
    start, end, grain, words = value
    ends = [None if each is None else _time(each) for each in (start, end)]
    return TimeSpan(ends[0], ends[1], Grain(grain), _text(words))


def _content(value: Any) -> Any:
    wrapped = isinstance(value, dict) and ("tool_calls" in value or "tool_call_id" in value)
    inner = value.get("content") if wrapped else value
    if not wrapped or inner is not None:
        check_content(inner, "")
    return value


def _base64(value: Any) -> bytes:
    return base64.b64decode(_text(value), validate=True)


def _list_of(reader: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    return lambda value: [reader(each) for each in _must(isinstance(value, list), value)]


_READERS: Final[Mapping[FieldType, Callable[[Any], Any]]] = {
    FieldType.ID: _id,
    FieldType.KEY: _key,
    FieldType.NAME: _name,
    FieldType.TEXT: _text,
    FieldType.COUNT: lambda value: _must(_is_count(value), value),
    FieldType.SIZE: lambda value: _must(
        isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53, value
    ),
    FieldType.NUMBER: lambda value: float(
        _must(isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value), value)
    ),
    FieldType.POLARITY: lambda value: _must(value in (1, -1) and not isinstance(value, bool), value),
    FieldType.SHARE: lambda value: float(
        _must(isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1, value)
    ),
    FieldType.FLAG: lambda value: _must(isinstance(value, bool), value),
    FieldType.TIME: _time,
    FieldType.SPAN: _span,
    FieldType.JSON: lambda value: value,
    FieldType.CONTENT: _content,
    FieldType.OBJECT: lambda value: _must(isinstance(value, dict), value),
    FieldType.WORDS: _list_of(_text),
    FieldType.BYTES: _base64,
    FieldType.VECTORS: _list_of(lambda value: None if value is None else _base64(value)),
}
