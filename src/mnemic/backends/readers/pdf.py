"""PDF: text page by page through pdfium, tables of pages with rules through pdfplumber, pages that are pictures by OCR.

pdfium is fast and pdfplumber a hundred times slower, so that only pages that look as if they had a table are given to
it, and no more of them than fit in a part of the time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.pdf_layout import tell_pages
from mnemic.backends.readers.pdf_lines import Page, drawn, lines_of
from mnemic.backends.readers.pdf_repair import with_root
from mnemic.errors import ModelError, ReadError

_PASSWORD: Final = 4
"""FPDF_ERR_PASSWORD of pdfium's fpdfview.h."""
_RULES: Final = 4
"""Rules or boxes on a page from which it may have a table."""
_OBJECTS: Final = 3_000
"""Drawn objects of a page beyond which it is a drawing, on which tables are not looked for."""
_TABLE_SHARE: Final = 0.3
"""Share of the time for a file that looking for tables may take."""
_SEE_SHARE: Final = 0.7
"""Share of the time for a file within which OCR is begun: a page takes some seconds, and what is read by then stays."""
_PICTURE: Final = 0.1
"""Share of a page that its largest picture covers, from which a page without text is looked at."""
_DPI: Final = 140
_POINTS: Final = 72
_FEW: Final = 16
"""Letters of a page that is taken for a picture with no more than a stamp or a number on it."""
_BROKEN: Final = 0.3
"""Share of characters without a meaning from which a page's letters are as good as none."""
_MEANINGLESS: Final = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
_DATE: Final = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-Zz])(\d\d)?'?(\d\d)?)?.*")
_FACTS: Final = {"Author": "author", "Subject": "subject", "Keywords": "keywords", "Creator": "creator"}
_UNTITLED: Final = re.compile(
    r"untitled|microsoft word - .*|.*\.(?:docx?|pptx?|xlsx?|indd|qxd|tex|dvi)|\W*", re.IGNORECASE
)


def read(asked: Asked, telling: Telling) -> None:
    """Read a PDF. Raises `ReadError` for one that is locked, damaged, too long, or of pictures that cannot be read."""
    pdf = _opened(asked)
    pages = _Pages(asked, telling, pdf)
    try:
        _tell_facts(telling, pdf)
        _tell_whole(asked, telling)
        tell_pages(telling, pages.all(), _outline(pdf))
        pages.end()
    finally:
        pages.close()
        pdf.close()


def _opened(asked: Asked) -> Any:
    from pypdfium2 import PdfDocument, PdfiumError  # noqa: PLC0415 - the extra `documents`

    try:
        return PdfDocument(asked.path, password=asked.password or None)
    except PdfiumError as error:
        if error.err_code == _PASSWORD:
            why = "the password is wrong" if asked.password else "it is locked: it needs its `password`"
            raise ReadError(why) from error
        if error.err_code == 0:
            raise ReadError("it has no pages") from error
        return _mended(asked, error)


def _mended(asked: Asked, error: Exception) -> Any:
    """Open what is left of a file that was cut off. Raises `ReadError` when that is nothing."""
    from pypdfium2 import PdfDocument, PdfiumError  # noqa: PLC0415 - the extra `documents`

    left = with_root(asked.path.read_bytes())
    try:
        if left is not None:
            return PdfDocument(left)
    except PdfiumError as second:
        error = second
    raise ReadError("it is damaged or cut off: it has no page that can be read") from error


def _tell_facts(telling: Telling, pdf: Any) -> None:
    told: Mapping[str, str] = pdf.get_metadata_dict(skip_empty=True)
    title = told.get("Title", "").strip()
    telling.title = "" if _UNTITLED.fullmatch(title) else title
    for name, known in _FACTS.items():
        telling.fact(known, told.get(name))
    telling.fact("created", _moment(told.get("CreationDate", "")))
    telling.fact("modified", _moment(told.get("ModDate", "")))


def _tell_whole(asked: Asked, telling: Telling) -> None:
    """Tell when a file ends before its end: a PDF has a mark there (ISO 32000-1, 7.5.5)."""
    with asked.path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 2_048))
        if b"%%EOF" not in file.read():
            telling.note("it is cut off: what was there was read")


def _moment(told: str) -> str:
    """Return a date of a PDF (ISO 32000-1, 7.9.4) in ISO 8601, empty when it is none."""
    found = _DATE.fullmatch(told.strip())
    if found is None:
        return ""
    year, month, day, hour, minute, second, sign, off, more = found.groups()
    date = f"{year}-{month or '01'}-{day or '01'}"
    if hour is None:
        return date
    zone = "" if sign is None else "+00:00" if sign in "Zz" else f"{sign}{off or '00'}:{more or '00'}"
    return f"{date}T{hour}:{minute or '00'}:{second or '00'}{zone}"


