"""What MemOS's clients send and read, from and to our values: messages in; hits, memories and jobs out.

Both of its faces name the same things: the cloud has them flat, with times in milliseconds; the open server has items
with metadata beside them.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.model.document import Locator
from mnemic.model.extraction import Extraction
from mnemic.model.job import JobState
from mnemic.model.memory import Memory, MemoryKind
from mnemic.model.message import StoredMessage
from mnemic.model.profile import ProfileEntry
from mnemic.model.query import Hit
from mnemic.wire.sources import address_in

TITLE: Final = 60
"""Characters of a text that stand for it as its key."""

LONG_TERM: Final = "LongTermMemory"
USER: Final = "UserMemory"
PREFERENCE: Final = "PreferenceMemory"

PREFERENCE_NOTE: Final = (
    "The preferences above were stated by the user or follow from what was said. What the user says now counts more."
)
"""What a prompt is told beside preferences."""

_LISTS: Final = {
    "detail_factual": "memory_detail_list",
    "preference": "preference_detail_list",
    "event": "event_detail_list",
    "profile": "profile_detail_list",
}
_VIEWS: Final[Mapping[str, str]] = {MemoryKind.PREFERENCE: "preference", MemoryKind.EVENT: "event"}
_MESSAGE: Final = {"chat_time": "at", "message_id": "id"}
_SPEAKER: Final = ("role_name", "role_id")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\r\n]{16,}={0,2}[\r\n]*")
_OURS: Final = frozenset({"role", "content", "name", "tool_calls", "tool_call_id"})
_RAW: Final = frozenset({"text", "image_url", "file", "input_audio", "input_text", "input_image", "input_file"})


def messages_of(given: Sequence[Any], metadata: Mapping[str, Any], field: str = "messages") -> list[dict[str, Any]]:
    """Return MemOS's messages as ours, each with what was said of all of them. Raises `InputError` naming a field."""
    return [_message(each, metadata, f"{field}[{at}]") for at, each in enumerate(given)]


def _message(given: Any, metadata: Mapping[str, Any], place: str) -> dict[str, Any]:
    said = _as_object(given, place)
    found: dict[str, Any] = {"metadata": dict(metadata)} if metadata else {}
    for name, value in said.items():
        if name in _OURS or name in _MESSAGE:
            found[_MESSAGE.get(name, name)] = value
        elif name not in _SPEAKER:
            raise InputError(f"{place}.{name}", "is not a field of a message here; put it into info")
    if isinstance(found.get("content"), list):
        found["content"] = [_file_as_text(each) for each in found["content"]]
    speaker = next((said[name] for name in _SPEAKER if said.get(name)), None)
    if speaker is not None:
        found.setdefault("name", speaker)
    if "content" not in found and "tool_calls" not in found:
        raise InputError(f"{place}.content", "is missing")
    return found


def _file_as_text(part: Any) -> Any:
    """Return a part; a file whose words stand in the place of its bytes, as MemOS takes them, as these words' bytes."""
    inner = part.get("file") if isinstance(part, Mapping) and part.get("type") == "file" else None
    data = inner.get("file_data") if isinstance(inner, Mapping) else None
    if not isinstance(data, str) or not data or address_in(data.strip()) or data[:5].lower() == "data:":
        return part
    if _BASE64.fullmatch(data) and len(data) % 4 == 0:
        return part
    told = base64.b64encode(data.encode("utf-8", "surrogatepass")).decode("ascii")
    return {**part, "file": {**(inner or {}), "file_data": f"data:text/plain;base64,{told}"}}


def _as_object(given: Any, place: str) -> dict[str, Any]:
    """Return a message with its role, without what is null; a bare text or item was said by the user."""
    if isinstance(given, str):
        return {"role": "user", "content": given}
    if not isinstance(given, Mapping):
        raise InputError(place, f"needs an object with role and content, got {type(given).__name__}")
    if "role" not in given and given.get("type") in _RAW:
        return {"role": "user", "content": [dict(given)]}
    return {str(name): value for name, value in given.items() if value is not None}


def metadata_of(info: Mapping[str, Any] | None, beside: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept with each message: what `info` holds, and what was given beside it."""
    found = dict(info or {})
    for name, value in beside.items():
        if value is None or value == []:
            continue
        if name in found and found[name] != value:
            raise InputError(f"info.{name}", f"says something else than {name}")
        found[name] = value
    return found


def millis(moment: datetime | None) -> int | None:
    """Return a time in milliseconds since 1970."""
    return None if moment is None else int(moment.timestamp() * 1_000)


def flat_hit(hit: Hit, name: str) -> dict[str, Any]:
    """Return a hit as an entry of `memory_detail_list`; `name` is the id that it goes by."""
    return {
        "id": name,
        "memory_key": str(hit.metadata.get("attribute") or _title(hit.text)),
        "memory_value": hit.text,
        "memory_type": memory_type(hit.kind),
        "memory_time": millis(hit.said_at),
        "create_time": millis(hit.said_at),
        "update_time": millis(hit.said_at),
        "conversation_id": hit.session,
        "status": "activated" if hit.valid_to is None else "archived",
        "confidence": None,
        "tags": hit.metadata.get("tags") or [],
        "info": dict(hit.metadata),
        "relativity": relativity(hit.score),
        "kind": hit.kind,
        "speaker": hit.speaker,
        "note": hit.note,
        "source": place_in(hit.locator),
        "attachments": attached(hit),
    }


def place_in(locator: Locator | None) -> dict[str, Any] | None:
    """Return where a passage of a document stands; None for what is no passage."""
    if locator is None:
        return None
    return {
        "file_id": locator.document, "file_name": locator.name, "version": locator.version, "page": locator.page,
        "last_page": locator.last_page, "row": locator.row, "part": locator.part or None,
        "headings": list(locator.headings),
    }  # fmt: skip


def attached(hit: Hit) -> list[dict[str, Any]]:
    """Return what came with a message: each with what was read from it."""
    return [
        {"id": each.id, "type": each.kind.value, "name": each.name, "caption": each.caption, "text": each.text,
         "description": each.description}
        for each in hit.attachments
    ]  # fmt: skip


def flat_memory(memory: Memory, name: str) -> dict[str, Any]:
    """Return a memory as an entry of `memory_detail_list`."""
    current = memory.current
    first = current.sources[0] if current.sources else None
    return {
        "id": name,
        "memory_key": memory.attribute,
        "memory_value": current.text,
        "memory_type": memory_type(memory.kind),
        "memory_time": millis(current.valid_from),
        "create_time": millis(memory.created_at),
        "update_time": millis(current.recorded_at),
        "conversation_id": "" if first is None else first.session,
        "status": "activated" if memory.stands and current.valid_to is None else "archived",
        "confidence": current.confidence,
        "tags": [],
        "relativity": None,
        "kind": memory.kind.value,
        "version": current.number,
    }


def flat_preference(memory: Memory, name: str, score: float | None = None) -> dict[str, Any]:
    """Return a preference as an entry of `preference_detail_list`."""
    flat = flat_memory(memory, name)
    kept = {key: flat[key] for key in ("id", "create_time", "update_time", "conversation_id", "status", "memory_type")}
    reason = memory.current.reason
    return {
        **kept,
        "preference_type": "implicit_preference" if reason else "explicit_preference",
        "preference": memory.current.text,
        "reasoning": reason,
        "relativity": score,
    }


def flat_event(memory: Memory, name: str, score: float | None = None) -> dict[str, Any]:
    """Return an event as an entry of `event_detail_list`."""
    flat, time = flat_memory(memory, name), memory.current.time
    return {
        **{key: flat[key] for key in ("id", "create_time", "update_time", "conversation_id", "status")},
        "event_key": memory.attribute,
        "event_value": memory.current.text,
        "event_time": [] if time is None else [millis(memory.current.valid_from)],
        "event_location": [],
        "event_roles": [memory.subject],
        "relativity": score,
    }


def flat_profile(entry: ProfileEntry, name: str) -> dict[str, Any]:
    """Return an attribute of a person as an entry of `profile_detail_list`."""
    return {
        "id": name,
        "profile_key": entry.attribute,
        "profile_value": entry.value,
        "profile_text": entry.text,
        "subject": entry.subject,
        "group": entry.group,
        "locked": entry.locked,
        "confidence": entry.confidence,
        "update_time": millis(entry.since),
    }


def flat_message(message: StoredMessage) -> dict[str, Any]:
    """Return a message as an entry of `message_detail_list`."""
    return {
        "id": message.id,
        "message_id": message.external_id or message.id,
        "role": message.role.value,
        "content": message.content,
        "name": message.speaker,
        "conversation_id": message.session,
        "chat_time": message.said_at.isoformat(),
        "create_time": millis(message.stored_at),
        "update_time": millis(message.stored_at),
        "info": dict(message.metadata),
    }


def node_of_hit(hit: Hit, cube: str) -> dict[str, Any]:
    """Return a hit as an item of a group of `/product/search`."""
    sources: list[dict[str, Any]] = [
        {"type": "chat", "message_id": each.message_id, "content": each.quote, "chat_time": each.said_at.isoformat()}
        for each in hit.sources
        if each.message_id
    ]
    if hit.locator is not None:
        sources = [{"type": "file", **(place_in(hit.locator) or {}), "content": hit.text}]
    metadata = {
        "memory_type": memory_type(hit.kind),
        "kind": hit.kind,
        "session_id": hit.session,
        "status": "activated" if hit.valid_to is None else "archived",
        "relativity": relativity(hit.score),
        "sources": sources,
        "created_at": hit.said_at.isoformat(),
        "updated_at": hit.said_at.isoformat(),
        "tags": hit.metadata.get("tags") or [],
        "info": dict(hit.metadata),
        "attachments": attached(hit),
    }
    return _node(hit.id, hit.text, cube, metadata)


def node_of_item(item: Memory | StoredMessage, cube: str) -> dict[str, Any]:
    """Return a memory or a message as an item of a group."""
    if isinstance(item, StoredMessage):
        metadata: dict[str, Any] = {
            "memory_type": LONG_TERM,
            "kind": "message",
            "session_id": item.session,
            "status": "activated",
            "created_at": item.stored_at.isoformat(),
            "updated_at": item.stored_at.isoformat(),
            "role": item.role.value,
            "tags": item.metadata.get("tags") or [],
            "info": dict(item.metadata),
        }
        return _node(item.id, item.text, cube, metadata)
    current = item.current
    metadata = {
        "memory_type": memory_type(item.kind),
        "kind": item.kind.value,
        "key": item.attribute,
        "session_id": current.sources[0].session if current.sources else "",
        "status": "activated" if item.stands and current.valid_to is None else "archived",
        "confidence": current.confidence,
        "version": current.number,
        "created_at": item.created_at.isoformat(),
        "updated_at": current.recorded_at.isoformat(),
        "sources": [{"type": "chat", "message_id": each.message_id, "content": each.quote} for each in current.sources],
        "reasoning": current.reason,
    }
    return _node(item.id, current.text, cube, metadata)


def _node(name: str, text: str, cube: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": name, "memory": text, "cube_id": cube, "ref_id": f"[{name.partition('-')[0]}]",
            "metadata": {**metadata, "id": name, "memory": text}}  # fmt: skip


def memory_type(kind: str) -> str:
    """Return MemOS's name for one of our kinds."""
    if kind == MemoryKind.PREFERENCE:
        return PREFERENCE
    return USER if kind in (MemoryKind.FACT, MemoryKind.EVENT) else LONG_TERM


def state_word(state: JobState) -> str:
    """Return the open server's word for where a job is; the cloud's are `cloud_word`."""
    words = {
        JobState.QUEUED: "waiting",
        JobState.FAILED: "waiting",  # it will be tried again
        JobState.RUNNING: "in_progress",
        JobState.DONE: "completed",
        JobState.DEAD: "failed",
        JobState.CANCELLED: "cancelled",
    }
    return words[state]


def cloud_word(states: Sequence[JobState]) -> str:
    """Return the cloud's word for where work of several jobs is: the worst of them counts."""
    words = {state_word(state) for state in states}
    if words & {"waiting", "in_progress"}:
        return "running"
    return "failed" if words & {"failed", "cancelled"} else "completed"


def _title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE else line[: TITLE - 1].rstrip() + "…"


def extracted(found: Extraction, wanted: Sequence[str] | None) -> dict[str, Any]:
    """Return what would be remembered of messages, in lists of MemOS's kinds; `wanted` names some of them."""
    lists: dict[str, list[dict[str, Any]]] = {name: [] for view, name in _LISTS.items() if not wanted or view in wanted}
    for item in found.items:
        name = _LISTS.get(_VIEWS.get(item.kind, "detail_factual"), "")
        if name in lists:
            lists[name].append({
                "memory_key": item.attribute, "memory_value": item.text, "memory_type": memory_type(item.kind),
                "message": item.message, "quote": item.quote, "subject": item.subject, "change": item.change,
                "beside": item.beside, "confidence": item.confidence, "reasoning": item.reason,
                "memory_time": millis(item.valid_from), "kind": item.kind.value,
            })  # fmt: skip
    return {"success": True, **lists, "mode": found.mode, "notes": list(found.notes)}


def relativity(score: float) -> float:
    """Return a score on the scale of MemOS's, where what bears on the question lies above 0.45.

    Ours is a probability, of which a tenth is much among many candidates: its cube root puts that tenth at 0.46.
    """
    return round(math.cbrt(max(score, 0.0)), 4)


def threshold_of(least: float | None) -> float | None:
    """Return the score that a relativity stands for; None for none, and for 0, which cuts nothing."""
    return float(min(least, 1.0) ** 3) if least else None
