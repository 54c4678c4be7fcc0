"""What a message's content is made of, and what of it can be searched.

Content is kept verbatim, as the chat APIs of OpenAI and Anthropic write it: a string, or a list of parts. Checking it
finds the field that is wrong; reading it gives the words that an index can use (captions and names of files included).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mnemic.errors import InputError

BLOB: Final = "blob"
"""The key of a part whose bytes are kept apart: `{"digest": …, "media": …, "size": …}`."""

_BYTES: Final = ("bytes", "data", "path", BLOB)

PAYLOADS: Final[Mapping[str, tuple[str, ...]]] = {
    "text": ("text",),
    "input_text": ("text",),
    "output_text": ("text",),
    "refusal": ("refusal",),
    "thinking": ("thinking",),
    "reasoning": ("text", "summary", "content"),
    "image_url": ("image_url", "url", *_BYTES),
    "input_image": ("image_url", "file_id", *_BYTES),
    "image": ("source", "url", "image_url", *_BYTES, "caption"),
    "file": ("file", "source", "url", "file_data", "file_id", *_BYTES, "name"),
    "input_file": ("file_data", "file_id", "file_url", *_BYTES, "filename"),
    "document": ("source", "content", "url", "file_data", *_BYTES),
    "input_audio": ("input_audio", *_BYTES),
    "audio": ("audio", "source", "url", *_BYTES, "transcript", "id"),
    "tool_use": ("name",),
    "tool_call": ("name", "function"),
    "function_call": ("name",),
    "tool_result": ("content", "tool_use_id"),
    "function_call_output": ("output",),
}
"""The known types of parts, each with the keys of which one must be there."""

VIDEOS: Final = frozenset({"video", "video_url", "input_video"})
"""Types of parts that are known, and refused."""

NO_VIDEO: Final = "is a video, which is not taken; give single pictures of it, or its sound"
"""What is said of one."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")

MEDIA: Final = frozenset({
    "image_url", "input_image", "image", "file", "input_file", "document", "input_audio", "audio",
})  # fmt: skip
"""The types of parts that may hold more than words."""

_MEDIA: Final[Mapping[str, str]] = {
    "image_url": "[image]",
    "input_image": "[image]",
    "image": "[image]",
    "file": "[file]",
    "input_file": "[file]",
    "document": "[file]",
    "input_audio": "[audio]",
    "audio": "[audio]",
    "thinking": "[reasoning]",
    "reasoning": "[reasoning]",
}
_SPOKEN: Final = ("text", "caption", "transcript", "refusal", "title", "alt", "filename", "name")


def check_content(content: Any, field: str) -> None:
    """Raise `InputError` naming the place when content is not a string or a list of known, filled parts."""
    if isinstance(content, str):
        return
    if content is None:
        raise InputError(field, "is missing; give a string or a list of parts such as {'type': 'text', 'text': ...}")
    if isinstance(content, Mapping):
        raise InputError(field, "is a single object; give a string or a list of parts")
    if not isinstance(content, Sequence) or isinstance(content, bytes):
        raise InputError(field, f"is of type {type(content).__name__}; give a string or a list of parts")
    for number, part in enumerate(content):
        _check_part(part, f"{field}[{number}]")


def _check_part(part: Any, field: str) -> None:
    if isinstance(part, str):
        return
    if not isinstance(part, Mapping):
        raise InputError(field, f"is of type {type(part).__name__}; a part is an object with a type")
    kind = part.get("type")
    if kind is None:
        raise InputError(f"{field}.type", f"is missing; known types: {', '.join(PAYLOADS)}")
    payloads = PAYLOADS.get(kind) if isinstance(kind, str) else None
    if payloads is None:
        if isinstance(kind, str) and kind in VIDEOS:
            raise InputError(f"{field}.type", NO_VIDEO)
        raise InputError(f"{field}.type", f"{kind!r} is not known; known types: {', '.join(PAYLOADS)}")
    if all(part.get(name) is None for name in payloads):
        raise InputError(f"{field}.{payloads[0]}", f"is missing: a part of type {kind} needs {' or '.join(payloads)}")
    if payloads == ("text",) and not isinstance(part["text"], str):
        raise InputError(f"{field}.text", f"is of type {type(part['text']).__name__}; give a string")
    if BLOB in part and BLOB in payloads:
        check_blob(part[BLOB], f"{field}.{BLOB}")


