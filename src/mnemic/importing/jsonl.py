"""Messages one a line, each an object with role, content, and optionally name, at, id, session and metadata.

It is the plainest way in: what any program can write. Checking values is left to `Memory.add`; fields are checked
here, so that an error names the line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.importing.batch import Batch, Reading, as_list, as_object, reading
from mnemic.model.message import Message

FORMAT: Final = "jsonl"

FIELDS: Final = ("role", "content", "name", "at", "id", "session", "metadata", "tool_calls", "tool_call_id")

_INSTEAD: Final = {
    **dict.fromkeys(("timestamp", "time", "date", "created_at"), "at"),
    **dict.fromkeys(("speaker", "author"), "name"),
    **dict.fromkeys(("text", "message"), "content"),
    **dict.fromkeys(("session_id", "conversation"), "session"),
}
"""What others call the same."""


def read(data: object, *, name: str = "jsonl") -> Reading:
    """Return the messages of parsed lines by session; those that name none are in the session `name`.

    A message without an id and a time gets an id by its line. Raises `InputError` naming the line and the field.
    """
    sessions: dict[str, list[Message]] = {}
    for number, entry in enumerate(as_list(data, "lines"), 1):
        found = as_object(entry, f"lines[{number}]")
        _check_fields(found, number)
        given = found.get("session")
        if given is not None and (isinstance(given, bool) or not isinstance(given, str | int) or given == ""):
            raise InputError(f"lines[{number}].session", f"needs a name, got {given!r}")
        sessions.setdefault(name if given is None else str(given), []).append(_message(found, number))
    return reading(FORMAT, [Batch(session, tuple(messages)) for session, messages in sessions.items()])


def _check_fields(found: Any, number: int) -> None:
    unknown = next((key for key, value in found.items() if key not in FIELDS and value is not None), None)
    if unknown is not None:
        hint = f"; it is called {_INSTEAD[unknown]!r} here" if unknown in _INSTEAD else "; put it into metadata"
        raise InputError(f"lines[{number}].{unknown}", f"is not a field of a message: {', '.join(FIELDS)}{hint}")
    if found.get("content") is None and not found.get("tool_calls"):
        raise InputError(f"lines[{number}].content", "is missing; give a string or a list of parts")


def _message(found: Any, number: int) -> Message:
    named: Sequence[Any] = (found.get("id"), found.get("at"))
    return Message(
        role=found.get("role", "user"),
        content=found.get("content"),
        name=found.get("name"),
        at=found.get("at"),
        id=f"line-{number}" if named == (None, None) else found.get("id"),
        metadata=found.get("metadata"),
        tool_calls=found.get("tool_calls"),
        tool_call_id=found.get("tool_call_id"),
    )
