"""CSV and TSV: the delimiter is found, the row that names the columns is kept, rows are numbered as in the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.decoding import decoded_for
from mnemic.backends.readers.rows import Table, line_of, names_columns
from mnemic.errors import ReadError

_SAMPLE: Final = 50
"""Rows that are looked at to find the delimiter."""
_FIELD: Final = 1 << 20
"""Characters of one cell."""
_DELIMITERS: Final = ",;\t|:"


def read(asked: Asked, telling: Telling) -> None:
    """Read a table of lines. Raises `ReadError` when it has no rows."""
    text = decoded_for(telling, asked.path.read_bytes()).replace("\0", "").lstrip("\ufeff")
    if text[:4].lower() == "sep=" and "\n" in text:  # Excel's way to say which delimiter follows
        delimiter = text[4:5]
        text = text.split("\n", 1)[1]
    else:
        delimiter = _delimiter(text, prefer="\t" if asked.kind.name == "tsv" else ",")
    if not text.strip():
        raise ReadError("it has no text, only spaces or empty bytes")
    csv.field_size_limit(_FIELD)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        _tell(telling, rows)
    except csv.Error as error:
        raise ReadError(f"line {rows.line_num}: {error}") from error
    names = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", ":": "colon"}
    telling.fact("delimiter", names.get(delimiter, delimiter))


def _tell(telling: Telling, rows: Iterable[list[str]]) -> None:
    table: Table | None = None
    waiting: tuple[int, list[str]] | None = None
    count = widest = 0
    for number, row in enumerate(rows, start=1):
        count, widest = number, max(widest, len(row))
        if not any(cell.strip() for cell in row):
            continue
        if table is not None:
            table.row(number, row)
        elif waiting is None:
            waiting = number, row
        else:
            named = names_columns(waiting[1], row)
            table = Table(telling, line_of(waiting[1]) if named else "")
            if not named:
                table.row(*waiting)
            table.row(number, row)
    if table is None and waiting is not None:
        table = Table(telling)
        table.row(*waiting)
    if table is not None:
        table.close()
    telling.fact("rows", count)
    telling.fact("columns", widest)


def _delimiter(text: str, *, prefer: str) -> str:
    """Return what parts the cells: what gives most rows the same number of columns, more than one."""
    lines = text[:200_000].split("\n", _SAMPLE)[:_SAMPLE]
    best, most = prefer, (0.0, False, 0)
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        if not widths:
            continue
        usual = max(set(widths), key=widths.count)
        if usual < 2:
            continue
        score = (round(widths.count(usual) / len(widths), 1), delimiter == prefer, usual)
        if score > most:
            best, most = delimiter, score
    return best
