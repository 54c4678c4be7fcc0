"""What a caller gives, checked and put into one form: messages in many shapes in, values with all fields filled out.

Every fault names the field. Nothing here decides what is worth remembering: whatever has content is kept verbatim.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, Final

from mnemic.core.attaching import Brought, Intake
from mnemic.errors import InputError, InputFaults
from mnemic.ids import ID_LIMIT as ID_LIMIT
from mnemic.ids import check_id as check_id
from mnemic.ids import content_hash
from mnemic.model.message import Message, MessageRole
from mnemic.model.moment import offset_minutes, to_micros
from mnemic.model.parts import check_content, searchable_text

ROLES: Final[Mapping[str, MessageRole]] = {
    "system": MessageRole.SYSTEM,
    "developer": MessageRole.SYSTEM,
    "user": MessageRole.USER,
    "human": MessageRole.USER,
    "assistant": MessageRole.ASSISTANT,
    "ai": MessageRole.ASSISTANT,
    "tool": MessageRole.TOOL,
    "function": MessageRole.TOOL,
}
"""The roles that chat APIs use, and what they are here."""

NESTING_LIMIT: Final = 64
"""Levels of lists and objects inside content or metadata."""

_FIELDS: Final = tuple(field.name for field in fields(Message))
_MEANT: Final = {
    "at": ("timestamp", "time", "date", "datetime", "created", "created_at", "create_time", "ts", "said_at"),
    "content": ("text", "message", "body"),
    "name": ("speaker", "author", "sender", "user", "from"),
    "metadata": ("meta", "tags"),
    "id": ("message_id", "external_id", "uuid"),
}
"""What other systems call a message's fields."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A checked message. `dedupe` is None when nothing identifies it: it is new whatever it says.

    `zoned` is False when its time came without a zone; `text` is what can be searched, empty when there is none.
    `content` has no bytes in it any more: they are in what is `brought`.
    """

    role: MessageRole
    speaker: str
    content: Any
    text: str
    said_at: datetime
    zoned: bool
    external_id: str | None
    metadata: Mapping[str, Any]
    dedupe: str | None
    brought: tuple[Brought, ...] = ()


def check_count(value: object, field: str, *, least: int = 1, most: int) -> int:
    """Return how many a caller wants; raise `InputError` when it is no whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(field, f"needs a whole number from {least} to {most}, got {value!r}")
    return value


def check_seconds(value: object, field: str) -> float:
    """Return a number of seconds, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise InputError(field, f"needs a number of seconds, 0 or more, got {value!r}")
    return value


def check_tokens(value: object, field: str) -> int:
    """Return a number of tokens, 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(field, f"needs a whole number of tokens above 0, got {value!r}")
    return value


def check_flag(value: object, field: str) -> bool:
    """Return a caller's yes or no; what Python only takes for one is refused."""
    if not isinstance(value, bool):
        raise InputError(field, f"needs true or false, got {value!r}")
    return value


def check_text(value: object, field: str, when_empty: str) -> str:
    """Return a caller's words as they are; raise `InputError` when there are none, and say `when_empty` what to do."""
    if not isinstance(value, str):
        raise InputError(field, f"needs a string, got {type(value).__name__}")
    if not value.strip():
        raise InputError(field, f"is empty; {when_empty}")
    return value


