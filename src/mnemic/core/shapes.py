"""The shapes that replies of language models are asked for, as JSON Schema.

Every property of an object is required and none is allowed besides, as strict servers want it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

Shape = Mapping[str, Any]

TEXT: Final[Shape] = {"type": "string"}
FLAG: Final[Shape] = {"type": "boolean"}
WHOLE: Final[Shape] = {"type": "integer"}


def one_of(names: Sequence[str]) -> Shape:
    """Return the shape of one of some words."""
    return {"type": "string", "enum": list(names)}


def list_of(items: Shape) -> Shape:
    """Return the shape of a list."""
    return {"type": "array", "items": items}


def object_of(**properties: Shape) -> Shape:
    """Return the shape of an object."""
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip
