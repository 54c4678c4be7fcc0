"""ChatGPT's data export (`conversations.json`): each conversation is a tree of messages, of which one branch is shown.

The branch that ends in `current_node` is read, from the root down; answers that were regenerated and left are not.
Pictures and sound are kept as pointers with their words, since the export has the files apart.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.importing.batch import Batch, Reading, as_list, as_object, reading
from mnemic.model.message import Message

FORMAT: Final = "chatgpt"

Node = Mapping[str, Any]


def read(data: object) -> Reading:
    """Return the conversations of parsed data: a list of them, or one. Raises `InputError` naming the place.

    A session is called by its conversation's id; the title is in each message's metadata.
    """
    talks = [data] if isinstance(data, Mapping) else as_list(data, "conversations")
    batches: list[Batch] = []
    empty = 0
    for number, talk in enumerate(talks):
        batch, skipped = _conversation(as_object(talk, f"conversations[{number}]"), f"conversations[{number}]")
        batches.append(batch)
        empty += skipped
    notes = [f"{empty} messages without words were left out (empty system messages, hidden ones, thoughts)"]
    return reading(FORMAT, batches, notes if empty else ())


def _conversation(talk: Node, field: str) -> tuple[Batch, int]:
    mapping = as_object(talk.get("mapping"), f"{field}.mapping")
    title = str(talk.get("title") or "")
    session = str(talk.get("conversation_id") or talk.get("id") or title or field)
    at = talk.get("create_time")
    messages: list[Message] = []
    skipped = 0
    for place, node in _branch(mapping, talk.get("current_node"), field):
        said = node.get("message")
        if said is None:
            continue
        found = as_object(said, f"{place}.message")
        at = found.get("create_time") or at
        message = _message(found, at, title, f"{place}.message")
        if message is None:
            skipped += 1
        else:
            messages.append(message)
    return Batch(session, tuple(messages), title), skipped


def _branch(mapping: Node, current: object, field: str) -> list[tuple[str, Node]]:
    """Return the nodes from the root to the current one, each with its place in the file."""
    name = current if current is not None else _last_leaf(mapping)
    branch: list[tuple[str, Node]] = []
    seen: set[object] = set()
    while name is not None:
        if name in seen or name not in mapping:
            raise InputError(f"{field}.mapping", f"{name!r} is a parent that is missing or its own ancestor")
        seen.add(name)
        place = f"{field}.mapping[{name!r}]"
        node = as_object(mapping[str(name)], place)
        branch.append((place, node))
        name = node.get("parent")
    return branch[::-1]


def _last_leaf(mapping: Node) -> object:
    leaves = [key for key, node in mapping.items() if isinstance(node, Mapping) and not node.get("children")]
    return leaves[-1] if leaves else None


def _message(found: Node, at: Any, title: str, field: str) -> Message | None:
    author = as_object(found.get("author"), f"{field}.author")
    role = author.get("role")
    if not isinstance(role, str):
        raise InputError(f"{field}.author.role", "is missing")
    about = found.get("metadata") if isinstance(found.get("metadata"), Mapping) else {}
    content = _content(found.get("content"))
    hidden = role == "system" and bool(about and about.get("is_visually_hidden_from_conversation"))
    if not content or hidden:
        return None
    model = about.get("model_slug") if about else None
    metadata = {"title": title, "model": model}
    name = author.get("name")
    return Message(
        role=role,
        content=content,
        name=str(name) if name else None,
        at=at,
        id=str(found["id"]) if found.get("id") else None,
        metadata={key: value for key, value in metadata.items() if value} or None,
    )


def _content(content: object) -> Any:
    """Return content as our messages have it: plain text as a string, everything else as parts; None when empty."""
    if not isinstance(content, Mapping):
        return None
    if content.get("content_type") in ("thoughts", "reasoning_recap"):
        return None
    given = content.get("parts")
    if not isinstance(given, list):
        given = [text for key in ("text", "result", "user_profile", "user_instructions") if (text := content.get(key))]
    parts = [part for each in given if (part := _part(each)) is not None]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts).strip() or None
    return parts


def _part(part: object) -> dict[str, Any] | None:
    if isinstance(part, str):
        return {"type": "text", "text": part} if part.strip() else None
    if not isinstance(part, Mapping):
        return None
    return _PARTS.get(str(part.get("content_type")), _other)(part)


def _image(part: Node) -> dict[str, Any]:
    about = part.get("metadata")
    drawn = about.get("dalle") if isinstance(about, Mapping) else None
    prompt = drawn.get("prompt") if isinstance(drawn, Mapping) else None
    caption = {"caption": str(prompt)} if prompt else {}
    return {"type": "image", "url": str(part.get("asset_pointer", "")), **caption}


def _transcript(part: Node) -> dict[str, Any]:
    return {"type": "audio", "transcript": str(part.get("text", ""))}


def _sound(part: Node) -> dict[str, Any]:
    inner = part.get("audio_asset_pointer")
    pointer = inner if isinstance(inner, Mapping) else part
    return {"type": "audio", "id": str(pointer.get("asset_pointer", ""))}


def _other(part: Node) -> dict[str, Any]:
    words = part.get("text")
    return {"type": "text", "text": words if isinstance(words, str) else json.dumps(part, ensure_ascii=False)}


_PARTS: Final[Mapping[str, Callable[[Node], dict[str, Any]]]] = {
    "image_asset_pointer": _image,
    "audio_transcription": _transcript,
    "audio_asset_pointer": _sound,
    "real_time_user_audio_video_asset_pointer": _sound,
}
