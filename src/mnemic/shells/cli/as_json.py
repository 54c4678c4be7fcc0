"""The library's values as JSON: what `--json` prints.

Field names are those of the values; times are ISO 8601 with their zone; the store's own integers stay inside.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from mnemic.errors import InputError, InputFaults, MnemicError

_PRIVATE: Final = frozenset({"cube_key", "key"})


def plain(value: object) -> Any:
    """Return a value as JSON can hold it."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: plain(inner) for name, inner in named.items() if name not in _PRIVATE}
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


def plain_error(error: MnemicError) -> dict[str, Any]:
    """Return an error as an object: stable code, message, and the fields that a program needs."""
    told: dict[str, Any] = {"code": error.code, "message": str(error), **plain(error.fields)}
    if isinstance(error, InputError):
        told["field"] = error.field
    if isinstance(error, InputFaults):
        told["faults"] = [plain_error(fault) for fault in error.faults]
    return told
