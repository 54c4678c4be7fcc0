"""Excel workbooks (XLSX): each sheet with the row that names its columns, rows numbered as Excel does, values as they
were last worked out, dates in ISO 8601. Nothing is calculated, and no macro or link is looked at.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.rows import Table, line_of, names_columns
from mnemic.backends.readers.zips import checked_zip
from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind

_WHOLE: Final = 24 << 20
"""Bytes of a workbook's sheets, unpacked, up to which it is held whole, which shows merged cells."""
_COLUMNS: Final = 512
"""Columns of a sheet that are read."""
_EMPTY: Final = 10_000
"""Empty rows in sequence after which a sheet is at its end: formats often reach down to its last row."""
_WORKED_OUT: Final = re.compile(rb"<f[ >/]")
_PERCENT: Final = re.compile(r"0(?:\.(0+))?%")

Row = tuple[int, list[str]]


def read(asked: Asked, telling: Telling) -> None:
    """Read a workbook. Raises `ReadError` for one that is damaged."""
    with checked_zip(asked.path) as archive:
        sheets = [each for each in archive.infolist() if each.filename.startswith("xl/worksheets/")]
        small = sum(each.file_size for each in sheets) <= _WHOLE
        formulas = small and any(_WORKED_OUT.search(archive.read(each)) for each in sheets)
    book = _opened(asked, values=True, whole=small)
    written = _opened(asked, values=False, whole=True) if formulas else None
    try:
        _tell_facts(telling, book.properties)
        if not small:
            telling.note("it is so large that merged cells were read as empty but for their first")
        _tell_sheets(telling, book, written)
    finally:
        book.close()


def _opened(asked: Asked, *, values: bool, whole: bool) -> Any:
    import openpyxl  # noqa: PLC0415 - the extra `documents`
    from openpyxl.utils.exceptions import InvalidFileException  # noqa: PLC0415

    try:
        with asked.path.open("rb") as file:
            content = file.read()
        import io  # noqa: PLC0415 - openpyxl looks at a path's ending, which is not what the bytes are

        return openpyxl.load_workbook(io.BytesIO(content), read_only=not whole, data_only=values, keep_links=False)
    except (InvalidFileException, KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
        raise ReadError("it is damaged: parts of the workbook are missing or wrong") from error


def _tell_facts(telling: Telling, told: Any) -> None:
    telling.title = told.title or ""
    for name, value in (("author", told.creator), ("subject", told.subject), ("keywords", told.keywords)):
        telling.fact(name, value or "")
    for name in ("created", "modified"):
        value = getattr(told, name)
        telling.fact(name, value.isoformat() if value is not None else "")


def _tell_sheets(telling: Telling, book: Any, written: Any) -> None:
    hidden, missing = [], 0
    several = len(book.worksheets) > 1
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            hidden.append(sheet.title)
        reader = _Sheet(sheet, written[sheet.title] if written is not None else None)
        if several:
            telling.block(BlockKind.HEADING, sheet.title, level=1, part=sheet.title)
        _tell_rows(telling, reader.rows(), sheet.title)
        missing += reader.missing
        if reader.cut:
            telling.note(f"{sheet.title}: columns beyond {_COLUMNS} were left out")
    telling.fact("sheets", ", ".join(sheet.title for sheet in book.worksheets))
    if hidden:
        telling.note(f"hidden sheets were read too: {', '.join(hidden)}")
    if missing:
        telling.note(f"{missing:,} formulas have no stored result, and were read as they are written")


def _tell_rows(telling: Telling, rows: Iterator[Row], part: str) -> None:
    """Tell a sheet's regions, which empty rows part: titles of one cell as paragraphs, the rest as tables."""
    table: Table | None = None
    waiting: Row | None = None
    last = 0
    for number, cells in rows:
        if number > last + 1:  # after empty rows something new begins
            _finish(telling, table, waiting, part)
            table = waiting = None
        last = number
        if table is not None:
            table.row(number, cells)
        elif waiting is None:
            waiting = number, cells
        elif _filled(waiting[1]) == 1 and _filled(cells) > 1:
            telling.block(BlockKind.CAPTION, line_of(filter(None, waiting[1])), part=part)
            waiting = number, cells
        else:
            named = names_columns(waiting[1], cells)
            table = Table(telling, line_of(waiting[1]) if named else "", part=part)
            if not named:
                table.row(*waiting)
            table.row(number, cells)
    _finish(telling, table, waiting, part)


def _finish(telling: Telling, table: Table | None, waiting: Row | None, part: str) -> None:
    if table is not None:
        table.close()
    elif waiting is not None and _filled(waiting[1]) == 1:
        telling.block(BlockKind.PARAGRAPH, line_of(filter(None, waiting[1])), part=part)
    elif waiting is not None:
        alone = Table(telling, part=part)
        alone.row(*waiting)
        alone.close()


def _filled(cells: Sequence[str]) -> int:
    return sum(1 for cell in cells if cell)


class _Sheet:
    """The rows of a sheet. `missing` counts formulas without a result, `cut` tells of columns that were left out."""

    def __init__(self, sheet: Any, written: Any) -> None:
        self._sheet = sheet
        self._written = written
        self._merged = _merged(sheet)
        self.missing = 0
        self.cut = False

    def rows(self) -> Iterator[Row]:
        """Yield rows that have something in them, with their numbers."""
        empty = 0
        wide = self._sheet.max_column or 0
        self.cut = wide > _COLUMNS
        most = min(wide, _COLUMNS) or None
        for number, row in enumerate(self._sheet.iter_rows(max_col=most), start=1):
            cells = [self._text(cell, number, column) for column, cell in enumerate(row, start=1)]
            if any(cells):
                empty = 0
                yield number, cells
            elif (empty := empty + 1) > _EMPTY:
                return

    def _text(self, cell: Any, number: int, column: int) -> str:
        value = cell.value
        if value is None and (over := self._merged.get((number, column))) is not None:
            return shown(self._sheet.cell(*over).value)
        if value is None and self._written is not None:
            formula = self._written.cell(number, column).value
            formula = getattr(formula, "text", formula)  # of an array
            if isinstance(formula, str) and formula.startswith("="):
                self.missing += 1
                return formula
        return shown(value, getattr(cell, "number_format", "") or "")


def _merged(sheet: Any) -> dict[tuple[int, int], tuple[int, int]]:
    """Return for each cell below the first of a merged range where that is: its value holds for all those rows."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for area in getattr(getattr(sheet, "merged_cells", None), "ranges", ()):
        for row in range(area.min_row + 1, min(area.max_row, area.min_row + 10_000) + 1):
            found[row, area.min_col] = (area.min_row, area.min_col)
    return found


def shown(value: Any, form: str = "") -> str:
    """Return a value as text: dates in ISO 8601, shares as percent where the sheet shows them so."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        midnight = value.time() == time(0)
        return value.date().isoformat() if midnight and "h" not in form.lower() else value.isoformat(sep=" ")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, float):
        return _number(value, form)
    if isinstance(value, int) and (found := _PERCENT.search(form)):
        return f"{value * 100:.{len(found[1] or '')}f}%"
    return " ".join(str(value).split())


def _number(value: float, form: str) -> str:
    if found := _PERCENT.search(form):
        return f"{value * 100:.{len(found[1] or '')}f}%"
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.12g}"  # Excel keeps 15 digits, and shows no more than 12 of a sum that went wrong at the end
