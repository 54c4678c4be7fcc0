"""MemOS's filters as ours: `and` and `or` lists of conditions on fields, with its names of fields.

    {"and": [{"tags": {"contains": "travel"}}, {"create_time": {"gte": "2025-12-06"}}]}

`info.<key>` is a key of what `info` held; a field that is no name of MemOS's is such a key, too. What our grammar does
not know, `mnemic.core.filtering` refuses by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mnemic.core.filtering import OPERATORS
from mnemic.errors import InputError

FIELDS: Final[Mapping[str, str]] = {
    "id": "id",
    "memory_id": "id",
    "message_id": "external_id",
    "conversation_id": "session",
    "session_id": "session",
    "agent_id": "agent",
    "role": "role",
    "create_time": "stored_at",
    "created_at": "stored_at",
    "memory_time": "said_at",
    "chat_time": "said_at",
    "tags": "metadata.tags",
    "custom_tags": "metadata.tags",
    "app_id": "metadata.app_id",
    "source": "metadata.source",
}
"""MemOS's names of fields, and ours."""

LACKING: Final = ("user_id", "update_time", "updated_at", "memory_type", "status", "visibility", "confidence")
"""Fields of MemOS by which nothing can be chosen here."""

_DEPTH: Final = 20


def where_of(given: Mapping[str, Any] | None, *, field: str = "filter", depth: int = 0) -> dict[str, Any] | None:
    """Return our filter for one of MemOS's, None for none. Raises `InputError` naming what cannot be done."""
    if given is None:
        return None
    if not given:
        raise InputError(field, "is empty; leave it out to choose everything")
    if depth > _DEPTH:
        raise InputError(field, f"is nested deeper than {_DEPTH} levels")
    parts = [_clause(name, value, field, depth) for name, value in given.items()]
    return parts[0] if len(parts) == 1 else {"and": parts}


def _clause(name: str, value: Any, field: str, depth: int) -> dict[str, Any]:
    place = f"{field}.{name}"
    if name in ("and", "or"):
        if not isinstance(value, list) or not value:
            raise InputError(place, "needs a list of conditions with at least one in it")
        return {name: [_inner(each, f"{place}[{at}]", depth) for at, each in enumerate(value)]}
    if name == "not":
        return {"not": _inner(value, place, depth)}
    if name in LACKING:
        known = ", ".join(FIELDS)
        raise InputError(place, f"nothing can be chosen by it here; known: {known}, info.<key>")
    if name == "id":  # a door's ids may carry their user
        return {"id": _bare(value)}
    key = f"metadata.{name.removeprefix('info.')}"
    return {FIELDS.get(name, key): _condition(name, value, place)}


def _inner(given: Any, place: str, depth: int) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(place, f"needs an object, got {type(given).__name__}")
    found = where_of(given, field=place, depth=depth + 1)
    if found is None:
        raise InputError(place, "is empty; give a condition")
    return found


def _condition(name: str, value: Any, place: str) -> Any:
    if isinstance(value, list):
        return {"in": value}
    for operator in value if isinstance(value, Mapping) else ():
        if operator not in OPERATORS:
            raise InputError(f"{place}.{operator}", f"is not an operator; known: {', '.join(OPERATORS)}")
    if not isinstance(value, Mapping) and FIELDS.get(name) == "metadata.tags":
        return {"contains": value}  # tags are a list: one of them is meant
    return value


def _bare(value: Any) -> Any:
    """Return ids without the user that they carry."""
    if isinstance(value, str):
        return value.partition(":")[0]
    if isinstance(value, list):
        return {"in": [_bare(each) for each in value]}
    if isinstance(value, Mapping):
        return {operator: _bare_in(each) for operator, each in value.items()}
    return value


def _bare_in(value: Any) -> Any:
    return [_bare(each) for each in value] if isinstance(value, list) else _bare(value)
