"""The library's values as JSON, and back.

Field names are those of the values; times are ISO 8601 with their zone; the store's own integers stay inside, so a
value that comes back has zeros in their place. What is read back is checked: another shape is told as such.
"""

from __future__ import annotations

import enum
import functools
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, Union

PRIVATE: Final = frozenset({"cube_key", "key"})
"""Fields that never leave the process, where they are the store's own integers."""


class ShapeError(ValueError):
    """What came is no value of the type that it should be; the message says where."""


def plain(value: object) -> Any:
    """Return a value as JSON can hold it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _shown(type(value))}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes):
        return [plain(inner) for inner in value]
    if isinstance(value, Path):
        return str(value)
    return value


def read(kind: Any, value: Any, place: str = "") -> Any:
    """Return the value of a type that JSON stands for. Raises `ShapeError` naming the place when it is none."""
    if kind is Any or kind is object:
        return value
    origin = typing.get_origin(kind)
    if origin in (Union, types.UnionType):
        return _read_one_of(typing.get_args(kind), value, place)
    if origin is Literal:
        return _kept(value, value in typing.get_args(kind), kind, place)
    if origin is not None:
        return _read_many(origin, typing.get_args(kind), value, place)
    if is_dataclass(kind):
        return _read_fields(kind, value, place)
    if isinstance(kind, type) and issubclass(kind, enum.Enum | datetime):
        return _read_word(kind, value, place)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is None or kind is types.NoneType:
        return _kept(value, value is None, kind, place)
    fits = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    return _kept(value, fits, kind, place)


@functools.cache
def _shown(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if not _is_private(field))


def _is_private(field: Field[Any]) -> bool:
    return field.name in PRIVATE and field.type in (int, "int")


@functools.cache
def _hints(kind: type) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _read_fields(kind: Any, value: Any, place: str) -> Any:
    if not isinstance(value, Mapping):
        raise _misfit(kind, value, place)
    hints = _hints(kind)
    given: dict[str, Any] = {}
    for field in fields(kind):
        if _is_private(field):
            given[field.name] = 0
        elif field.name in value:
            given[field.name] = read(hints[field.name], value[field.name], f"{place}.{field.name}")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ShapeError(f"{place or kind.__name__}: {field.name} is missing")
    return kind(**given)


def _read_one_of(kinds: Sequence[Any], value: Any, place: str) -> Any:
    told: ShapeError | None = None
    for kind in kinds:
        try:
            return read(kind, value, place)
        except ShapeError as error:
            told = error
    raise told or _misfit(kinds, value, place)


def _read_many(origin: Any, inner: Sequence[Any], value: Any, place: str) -> Any:
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise _misfit(origin, value, place)
        by, of = inner if len(inner) > 1 else (Any, Any)
        return {read(by, name, place): read(of, each, f"{place}.{name}") for name, each in value.items()}
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _misfit(origin, value, place)
    fixed = issubclass(origin, tuple) and bool(inner) and inner[-1] is not Ellipsis
    if fixed and len(inner) != len(value):
        raise _misfit(origin, value, place)
    kinds = inner if fixed else (inner[0] if inner else Any,) * len(value)
    return tuple(
        read(kind, each, f"{place}[{number}]") for number, (kind, each) in enumerate(zip(kinds, value, strict=True))
    )


def _read_word(kind: Any, value: Any, place: str) -> Any:
    try:
        return datetime.fromisoformat(value) if issubclass(kind, datetime) else kind(value)
    except (TypeError, ValueError) as error:
        raise _misfit(kind, value, place) from error


def _kept(value: Any, fits: bool, kind: Any, place: str) -> Any:  # noqa: FBT001 - what it is about
    if not fits:
        raise _misfit(kind, value, place)
    return value


def _misfit(kind: Any, value: Any, place: str) -> ShapeError:
    return ShapeError(f"{place or 'the value'}: {value!r:.80} is no {getattr(kind, '__name__', kind)}")
