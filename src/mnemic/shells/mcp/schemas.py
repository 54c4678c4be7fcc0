"""Schemas as clients get them: small, for they stand in a model's context, and plain, for not every client knows more.

Titles are left out, what may be absent is simply not required, and references are replaced by what they name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel


@cache
def plain_schema(kind: type[BaseModel]) -> Mapping[str, Any]:
    """Return the JSON Schema of a model; do not change it."""
    schema = kind.model_json_schema()
    found: Mapping[str, Any] = _plain(schema, schema.get("$defs", {}))
    return {name: value for name, value in found.items() if name not in ("$defs", "description")}


def _plain(value: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_plain(each, known) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        named = {name: each for name, each in known[value["$ref"].rpartition("/")[2]].items() if name != "description"}
        return _plain({**named, **{name: each for name, each in value.items() if name != "$ref"}}, known)
    choices = [each for each in value.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) == 1:
        value = {**choices[0], **{name: each for name, each in value.items() if name != "anyOf"}}
        return _plain(value, known)
    return {
        name: {key: _plain(each, known) for key, each in inner.items()}
        if name == "properties"
        else _plain(inner, known)
        for name, inner in value.items()
        if not (name == "title" and isinstance(inner, str)) and not (name == "default" and inner is None)
    }
