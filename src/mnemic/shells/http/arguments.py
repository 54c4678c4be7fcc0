"""What a verb is given over HTTP, read from the verb's own signature: nothing is named here that the library has.

Types are strict: text is no number, and a field that the verb has not is refused by name. What a value must be beyond
its type (a limit, a known kind) the services say, in the same words as to a caller in the same process.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, Union, Unpack, is_typeddict

from mnemic.errors import InputError
from mnemic.shells.http.bodies import parsed
from mnemic.wire.routes import Route

ABSENT: Final = inspect.Parameter.empty
"""The default of what must be given, or of what is not passed on unless it is given."""

_AT_THE_MACHINE: Final = (Path, bytes, BinaryIO)
"""Kinds of values that no text and no JSON holds: files, and where they are. `adding` says how files travel."""

_WHOLE: Final = re.compile(r"-?[0-9]{1,400}", re.ASCII)
_MOST_NAMED: Final = 100  # characters of what was given that an error shows


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that a verb takes. `place` is where it comes in; `needed` that it has no default."""

    name: str
    kind: Any
    place: Literal["path", "query", "body"]
    needed: bool
    default: Any = ABSENT


def parameters_of(route: Route, method: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return what a verb takes, options one by one, each with its place. `user` is never needed: a key may name it."""
    hints = typing.get_type_hints(method)
    elsewhere: Literal["query", "body"] = "query" if route.in_query else "body"
    found: list[Parameter] = []
    for name, given in inspect.signature(method).parameters.items():
        if name == "self":
            continue
        if given.kind is inspect.Parameter.VAR_KEYWORD:
            found += [Parameter(each, kind, elsewhere, needed=False) for each, kind in _options(hints[name])]
            continue
        place = "path" if name in route.in_path else elsewhere
        kind: Any = Union[tuple(kind for kind in kinds_of(hints[name]) if kind not in _AT_THE_MACHINE)]  # noqa: UP007 - a list
        found.append(Parameter(name, kind, place, given.default is ABSENT and name != "user", given.default))
    return tuple(found)


def _options(hint: Any) -> Iterable[tuple[str, Any]]:
    if typing.get_origin(hint) is Unpack:
        (hint,) = typing.get_args(hint)
    if not is_typeddict(hint):
        raise TypeError(f"options must be told as Unpack[TypedDict], not {hint!r}")
    return typing.get_type_hints(hint).items()


def returned(method: Callable[..., Any]) -> Any:
    """Return the type of what a verb gives."""
    return typing.get_type_hints(method)["return"]


def kinds_of(hint: Any) -> tuple[Any, ...]:
    """Return the types that a value may have, each for itself."""
    if typing.get_origin(hint) in (Union, types.UnionType):
        return tuple(kind for each in typing.get_args(hint) for kind in kinds_of(each))
    return (hint,)


def takes_several(parameter: Parameter) -> bool:
    """Tell whether a parameter may be a list."""
    return any(_shape(kind) is list for kind in kinds_of(parameter.kind))


def from_json(parameters: Sequence[Parameter], given: Mapping[str, Any], verb: str) -> dict[str, Any]:
    """Return what a JSON object says of a verb's parameters. Raises `InputError` naming the field."""
    known = {each.name: each for each in parameters}
    _refuse_unknown(given, known, verb)
    _refuse_missing(given, parameters)
    return {name: taken(known[name].kind, value, name) for name, value in given.items()}


def from_texts(parameters: Sequence[Parameter], given: Mapping[str, Sequence[str]], verb: str) -> dict[str, Any]:
    """Return what the texts of a query or a path say of a verb's parameters. Raises `InputError` naming the field."""
    known = {each.name: each for each in parameters}
    _refuse_unknown(given, known, verb)
    _refuse_missing(given, parameters)
    return {name: _from_texts(known[name].kind, values, name) for name, values in given.items()}


def _refuse_unknown(given: Mapping[str, Any], known: Mapping[str, Parameter], verb: str) -> None:
    for name in given:
        if name not in known:
            told = ", ".join(known) or "none"
            raise InputError(name[:_MOST_NAMED], f"is not a field of `{verb}` here; known: {told}")


def _refuse_missing(given: Mapping[str, Any], parameters: Sequence[Parameter]) -> None:
    for each in parameters:
        if each.needed and each.name not in given:
            raise InputError(each.name, f"is missing; it needs {_words(each.kind)}")


def taken(hint: Any, value: Any, field: str) -> Any:
    """Return a JSON value as the type asks for it. Raises `InputError` naming the place inside the field."""
    kinds = kinds_of(hint)
    for kind in _plainest_first(kinds):
        if _suits(kind, value):
            return _made(kind, value, field)
    raise InputError(field, f"needs {_words(hint)}, got {_shown(value)}")


def _plainest_first(kinds: Sequence[Any]) -> Sequence[Any]:
    """Return the types in the order in which they are tried: what a service reads itself is handed on as it came."""
    return sorted(kinds, key=lambda kind: kind is datetime or dataclasses.is_dataclass(kind))


def _suits(kind: Any, value: Any) -> bool:
    """Tell whether a type takes such a JSON value at all; what is inside it is read later."""
    shape = _shape(kind)
    if shape is None:
        return True
    if isinstance(value, bool):
        return shape is bool
    if shape is float:
        return isinstance(value, int | float)
    if shape is int:
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, shape)


