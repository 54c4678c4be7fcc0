"""Message lists as OpenAI's APIs take them: one list, `{"messages": [...]}`, or a line of that for each conversation.

They have neither ids nor times, so a message is named by its place: reading a file again stores nothing twice. What
our messages have no field for stays in their metadata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.importing.batch import Batch, Reading, as_list, as_object, reading
from mnemic.model.message import Message

FORMAT: Final = "openai"

_KNOWN: Final = ("role", "content", "name", "tool_calls", "tool_call_id", "refusal", "function_call")


def read(data: object, *, name: str = "openai") -> Reading:
    """Return the conversations in parsed data: a list of messages, or of objects with `messages`, or one of those.

    Sessions are called `name`, with a number when there are several. Raises `InputError` naming the place.
    """
    talks = _talks(data)
    single = len(talks) == 1
    batches: list[Batch] = []
    empty = 0
    for number, (place, messages) in enumerate(talks, 1):
        read_ones = [_message(entry, f"{place}[{index}]", index) for index, entry in enumerate(messages)]
        filled = tuple(message for message in read_ones if message is not None)
        empty += len(read_ones) - len(filled)
        batches.append(Batch(name if single else f"{name}-{number}", filled))
    return reading(FORMAT, batches, [f"{empty} messages have no content and were left out"] if empty else ())


def _talks(data: object) -> list[tuple[str, Sequence[Any]]]:
    """Return the lists of messages with the places that they stand in."""
    if isinstance(data, Mapping):
        return [("messages", as_list(data.get("messages"), "messages"))]
    entries = as_list(data, "data")
    if entries and all(isinstance(entry, Mapping) and "messages" in entry for entry in entries):
        return [
            (f"data[{number}].messages", as_list(entry["messages"], f"data[{number}].messages"))
            for number, entry in enumerate(entries)
        ]
    return [("data", entries)]


def _message(entry: object, field: str, place: int) -> Message | None:
    found = as_object(entry, field)
    role = found.get("role")
    if not isinstance(role, str) or not role:
        raise InputError(f"{field}.role", "is missing; each message has a role")
    content, calls = found.get("content"), found.get("tool_calls")
    if content is None and found.get("refusal"):
        content = [{"type": "refusal", "refusal": found["refusal"]}]
    if not calls and found.get("function_call"):
        calls = [{"type": "function", "function": found["function_call"]}]
    if content is None and not calls:
        return None
    others = {key: value for key, value in found.items() if key not in _KNOWN and value not in (None, [], {})}
    named = found.get("name")
    return Message(
        role=role,
        content=content,
        name=str(named) if named else None,
        id=f"message-{place + 1}",
        metadata=others or None,
        tool_calls=calls or None,
        tool_call_id=found.get("tool_call_id"),
    )
