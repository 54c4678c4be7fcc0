"""Tables as blocks: rows of cells become lines, a row that names the columns becomes the header.

A long table is told in several blocks, each with the header and the number of its first row, so that none has to be
held whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from mnemic.backends.readers.asked import Tells
from mnemic.model.reading import BlockKind

BETWEEN: Final = " | "
ROWS: Final = 100
"""Rows of one block."""
CHARACTERS: Final = 20_000
"""Characters after which a block ends, whatever its rows."""
_NUMBER: Final = re.compile(r"[-+(]?[\d.,:%$€£/ ]*\d[\d.,:%$€£/ )-]*(?:[eE][-+]?\d+)?")
_HEADER: Final = 60
"""Characters that the name of a column has at most, in the middle of all."""


def line_of(cells: Iterable[str]) -> str:
    """Return a row as its line; cells that are empty at the end are left out."""
    flat = [" ".join(cell.split()) for cell in cells]
    while flat and not flat[-1]:
        flat.pop()
    return BETWEEN.join(flat)


def names_columns(first: Sequence[str], second: Sequence[str] | None) -> bool:
    """Tell whether a first row names the columns of those below it: it has words, no numbers, and few gaps."""
    filled = [cell.strip() for cell in first if cell.strip()]
    if second is None or len(filled) < max(1, len([cell for cell in second if cell.strip()]) // 2):
        return False
    if len(filled) == 1 and sum(1 for cell in second if cell.strip()) > 1:
        return False
    if any(_NUMBER.fullmatch(cell) for cell in filled):
        years = [cell for cell in filled if re.fullmatch(r"(?:19|20)\d\d", cell)]
        if len(years) < sum(1 for cell in filled if _NUMBER.fullmatch(cell)):
            return False
    return sum(map(len, filled)) / len(filled) <= _HEADER and len(set(filled)) == len(filled)


class Table:
    """A table that is told as its rows come in."""

    def __init__(self, telling: Tells, header: str = "", **more: Any) -> None:
        self._telling = telling
        self._header = header
        self._more = more
        self._lines: list[str] = []
        self._size = 0
        self._first = 0

    def row(self, number: int, cells: Iterable[str]) -> None:
        """Take a row; `number` counts from 1."""
        self.line(number, line_of(cells))

    def line(self, number: int, line: str) -> None:
        """Take a row that is a line already."""
        if not line.strip():
            return
        if self._lines and (len(self._lines) >= ROWS or self._size + len(line) > CHARACTERS):
            self.close()
        if not self._lines:
            self._first = number
        self._lines.append(line)
        self._size += len(line)

    def close(self) -> None:
        """Tell the rows that are left."""
        if self._lines:
            text = "\n".join(self._lines)
            self._telling.block(BlockKind.TABLE, text, row=self._first, header=self._header, **self._more)
        self._lines, self._size = [], 0


def tell_table(telling: Tells, rows: Sequence[Sequence[str]], *, named: bool | None = None, **more: Any) -> None:
    """Tell a table that is there whole. `named`: its first row names the columns; None means to look."""
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not rows:
        return
    if named is None:
        named = names_columns(rows[0], rows[1] if len(rows) > 1 else None)
    named = named and len(rows) > 1
    table = Table(telling, line_of(rows[0]) if named else "", **more)
    for number, row in enumerate(rows, start=1):
        if number > 1 or not named:
            table.row(number, row)
    table.close()
