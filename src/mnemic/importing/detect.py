"""Which format a file or a folder has, told by what is in it and not by its name, and reading it with that."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mnemic.errors import InputError
from mnemic.importing import chatgpt, jsonl, memoryos, openai
from mnemic.importing.batch import Batch, Reading, reading
from mnemic.importing.locomo import conversations

LOCOMO: Final = "locomo"
MNEMIC: Final = "mnemic"
"""Mnemic's own export, which `Memory.load` reads."""

FORMATS: Final = (openai.FORMAT, jsonl.FORMAT, chatgpt.FORMAT, memoryos.FORMAT, LOCOMO, MNEMIC)


def read(path: str | Path, form: str | None = None) -> Reading:
    """Return what a file or a folder holds, in the format `form` or in the one that it shows.

    Raises `InputError` naming the file and the place for what cannot be read, and for an export of Mnemic.
    """
    place = Path(path)
    if form is not None and form not in FORMATS:
        raise InputError("format", f"{form!r} is not known; known: {', '.join(FORMATS)}")
    data = _memoryos_files(place) if place.is_dir() else parse(_text(place), str(place))
    chosen = form or detect(data)
    if chosen == MNEMIC:
        raise InputError(str(place), "is an export of Mnemic: load it with `mnemic import` or `Memory.load`")
    try:
        return _READERS[chosen](data, place.stem)
    except InputError as error:
        raise InputError(f"{place}: {error.field}", error.message.removeprefix(f"{error.field}: ")) from error


def parse(text: str, name: str = "data") -> Any:
    """Return JSON, or the list of the objects of JSON Lines. Raises `InputError` naming the line."""
    try:
        whole = json.loads(text)
        return [whole] if isinstance(whole, Mapping) and "content" in whole else whole  # JSON Lines of one line
    except RecursionError as error:
        raise InputError(name, "is nested too deeply to be read") from error
    except ValueError as unparsed:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if not lines:
            raise InputError(name, "is empty") from None
        return [_parsed(line, number, name, unparsed) for number, line in lines]


def detect(data: str | Path | object) -> str:
    """Return the format of parsed data, or of the file or folder that a path names. Raises `InputError`."""
    if isinstance(data, str | Path):
        place = Path(data)
        return detect(_memoryos_files(place) if place.is_dir() else parse(_text(place), str(place)))
    for form, tells in _SIGNS.items():
        if tells(data):
            return form
    raise InputError("data", f"has no format that is known: {_shape(data)}; known are {', '.join(FORMATS)}")


def _parsed(line: str, number: int, name: str, whole: ValueError) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        if number == 1:
            raise InputError(name, f"is neither JSON ({whole}) nor JSON Lines") from error
        raise InputError(f"{name}: lines[{number}]", f"is not JSON: {error}") from error


def _text(place: Path) -> str:
    try:
        return place.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(str(place), f"is not UTF-8 (byte {error.start}); convert it to UTF-8 first") from error
    except OSError as error:
        raise InputError(str(place), f"cannot be read: {error.strerror or error}") from error


def _memoryos_files(folder: Path) -> dict[str, Any]:
    """Return the files of a MemoryOS user: the folder itself, or the only one below its `users`."""
    places = [folder, *sorted((folder / "users").glob("*")), *sorted((folder / "assistants").glob("*"))]
    found: dict[str, Any] = {}
    for place in places:
        for name in memoryos.FILES:
            if (place / name).is_file():
                if name in found:
                    raise InputError(str(folder), f"has several users: name one of {folder / 'users'}")
                found[name] = parse(_text(place / name), str(place / name))
    if not found:
        raise InputError(str(folder), f"has no file that is known; MemoryOS has {', '.join(memoryos.FILES)}")
    return found


def _first(data: object) -> object:
    return data[0] if isinstance(data, Sequence) and not isinstance(data, str | bytes) and data else data


def _has(data: object, *names: str) -> bool:
    first = _first(data)
    return isinstance(first, Mapping) and all(name in first for name in names)


def _is_memoryos(data: object) -> bool:
    if isinstance(data, Mapping) and set(data) & set(memoryos.FILES):
        return True
    parts = isinstance(data, Mapping) and isinstance(data.get("sessions"), Mapping)
    return parts or _has(data, "user_input") or _has(data, "knowledge_base") or _has(data, "user_profiles")


def _is_jsonl(data: object) -> bool:
    """Tell whether messages have what OpenAI's do not: a time, an id or a session."""
    return isinstance(data, Sequence) and any(
        isinstance(entry, Mapping) and "content" in entry and ("at" in entry or "session" in entry or "id" in entry)
        for entry in data
    )


_SIGNS: Final[Mapping[str, Callable[[object], bool]]] = {
    MNEMIC: lambda data: _has(data, "format", "counts"),
    chatgpt.FORMAT: lambda data: _has(data, "mapping"),
    LOCOMO: lambda data: _has(data, "conversation") and not _has(data, "role"),
    memoryos.FORMAT: _is_memoryos,
    jsonl.FORMAT: _is_jsonl,
    openai.FORMAT: lambda data: _has(data, "messages") or (isinstance(data, Sequence) and _has(data, "role")),
}
"""What tells the formats apart, the surest first."""


def _shape(data: object) -> str:
    first = _first(data)
    what = f"objects with {', '.join(sorted(map(str, first))[:8]) or 'no fields'}" if isinstance(first, Mapping) else ""
    return what or f"a value of type {type(first).__name__}"


def _read_memoryos(data: Any, _name: str) -> Reading:
    if isinstance(data, Mapping) and set(data) & set(memoryos.FILES):
        return memoryos.read(data)
    if isinstance(data, Mapping):
        return memoryos.read({memoryos.MID_TERM if "sessions" in data else memoryos.LONG_TERM[0]: data})
    return memoryos.read({memoryos.SHORT_TERM: data})


def _read_locomo(data: Any, _name: str) -> Reading:
    talks = conversations(data)
    batches = [
        Batch(f"{talk.id}/{session}" if len(talks) > 1 else session, tuple(messages), talk.id)
        for talk in talks
        for session, _, messages in talk.sessions
    ]
    return reading(LOCOMO, batches)


_READERS: Final[Mapping[str, Callable[[Any, str], Reading]]] = {
    openai.FORMAT: lambda data, name: openai.read(data, name=name),
    jsonl.FORMAT: lambda data, name: jsonl.read(data if isinstance(data, list) else [data], name=name),
    chatgpt.FORMAT: lambda data, _: chatgpt.read(data),
    memoryos.FORMAT: _read_memoryos,
    LOCOMO: _read_locomo,
}