def _outline(pdf: Any) -> Mapping[int, Sequence[tuple[int, str]]]:
    """Return the entries of the outline by the page, from 1, that they lead to: level from 1, and words."""
    from pypdfium2 import PdfiumError  # noqa: PLC0415 - the extra `documents`

    found: dict[int, list[tuple[int, str]]] = {}
    try:
        for entry in pdf.get_toc(max_depth=6):
            place = entry.get_dest()
            page = place.get_index() if place is not None else None
            if page is not None:
                found.setdefault(page + 1, []).append((entry.level + 1, entry.get_title()))
    except (PdfiumError, ValueError, UnicodeDecodeError):
        return found  # as far as it goes
    return found


class _Pages:
    """Reads page after page. What could not be read of some is told at the end."""

    def __init__(self, asked: Asked, telling: Telling, pdf: Any) -> None:
        self._asked = asked
        self._telling = telling
        self._pdf = pdf
        self._tables: Any = None
        self._tables_left = asked.limits.seconds * _TABLE_SHARE
        self._words: Any = None
        self._see_until = time.monotonic() + asked.limits.seconds * _SEE_SHARE
        self._pictures: list[int] = []
        self._unseen: list[int] = []
        self._broken: list[int] = []
        self._untabled: list[int] = []
        self._why = ""

    def all(self) -> list[Page]:
        """Return all pages."""
        count = len(self._pdf)
        found = []
        for number in range(1, count + 1):
            self._telling.at(number, count)
            found.append(self._page(number))
        return found

    def end(self) -> None:
        """Tell what was not read. Raises `ReadError` when that is all."""
        telling = self._telling
        if self._pictures:
            telling.note(f"words of {_listed(self._pictures)} were read from pictures (OCR)")
        if self._unseen:
            telling.note(f"{_listed(self._unseen)}: only pictures, whose words were not read: {self._why}")
        if self._broken:
            telling.note(f"{_listed(self._broken)} could not be read")
        if self._untabled:
            telling.note(
                f"tables of {_listed(self._untabled)} were read as plain text: there are too many, or drawings"
            )
        if telling.blocks:
            return
        if self._unseen:
            raise ReadError(f"it has only pictures, and their words cannot be read: {self._why}", page=self._unseen[0])
        if self._broken:
            raise ReadError("it is damaged or cut off: none of its pages can be read", page=self._broken[0])
        telling.note("its pages are empty")

    def close(self) -> None:
        """Let go of what was opened for tables."""
        if self._tables is not None:
            self._tables.close()

    def _page(self, number: int) -> Page:
        from pypdfium2 import PdfiumError  # noqa: PLC0415 - the extra `documents`

        try:
            page = self._pdf[number - 1]
        except PdfiumError:
            self._broken.append(number)
            return Page(number, 1.0, 1.0)
        try:
            return self._read(page, number)
        except PdfiumError:
            self._broken.append(number)
            return Page(number, page.get_width(), page.get_height())
        finally:
            page.close()

    def _read(self, page: Any, number: int) -> Page:
        textpage = page.get_textpage()
        try:
            found = Page(number, page.get_width(), page.get_height(), lines_of(textpage))
        finally:
            textpage.close()
        rules, count, picture = drawn(page)
        text = "".join(line.text for line in found.lines)
        broken = len(_MEANINGLESS.findall(text)) > _BROKEN * len(text)
        if (len(text.strip()) < _FEW and picture > _PICTURE) or (text and broken):
            self._see(page, found, keep=not broken)
        elif rules >= _RULES and found.lines:
            self._tabulate(page, found, count)
        return found

    def _see(self, page: Any, found: Page, *, keep: bool) -> None:
        """Read the words of a page from a picture of it."""
        if not self._asked.limits.ocr or time.monotonic() > self._see_until:
            self._why = "OCR is off (ocr)" if not self._asked.limits.ocr else "the time is over (read_seconds)"
            self._unseen.append(found.number)
            return
        try:
            if self._words is None:
                from mnemic.backends.readers.ocr import OcrWords  # noqa: PLC0415 - the extra `vision`, half a second

                self._words = OcrWords()
            scale = min(_DPI / _POINTS, 4_000 / max(1.0, found.width, found.height))
            bitmap = page.render(scale=scale)
            found.seen = self._words.lines_of(bitmap.to_pil())
            bitmap.close()
        except ImportError:
            self._why = "that needs the extra: pip install 'mnemic[vision]'"
            self._unseen.append(found.number)
            return
        except ModelError as error:
            self._why = error.message
            self._unseen.append(found.number)
            return
        if not keep or found.seen:
            found.lines = []
        self._pictures.append(found.number)

    def _tabulate(self, page: Any, found: Page, count: int) -> None:
        if self._tables_left <= 0 or count > _OBJECTS or page.get_rotation():
            self._untabled.append(found.number)
            return
        began = time.monotonic()
        if self._tables is None:
            from mnemic.backends.readers.pdf_tables import Tables  # noqa: PLC0415 - for pages with rules only

            self._tables = Tables(self._asked)
        found.tables = self._tables.on(found.number)
        self._tables_left -= time.monotonic() - began


def _listed(pages: Sequence[int]) -> str:
    """Return pages in words: `pages 1-3, 7`."""
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    shown = [f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs]
    return f"page{'s' if len(pages) > 1 else ''} {', '.join(shown[:20])}{' …' if len(shown) > 20 else ''}"