def check_blob(blob: Any, field: str) -> None:
    """Raise `InputError` for what does not refer to a stored file."""
    if not isinstance(blob, Mapping):
        raise InputError(field, f"is of type {type(blob).__name__}; give an object with digest, media and size")
    digest, size = blob.get("digest"), blob.get("size")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise InputError(f"{field}.digest", "needs the SHA-256 of a stored file in hex")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise InputError(f"{field}.size", "needs a number of bytes")
    if not isinstance(blob.get("media"), str):
        raise InputError(f"{field}.media", "needs a media type such as image/png")


def media_parts(content: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the parts of content that hold more than words, each with its number.

    Parts of the content count from 0; those inside of a tool's result follow behind the last one.
    """
    inner = content.get("content") if isinstance(content, Mapping) else content
    if not isinstance(inner, Sequence) or isinstance(inner, str | bytes):
        return
    within: list[Any] = []
    for number, part in enumerate(inner):
        if not isinstance(part, Mapping):
            continue
        if part.get("type") in MEDIA:
            yield number, part
        elif part.get("type") == "tool_result" and isinstance(part.get("content"), Sequence):
            within += [each for each in part["content"] if isinstance(each, Mapping) and each.get("type") in MEDIA]
    yield from enumerate(within, len(inner))


def is_attached(part: Mapping[str, Any]) -> bool:
    """Tell whether a stored part came with bytes, or with an address where they are."""
    return BLOB in part or bool(address_of(part))


def address_of(part: Mapping[str, Any]) -> str:
    """Return the address that a part gives in the place of bytes; empty when there is none."""
    for name in ("url", "file_url", "image_url", "source", "file", "audio", "input_audio"):
        value = part.get(name)
        if isinstance(value, Mapping):
            value = value.get("url")
        if isinstance(value, str) and value.lower().startswith(("http://", "https://")):
            return value
    return ""


def searchable_text(content: Any) -> str:
    """Return the words of a message's content, one part a line; empty when it has none."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):  # content with tool calls beside it, as the store wraps it
        lines = [searchable_text(content.get("content")), *(_call(call) for call in content.get("tool_calls") or ())]
        return "\n".join(line for line in lines if line)
    if not isinstance(content, Sequence):
        return ""
    lines = [line for part in content if (line := _words_of(part))]
    if not any(line.strip() for line in lines):  # what has no words was sent all the same
        kinds = [part.get("type") for part in content if isinstance(part, Mapping)]
        lines = [_MEDIA[kind] for kind in kinds if isinstance(kind, str) and kind in _MEDIA]
    return "\n".join(lines)


def _words_of(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    match part.get("type"):
        case "thinking" | "reasoning":
            return ""
        case "tool_use" | "tool_call" | "function_call":
            return _call(part)
        case "tool_result" | "function_call_output":
            inner = part.get("content", part.get("output"))
            return searchable_text(inner) if not isinstance(inner, Mapping) else _dump(inner)
        case "image" | "image_url" | "input_image":
            words = [str(part[key]) for key in ("text", "caption", "alt", "title") if part.get(key)]
            return f"[image: {'; '.join(words)}]" if words else ""
        case "file" | "input_file" | "document":
            inner = part.get("file")
            named = inner if isinstance(inner, Mapping) else part
            words = [str(named[key]) for key in _SPOKEN if named.get(key)]
            return f"[file: {'; '.join(words)}]" if words else ""
        case _:
            return "\n".join(str(part[key]) for key in _SPOKEN if part.get(key))


def _call(call: Any) -> str:
    if not isinstance(call, Mapping):
        return ""
    function = call.get("function")
    named = function if isinstance(function, Mapping) else call
    arguments = named.get("arguments", named.get("input"))
    shown = arguments if isinstance(arguments, str) else _dump(arguments)
    return f"{named.get('name', 'tool')}({shown})"


def _dump(value: Any) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False)
