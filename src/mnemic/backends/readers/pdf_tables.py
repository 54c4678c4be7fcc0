"""Tables with rules on the pages of a PDF, by pdfplumber. What is only a frame around text is no table."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

from mnemic.backends.readers.asked import Asked
from mnemic.backends.readers.pdf_lines import Ruled

_FILLED: Final = 0.3
"""Share of cells with words in them that a table has at least."""
_LONG: Final = 1_500
"""Characters of one cell beyond which it is text in a frame."""


class Tables:
    """Finds the tables of one file."""

    def __init__(self, asked: Asked) -> None:
        import pdfplumber  # noqa: PLC0415 - a fifth of a second, for pages with rules only

        logging.getLogger("pdfminer").setLevel(logging.CRITICAL)
        self._pdf = pdfplumber.open(asked.path, password=asked.password or None)

    def close(self) -> None:
        """Close the file."""
        self._pdf.close()

    def on(self, number: int) -> list[Ruled]:
        """Return the tables of a page, from the top. One that pdfplumber falls over has none."""
        from pdfminer.pdfexceptions import PDFException  # noqa: PLC0415 - with pdfplumber
        from pdfplumber.utils.exceptions import PdfminerException  # noqa: PLC0415

        try:
            page = self._pdf.pages[number - 1]
            found = [self._ruled(page, table) for table in page.find_tables()]
            page.close()
        except (PDFException, PdfminerException, ValueError, KeyError, TypeError, IndexError, AssertionError):
            return []
        return [table for table in found if table is not None]

    def _ruled(self, page: Any, table: Any) -> Ruled | None:
        rows = [[" ".join((cell or "").split()) for cell in row] for row in table.extract()]
        rows = _narrowed([row for row in rows if any(row)])
        cells = [cell for row in rows for cell in row]
        if len(rows) < 2 or len(rows[0]) < 2 or any(len(cell) > _LONG for cell in cells):
            return None
        if sum(1 for cell in cells if cell) < _FILLED * len(cells):
            return None
        left, top, right, bottom = table.bbox
        x, y = page.mediabox[0], page.mediabox[1] + page.height
        return Ruled(left + x, y - bottom, right + x, y - top, rows)


def _narrowed(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Leave out columns in which nothing stands: double rules make them."""
    width = max(map(len, rows), default=0)
    used = [at for at in range(width) if any(at < len(row) and row[at] for row in rows)]
    return [[row[at] if at < len(row) else "" for at in used] for row in rows]