def _shape(kind: Any) -> type | None:
    """Return the type of the JSON value that stands for a type; None for any."""
    if kind is Any or kind is object:
        return None
    if kind is None:
        return types.NoneType
    origin = typing.get_origin(kind)
    if origin is Literal or kind is datetime:
        return str
    if origin is not None:
        return dict if issubclass(origin, Mapping) else list
    if dataclasses.is_dataclass(kind):
        return dict
    return kind if isinstance(kind, type) else None


def _made(kind: Any, value: Any, field: str) -> Any:
    origin = typing.get_origin(kind)
    if origin is Literal:
        return _one_of(typing.get_args(kind), value, field)
    if kind is float:
        return _float(value, field)
    if kind is int:
        return int(value)
    if kind is datetime:
        return _time(value, field)
    if dataclasses.is_dataclass(kind):
        return _fields(kind, value, field)
    if origin is not None and issubclass(origin, Mapping):
        of = (*typing.get_args(kind), Any, Any)[1]
        return {name: taken(of, each, f"{field}.{name}") for name, each in value.items()}
    if origin is not None:
        of = (*typing.get_args(kind), Any)[0]
        made = [taken(of, each, f"{field}[{number}]") for number, each in enumerate(value)]
        return tuple(made) if issubclass(origin, tuple) else made
    return value


def _one_of(allowed: Sequence[Any], value: Any, field: str) -> Any:
    if value not in allowed:
        told = ", ".join(f"`{each}`" for each in allowed)
        raise InputError(field, f"{_shown(value)} is none of {told}")
    return value


def _float(value: float, field: str) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise InputError(field, "this number is too large") from error


def _time(value: str, field: str) -> datetime:
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError as error:
        raise InputError(field, f"{_shown(value)} is not ISO 8601, such as 2025-03-14T09:30:00+01:00") from error


def _fields(kind: Any, value: Mapping[str, Any], field: str) -> Any:
    """Return a value with named fields, from an object that has these and no others."""
    hints = typing.get_type_hints(kind)
    for name in value:
        if name not in hints:
            raise InputError(f"{field}.{name[:_MOST_NAMED]}", f"is not a field here; known: {', '.join(hints)}")
    for each in dataclasses.fields(kind):
        has_default = each.default is not dataclasses.MISSING or each.default_factory is not dataclasses.MISSING
        if each.name not in value and not has_default:
            raise InputError(f"{field}.{each.name}", f"is missing; it needs {_words(hints[each.name])}")
    return kind(**{name: taken(hints[name], each, f"{field}.{name}") for name, each in value.items()})


def _from_texts(hint: Any, values: Sequence[str], field: str) -> Any:
    kinds = kinds_of(hint)
    many = [kind for kind in kinds if _shape(kind) is list]
    if many and (len(values) > 1 or str not in kinds):
        of = (*typing.get_args(many[0]), str)[0]
        return [_from_text(kinds_of(of), each, field) for each in values]
    if len(values) > 1:
        raise InputError(field, "is given more than once")
    return _from_text(kinds, values[0], field)


def _from_text(kinds: Sequence[Any], text: str, field: str) -> Any:
    if bool in kinds:
        if text not in ("true", "false"):
            raise InputError(field, f"needs true or false, got {_shown(text)}")
        return text == "true"
    if float in kinds:
        number = _number(text)
        if number is not None:
            return number
    if str in kinds:
        return text
    if int in kinds and _WHOLE.fullmatch(text):
        return int(text)
    if datetime in kinds:
        return _time(text, field)
    if any(_shape(kind) is dict for kind in kinds):
        return _object(text, field)
    raise InputError(field, f"needs {_words(Union[tuple(kinds)])}, got {_shown(text)}")  # noqa: UP007 - a list of types


def _object(text: str, field: str) -> Mapping[str, Any]:
    """Return the object that a text is as JSON: so one stands in a query."""
    try:
        found = parsed(text.encode())
    except InputError as error:
        raise InputError(field, f"needs a JSON object: it {str(error).removeprefix('body: ')}") from error
    if not isinstance(found, dict):
        raise InputError(field, f"needs an object, got {_shown(found)}")
    return found


def _number(text: str) -> float | None:
    """Return the number that a text is, None when it is none that is finite."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and text.isascii() and "_" not in text else None


_NAMES: Final[Mapping[Any, str]] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    datetime: "a time (ISO 8601)",
    list: "a list",
    dict: "an object",
    types.NoneType: "null",
    None: "null",
}


def _words(hint: Any) -> str:
    """Return in words what a type takes."""
    kinds = [kind for kind in kinds_of(hint) if kind is not types.NoneType]
    names = dict.fromkeys(_NAMES.get(kind) or _NAMES.get(_shape(kind), "any value") for kind in kinds)
    return " or ".join(names)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)[:_MOST_NAMED] if not isinstance(value, int) or value.bit_length() < 300 else "a huge number"
    if isinstance(value, str):
        return repr(value[:_MOST_NAMED])
    return _NAMES.get(type(value), "something else")
