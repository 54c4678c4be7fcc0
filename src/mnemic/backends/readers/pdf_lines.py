"""The lines of a PDF's page, as pdfium gives them: words, where they stand, how large and in which kind of font.

Only a few characters of each line are looked at for that: asking for each would take a hundred times as long.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mnemic.model.seen import Line

HYPHEN: Final = "\u00ad"
"""Stands at the end of a line for a hyphen that only parts a word there."""
_HYPHENS: Final = re.compile("[\x02\ufffe\u00ad]")
_PARTED: Final = re.compile("([\\w-]+)[\x02\ufffe](\\w)")
_LIGATURES: Final = {
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st", 0xA0: " ",
}  # fmt: skip
LEADER_MARK: Final = "\u2026"
LEADER: Final = re.compile(f" {LEADER_MARK} \\S{{1,8}}$")
"""What a line of a table of contents ends with: the dots that lead to a page, as one, and its number."""
_DOTS: Final = re.compile(r"\s*(?:\.\s?){5,}\s*")
_MONO: Final = re.compile(r"mono|courier|consol|cmtt|typewriter|menlo|nimbusmon|fixed|code", re.IGNORECASE)
_BOLD: Final = re.compile(r"bold|black|heavy|demi|cmbx|semibold|-bd|,b", re.IGNORECASE)
_SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Where in a line characters are looked at: what all of them are, the line is."""
_HEAVY: Final = 600
"""Weight of a font, of 400 for plain and 700 for bold, from which it is bold."""
_PATHS: Final = 3_000
"""Drawn objects of a page that are looked at for rules."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line: its box in points from the lower left corner, the height of its font, what the font is like."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    bold: bool = False
    mono: bool = False


@dataclass(slots=True)
class Ruled:
    """A table with rules: its box, and its rows of cells."""

    left: float
    bottom: float
    right: float
    top: float
    rows: list[list[str]]


@dataclass(slots=True)
class Page:
    """What was found on a page; `seen` are words that were read from a picture of it."""

    number: int
    width: float
    height: float
    lines: list[TextLine] = field(default_factory=list)
    tables: list[Ruled] = field(default_factory=list)
    seen: Sequence[Line] = ()


def lines_of(textpage: Any) -> list[TextLine]:
    """Return the lines of a page in the order of its content, which is the reading order for all but few programs."""
    text = textpage.get_text_range()
    fonts = _Fonts(textpage)
    found = []
    at = 0
    for raw in text.split("\r\n"):
        if raw.strip() and (line := _line(textpage, fonts, raw, at)) is not None:
            found.append(line)
        at += _units(raw) + 2
    return found


def _line(textpage: Any, fonts: _Fonts, raw: str, at: int) -> TextLine | None:
    places = [index for index, character in enumerate(raw) if not character.isspace() and character != "\x02"]
    if not places:
        return None
    looked_at = sorted({places[round(share * (len(places) - 1))] for share in _SHARES})
    indices = [fonts.index(at + _units(raw[:place])) for place in looked_at]
    boxes = [box for index in indices if (box := _box(textpage, index)) is not None]
    if not boxes:
        return None
    looks = [fonts.look(index) for index in indices]
    heights = sorted(box[3] - box[1] for box in boxes)
    return TextLine(
        text=_plain(raw),
        left=min(box[0] for box in boxes),
        bottom=min(box[1] for box in boxes),
        right=max(box[2] for box in boxes),
        top=max(box[3] for box in boxes),
        size=heights[len(heights) // 2],
        bold=all(bold for bold, _ in looks),
        mono=all(mono for _, mono in looks),
    )


def _plain(raw: str) -> str:
    raw = raw.rstrip()
    ends = bool(raw) and _HYPHENS.match(raw[-1]) is not None
    return _DOTS.sub(f" {LEADER_MARK} ", _HYPHENS.sub("", _PARTED.sub(_whole, raw)).translate(_LIGATURES)).strip() + (
        HYPHEN if ends else ""
    )


def _whole(found: re.Match[str]) -> str:
    """Return a word that a hyphen parts in the middle of what pdfium takes for one line; one with others keeps it."""
    return f"{found[1]}-{found[2]}" if "-" in found[1] or found[2][0].isupper() else f"{found[1]}{found[2]}"


def _units(text: str) -> int:
    """Return the length of a text in UTF-16, in which pdfium counts."""
    return len(text) + sum(1 for character in text if character > "\uffff")


def _box(textpage: Any, index: int) -> tuple[float, float, float, float] | None:
    from pypdfium2 import PdfiumError  # noqa: PLC0415 - the extra `documents`

    try:
        left, bottom, right, top = textpage.get_charbox(index, loose=True)
    except PdfiumError:
        return None
    return None if top <= bottom else (left, bottom, right, top)


class _Fonts:
    """Asks pdfium about characters by their place in a page's text."""

    def __init__(self, textpage: Any) -> None:
        import pypdfium2.raw as raw  # noqa: PLC0415, PLR0402 - the extra `documents`

        self._raw = raw
        self._page = textpage
        self._name = ctypes.create_string_buffer(128)
        self._flags = ctypes.c_int()

    def index(self, place: int) -> int:
        """Return the number of a character, by its place in the text."""
        return int(self._raw.FPDFText_GetCharIndexFromTextIndex(self._page, place))

    def look(self, index: int) -> tuple[bool, bool]:
        """Tell whether a character is bold, and whether all of its font's are of one width."""
        length = self._raw.FPDFText_GetFontInfo(self._page, index, self._name, len(self._name), self._flags)
        name = self._name.raw[: max(0, min(length, len(self._name)) - 1)].decode("utf-8", "replace")
        weight = self._raw.FPDFText_GetFontWeight(self._page, index)
        fixed = bool(self._flags.value & 1) and length > 0
        return weight >= _HEAVY or _BOLD.search(name) is not None, fixed or _MONO.search(name) is not None


def drawn(page: Any) -> tuple[int, int, float]:
    """Return how many rules and boxes are drawn on a page, how many objects in all, and the largest picture's share."""
    import pypdfium2.raw as raw  # noqa: PLC0415, PLR0402 - the extra `documents`

    rules = count = 0
    picture = 0.0
    area = max(1.0, page.get_width() * page.get_height())
    for element in _objects(page):
        count += 1
        if count > _PATHS:
            break
        if element.type not in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE):
            continue
        box = _bounds(element)
        if box is None:
            continue
        wide, high = box[2] - box[0], box[3] - box[1]
        if element.type == raw.FPDF_PAGEOBJ_IMAGE:
            picture = max(picture, wide * high / area)
        elif (wide > 20) != (high > 8) or (wide > 20 and high > 8 and wide * high < 0.9 * area):
            rules += 1
    return rules, count, picture


def _objects(page: Any) -> Iterator[Any]:
    from pypdfium2 import PdfiumError  # noqa: PLC0415 - the extra `documents`

    try:
        yield from page.get_objects(max_depth=3)
    except PdfiumError:
        return  # what is drawn after a damaged object is not looked at


def _bounds(element: Any) -> tuple[float, float, float, float] | None:
    from pypdfium2 import PdfiumError  # noqa: PLC0415 - the extra `documents`

    try:
        left, bottom, right, top = element.get_bounds()
    except PdfiumError:
        return None
    return left, bottom, right, top