def check_names(given: object, field: str) -> list[object]:
    """Return one name or several as a list; raise `InputError` when it is empty or holds no names."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Sequence | AbstractSet) or isinstance(given, bytes):
        raise InputError(field, f"needs a string or a list of strings, got {type(given).__name__}")
    if not given:
        raise InputError(field, "is an empty list; leave it out for the default")
    return list(given)


def read_messages(
    given: object, *, user: str, agent: str | None, now: datetime, zone: tzinfo, intake: Intake | None = None
) -> list[Incoming]:
    """Return the messages of a call, checked; one fault is raised as it is, several as `InputFaults`."""
    around = _Around(user, agent, zone, intake or Intake())
    found: list[Incoming] = []
    faults: list[InputError] = []
    for number, item in enumerate(_items(given)):
        try:
            moment = now + timedelta(microseconds=number)
            found.append(_read(item, f"messages[{number}]", around, moment))
        except InputError as fault:
            faults.append(fault)
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise InputFaults("messages", faults)
    return found


def _items(given: object) -> Iterable[object]:
    if isinstance(given, str | Mapping | Message):
        return [given]
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        return given
    raise InputError("messages", f"needs a string, a message or a list of messages, got {type(given).__name__}")


@dataclass(frozen=True, slots=True)
class _Around:
    """What all messages of a call share."""

    user: str
    agent: str | None
    zone: tzinfo
    intake: Intake


def _read(item: object, field: str, around: _Around, now: datetime) -> Incoming:
    message = _as_message(item, field)
    given: object = message.role  # callers without a type checker give anything
    role = ROLES.get(given) if isinstance(given, str) else None
    if role is None:
        raise InputError(f"{field}.role", f"{message.role!r} is not known; known roles: {', '.join(ROLES)}")
    content, brought = _content(message, field, around.intake)
    said_at, zoned = read_time(message.at, f"{field}.at", now=now, zone=around.zone)
    external_id = None if message.id is None else check_id(message.id, f"{field}.id")
    names = {MessageRole.USER: around.user, MessageRole.ASSISTANT: around.agent or "assistant"}
    speaker = names.get(role, role.value) if message.name is None else check_id(message.name, f"{field}.name")
    dedupe = None
    if external_id is not None:
        dedupe = f"id:{external_id}"
    elif message.at is not None:
        dedupe = "at:" + content_hash(role, speaker, str(to_micros(said_at)), json.dumps(content, sort_keys=True))
    return Incoming(
        role=role,
        speaker=speaker,
        content=content,
        text=searchable_text(content),
        said_at=said_at,
        zoned=zoned,
        external_id=external_id,
        metadata=check_metadata(message.metadata, f"{field}.metadata"),
        dedupe=dedupe,
        brought=brought,
    )


def _as_message(item: object, field: str) -> Message:
    if isinstance(item, Message):
        return item
    if isinstance(item, str):
        return Message("user", item)
    if not isinstance(item, Mapping):
        raise InputError(field, f"needs a string or an object with role and content, got {type(item).__name__}")
    unknown = [key for key, value in item.items() if key not in _FIELDS and value is not None]
    if unknown:
        meant = next((name for name, others in _MEANT.items() if str(unknown[0]).lower() in others), None)
        hint = f"; did you mean `{meant}`?" if meant else ""
        raise InputError(f"{field}.{unknown[0]}", f"is not a field of a message; known: {', '.join(_FIELDS)}{hint}")
    known = {str(key): value for key, value in item.items() if key in _FIELDS}
    return Message(**{"role": "user", "content": None, **known})


def _content(message: Message, field: str, intake: Intake) -> tuple[Any, tuple[Brought, ...]]:
    """Return the content as it is kept: as given but for bytes, wrapped with the tool calls that came beside it."""
    beside = {
        name: value
        for name, value in (("tool_calls", message.tool_calls), ("tool_call_id", message.tool_call_id))
        if value is not None
    }
    if message.content is not None or not message.tool_calls:
        check_content(message.content, f"{field}.content")
    calls = message.tool_calls
    if calls is not None and (not isinstance(calls, Sequence) or isinstance(calls, str)):
        raise InputError(f"{field}.tool_calls", f"needs a list, got {type(calls).__name__}")
    content, brought = intake.take(message.content, f"{field}.content")
    return _as_json({"content": content, **beside} if beside else content, f"{field}.content"), brought


def check_metadata(given: object, field: str) -> Mapping[str, Any]:
    """Return a caller's own data as it will come back from the store; none for None."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(field, f"needs an object, got {type(given).__name__}")
    for key in given:
        if not isinstance(key, str):
            raise InputError(field, f"needs strings as keys, got {key!r}")
    read: Mapping[str, Any] = _as_json(dict(given), field)
    return read


def _as_json(value: Any, field: str) -> Any:
    """Return a value as it will come back from the store: tuples as lists, keys as strings, surrogate pairs joined."""
    if isinstance(value, str) and value.isascii():
        return value
    try:
        read = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(field, f"cannot be written as JSON: {error}") from error
    if _is_deep(read, NESTING_LIMIT):
        raise InputError(field, f"is nested deeper than {NESTING_LIMIT} levels")
    return read


def _is_deep(value: Any, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels < 0 or any(_is_deep(item, levels - 1) for item in inner)


def read_time(given: object, field: str, *, now: datetime, zone: tzinfo) -> tuple[datetime, bool]:
    """Return an aware time and whether it came with a zone: from a datetime, ISO 8601 text or Unix seconds."""
    if given is None:
        return now, True
    moment: datetime
    if isinstance(given, datetime):
        moment = given
    elif isinstance(given, str):
        moment = _from_iso(given, field)
    elif isinstance(given, int | float) and not isinstance(given, bool):
        moment = _from_seconds(given, field)
    else:
        raise InputError(field, f"needs a datetime, ISO 8601 text or Unix seconds, got {type(given).__name__}")
    if moment.tzinfo is not None:
        return _in_range(moment, field), True
    return _in_range(moment.replace(tzinfo=zone), field), False


def _from_iso(given: str, field: str) -> datetime:
    try:
        return datetime.fromisoformat(given.strip())
    except ValueError as error:
        raise InputError(field, f"{given!r} is not ISO 8601, such as 2025-03-14T09:30:00+01:00") from error


def _from_seconds(given: float, field: str) -> datetime:
    hint = "; it looks like milliseconds" if 1e11 < abs(given) < 1e14 else ""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=given)
    except (OverflowError, ValueError) as error:
        raise InputError(field, f"this number is not a time in Unix seconds{hint}") from error


def _in_range(moment: datetime, field: str) -> datetime:
    if not 1 < moment.year < 9999:
        raise InputError(field, f"the year {moment.year} is out of range{_milliseconds_hint(moment)}")
    return moment.astimezone(timezone(timedelta(minutes=offset_minutes(moment))))


def _milliseconds_hint(moment: datetime) -> str:
    return "; Unix times are given in seconds" if moment.year > 3000 else ""
