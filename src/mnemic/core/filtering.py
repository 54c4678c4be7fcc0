"""The grammar of `where`: from the mappings that callers write to a typed filter, every fault named.

{"speaker": "Ann"}                                   equal
{"said_at": {"gte": "2025-01-01", "lt": "2025-02"}}  operators: eq ne in nin gt gte lt lte contains exists
{"metadata.topic": {"in": ["work", "home"]}}         a key of the caller's own metadata
{"and": [...]}, {"or": [...]}, {"not": {...}}        several keys in one mapping mean "and"
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, get_args

from mnemic.core.intake import read_time
from mnemic.errors import InputError
from mnemic.model.moment import to_micros
from mnemic.model.query import AllOf, AnyOf, Compare, Filter, Not, Operator

TIMES: Final = ("said_at", "stored_at")
FIELDS: Final = (
    "id", "external_id", "kind", "role", "speaker", "session", "agent", *TIMES, "subject", "attribute",
    "document",
)  # fmt: skip
OPERATORS: Final[tuple[str, ...]] = get_args(Operator)
CONDITIONS: Final = 200
"""Comparisons in one filter."""

VALUES: Final = 10_000
"""Values in all lists of one filter."""

_DEPTH: Final = 20
_BITS: Final = 63  # of a number that engines hold, besides its sign
_NEVER = datetime.min.replace(tzinfo=UTC)  # a time is always given here


def parse_filter(given: object, zone: tzinfo, *, field: str = "where", depth: int = 0) -> Filter | None:
    """Return the filter that a caller wrote, None when there is none; raise `InputError` naming what is wrong."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InputError(field, f"needs an object such as {{'speaker': 'Ann'}}, got {type(given).__name__}")
    if depth > _DEPTH:
        raise InputError(field, f"is nested deeper than {_DEPTH} levels")
    parts = [_clause(str(name), value, zone, field, depth) for name, value in given.items()]
    if not parts:
        raise InputError(field, "is empty; leave it out to search everything")
    found = parts[0] if len(parts) == 1 else AllOf(tuple(parts))
    if depth == 0:
        _check_size(list(_comparisons(found)), field)
    return found


def _check_size(comparisons: Sequence[Compare], field: str) -> None:
    if len(comparisons) > CONDITIONS:
        raise InputError(field, f"has {len(comparisons)} conditions; at most {CONDITIONS} are allowed")
    values = sum(len(each.value) for each in comparisons if each.operator in ("in", "nin"))
    if values > VALUES:
        raise InputError(field, f"has {values} values in its lists; at most {VALUES} are allowed")


def _comparisons(found: Filter) -> Iterator[Compare]:
    match found:
        case Compare():
            yield found
        case Not(part):
            yield from _comparisons(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _comparisons(part)


def _clause(name: str, value: object, zone: tzinfo, field: str, depth: int) -> Filter:
    place = f"{field}.{name}"
    _check_text(name, place)
    if name in ("and", "or"):
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise InputError(place, "needs a list of filters with at least one in it")
        inner = tuple(_inner(item, zone, f"{place}[{number}]", depth) for number, item in enumerate(value))
        return AllOf(inner) if name == "and" else AnyOf(inner)
    if name == "not":
        return Not(_inner(value, zone, place, depth))
    key = name.removeprefix("metadata.") if name.startswith("metadata.") else None
    if key is None and name not in FIELDS:
        raise InputError(place, f"is not a field; known: {', '.join(FIELDS)}, metadata.<key>, and, or, not")
    if key == "":
        raise InputError(place, "needs a key after `metadata.`")
    if not isinstance(value, Mapping):
        return _compare(name, key, "eq", value, zone, place)
    if not value:
        raise InputError(place, f"needs an operator: {', '.join(OPERATORS)}")
    parts = tuple(_compare(name, key, str(op), item, zone, f"{place}.{op}") for op, item in value.items())
    return parts[0] if len(parts) == 1 else AllOf(parts)


def _inner(given: object, zone: tzinfo, field: str, depth: int) -> Filter:
    found = parse_filter(given, zone, field=field, depth=depth + 1)
    if found is None:
        raise InputError(field, "is empty; give a filter")
    return found


def _compare(name: str, key: str | None, operator: str, value: object, zone: tzinfo, place: str) -> Compare:
    match operator:
        case "in" | "nin":
            if not isinstance(value, Sequence | set | frozenset) or isinstance(value, str | bytes):
                raise InputError(place, f"needs a list, got {type(value).__name__}; use eq for one value")
            values = tuple(_value(name, key, item, zone, place) for item in value)
            return Compare(name, key, operator, values)
        case "exists":
            if not isinstance(value, bool):
                raise InputError(place, "needs true or false")
            return Compare(name, key, operator, value)
        case "contains":
            if key is None and (name in TIMES or not isinstance(value, str)):
                raise InputError(place, f"needs a field that holds text and a string, got {type(value).__name__}")
            return Compare(name, key, operator, _value(name, key, value, zone, place))
        case "eq" | "ne":
            return Compare(name, key, operator, _value(name, key, value, zone, place))
        case "gt" | "gte" | "lt" | "lte":
            if value is None or isinstance(value, bool):
                raise InputError(place, "needs a number, a string or a time")
            return Compare(name, key, operator, _value(name, key, value, zone, place))
        case _:
            raise InputError(place, f"is not an operator; known: {', '.join(OPERATORS)}")


def _value(name: str, key: str | None, value: object, zone: tzinfo, place: str) -> Any:
    if key is not None:
        return _plain(value, place)
    if name in TIMES:
        if value is None:
            raise InputError(place, "needs a time")
        return to_micros(read_time(_whole_date(value), place, now=_NEVER, zone=zone)[0])
    if value is not None and (isinstance(value, bool) or not isinstance(value, str | int)):
        raise InputError(place, f"needs a string, got {type(value).__name__}")
    return None if value is None else str(_plain(value, place))


def _plain(value: object, place: str) -> Any:
    """Return a value that JSON and every engine can hold."""
    if isinstance(value, datetime):
        return value.isoformat()
    if value is not None and not isinstance(value, str | int | float):
        raise InputError(place, "needs a plain value: a string, a number, true, false or null")
    if isinstance(value, int) and value.bit_length() > _BITS:
        raise InputError(place, f"is a number beyond {_BITS + 1} bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(place, f"needs a number, got {value}")
    if isinstance(value, str):
        _check_text(value, place)
    return value


def _check_text(text: str, place: str) -> None:
    if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text):
        raise InputError(place.encode("ascii", "backslashreplace").decode(), "holds a NUL or a lone surrogate")


def _whole_date(value: object) -> Any:
    """Let a year or a month stand for its first day: people write 2025 and 2025-03."""
    if isinstance(value, str) and value.strip().replace("-", "").isdigit():
        digits = value.strip().split("-")
        if len(digits[0]) == 4 and len(digits) < 3:
            return "-".join([*digits, *["01"] * (3 - len(digits))])
    return value
