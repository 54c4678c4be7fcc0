"""JSON, JSON Lines and notebooks: values with the path that leads to them, objects of one shape as rows of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.decoding import decoded_for
from mnemic.backends.readers.rows import BETWEEN, Table, line_of, tell_table
from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind

_LINES: Final = 40
"""Lines of one block of paths and values."""
_BATCH: Final = 100
"""Lines of JSON Lines that are looked at together: those of one shape share a header."""
_TITLES: Final = ("title", "name", "id")


def read(asked: Asked, telling: Telling) -> None:
    """Read JSON. Raises `ReadError` for what is none."""
    text = decoded_for(telling, asked.path.read_bytes()).lstrip("\ufeff")
    if asked.kind.name == "jsonl":
        _tell_lines(telling, text)
        return
    try:
        value = json.loads(text)
    except ValueError as error:
        where = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "inside"
        raise ReadError(f"it is not valid JSON ({where}); it may be cut off") from error
    if asked.kind.name == "ipynb" and isinstance(value, dict):
        _tell_notebook(telling, value)
    else:
        _tell_value(telling, value)


def _tell_value(telling: Telling, value: Any) -> None:
    if isinstance(value, dict):
        title = next((value[name] for name in _TITLES if isinstance(value.get(name), str)), "")
        telling.title = title
        loose: list[str] = []
        for key, each in value.items():
            if not isinstance(each, (dict, list)):
                loose.append(f"{key}: {_shown(each)}")
                continue
            _tell_paths(telling, loose)
            loose = []
            _tell_named(telling, str(key), each)
        _tell_paths(telling, loose)
    elif isinstance(value, list):
        _tell_named(telling, "", value)
    else:
        telling.block(BlockKind.PARAGRAPH, _shown(value))


def _tell_named(telling: Telling, path: str, value: Any) -> None:
    if isinstance(value, list) and (keys := _shape(value)) is not None:
        rows = [list(keys), *([_shown(each[key]) for key in keys] for each in value)]
        if path:
            telling.block(BlockKind.CAPTION, path)
        tell_table(telling, rows, named=True)
        return
    if isinstance(value, list):
        for at, each in enumerate(value):
            _tell_paths(telling, list(_paths(f"{path}[{at}]", each)))
        return
    _tell_paths(telling, list(_paths(path, value)))


def _tell_paths(telling: Telling, lines: Sequence[str]) -> None:
    for start in range(0, len(lines), _LINES):
        telling.block(BlockKind.LIST, "\n".join(lines[start : start + _LINES]))


def _paths(path: str, value: Any) -> Iterator[str]:
    """Yield `path: value` for each value that is neither an object nor a list of more than plain values."""
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _paths(f"{path}.{key}" if path else str(key), each)
    elif isinstance(value, list) and any(isinstance(each, (dict, list)) for each in value):
        for at, each in enumerate(value):
            yield from _paths(f"{path}[{at}]", each)
    else:
        yield f"{path}: {_shown(value)}"


def _shape(values: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the keys that all values have, when they are plain objects of one shape."""
    first = values[0] if values else None
    if not isinstance(first, dict) or not first:
        return None
    keys = tuple(first)
    wanted = set(keys)
    for each in values:
        if not isinstance(each, dict) or set(each) != wanted or any(_is_deep(part) for part in each.values()):
            return None
    return keys


def _is_deep(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(each, (dict, list)) for each in value)
    return isinstance(value, dict) and bool(value)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and not _is_deep(value):
        return ", ".join(_shown(each) for each in value)
    return json.dumps(value, ensure_ascii=False)


def _tell_lines(telling: Telling, text: str) -> None:
    """Tell each line as a row. Only a line feed ends a line: U+2028 may stand in one."""
    batch: list[tuple[int, Any]] = []
    count = broken = first = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        count += 1
        try:
            value = json.loads(line)
        except ValueError:
            value = line.strip()  # kept as it stands
            broken += 1
            first = first or number
        batch.append((number, value))
        if len(batch) == _BATCH:
            _tell_batch(telling, batch)
            batch = []
    _tell_batch(telling, batch)
    if count and broken == count:
        raise ReadError("it is not valid JSON Lines: no line is JSON")
    if broken:
        telling.note(f"{broken:,} of its lines are not JSON, the first is line {first}; they were kept as they stand")
    telling.fact("rows", count)


def _tell_batch(telling: Telling, batch: Sequence[tuple[int, Any]]) -> None:
    keys = _shape([value for _, value in batch]) if len(batch) > 1 else None
    table = Table(telling, line_of(keys) if keys else "")
    for number, value in batch:
        if keys:
            table.row(number, [_shown(value[key]) for key in keys])
        else:
            table.line(number, _row(value))
    table.close()


def _row(value: Any) -> str:
    if isinstance(value, dict) and value:
        return BETWEEN.join(" ".join(line.split()) for line in _paths("", value))
    return " ".join(_shown(value).split())


def _tell_notebook(telling: Telling, book: Mapping[str, Any]) -> None:
    from mnemic.backends.readers.marked import tell_markdown  # noqa: PLC0415 - for notebooks only

    kernel = book.get("metadata", {}).get("kernelspec", {})
    telling.fact("language", kernel.get("language") or kernel.get("display_name"))
    for cell in book.get("cells", ()):
        source = cell.get("source", "")
        source = source if isinstance(source, str) else "".join(source)
        if cell.get("cell_type") == "markdown":
            tell_markdown(telling, source)
        elif cell.get("cell_type") == "code":
            telling.block(BlockKind.CODE, source)
            for output in cell.get("outputs", ()):
                text = output.get("text") or output.get("data", {}).get("text/plain") or ""
                telling.block(BlockKind.CODE, text if isinstance(text, str) else "".join(text))
        else:
            telling.block(BlockKind.PARAGRAPH, source)
