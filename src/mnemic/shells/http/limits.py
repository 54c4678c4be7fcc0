"""What a signature cannot say of a value: lengths, ranges, known words. For the description only; services decide.

By the name of a parameter, or by `verb name` where one name means several things.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mnemic.core.intake import ID_LIMIT, ROLES

Schema = dict[str, Any]

_ID: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": ID_LIMIT}
_NUMBERED: Final[Schema] = {"anyOf": [_ID, {"type": "integer"}]}
_TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_SOME: Final[Schema] = {"type": "array", "items": _ID, "minItems": 1}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [*schema.get("anyOf", [schema]), {"type": "null"}]}


_MESSAGE: Final[Schema] = {"anyOf": [_TEXT, {"$ref": "#/components/schemas/MessageToStore"}]}
_WHEN: Final[Schema] = {
    "anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}, {"type": "null"}],
    "description": "ISO 8601, or Unix seconds.",
}

CURSOR: Final[Schema] = {
    "type": "string",
    "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    "([.][0-9]{1,6})?[+]00:00 [0-9a-f-]{36}$",
    "description": "The id of an event.",
}

IN_HEADERS: Final[Mapping[str, Schema]] = {
    "Idempotency-Key": {"type": "string", "pattern": "^[!-~]{1,255}$"},
    "If-Match": {"type": "string", "pattern": '^("[0-9]{1,9}"|[*])$'},
    "Last-Event-ID": CURSOR,
}
"""Schemas of headers."""

LIMITS: Final[Mapping[str, Schema]] = {
    "user": _NUMBERED,
    "session": _or_null(_NUMBERED),
    "agent": _or_null(_NUMBERED),
    "task": _or_null(_NUMBERED),
    "cube": _or_null(_ID),
    "cubes": _or_null({"anyOf": [_ID, _SOME]}),
    "as_of": _WHEN,
    "reference_time": _WHEN,
    "where": _or_null({"type": "object", "minProperties": 1}),
    "since": _or_null(CURSOR),
    "messages": {"anyOf": [*_MESSAGE["anyOf"], {"type": "array", "items": _MESSAGE}]},
}
"""Schemas in the place of those that the types give."""

MESSAGES: Final[Schema] = {
    "type": "object",
    "description": "One turn: who speaks, what is said (a string, or parts as chat APIs write them), and when.",
    "properties": {
        "role": {"type": "string", "enum": sorted(ROLES), "default": "user"},
        "content": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]},
        "name": _or_null(_ID),
        "at": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
        "id": _or_null(_NUMBERED),
        "metadata": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "tool_calls": {"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "null"}]},
        "tool_call_id": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "additionalProperties": False,
}
"""A message as it is given."""
