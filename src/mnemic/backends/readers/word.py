"""Word documents (DOCX): paragraphs, headings, lists, tables in their order, footnotes after the paragraph that has
their mark. What was deleted under tracking is left out, what was inserted is read; comments are left out.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.properties import tell_properties
from mnemic.backends.readers.rows import tell_table
from mnemic.backends.readers.zips import checked_zip
from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind

if TYPE_CHECKING:
    from lxml.etree import _Element

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_FALLBACK: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_DRAWN: Final = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_LINKED: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_SKIPPED: Final = frozenset(
    f"{_W}{name}" for name in ("del", "moveFrom", "instrText", "delText", "rPr", "pPr", "commentReference", "sectPr")
) | {_FALLBACK}
_CHARACTERS: Final = {
    f"{_W}tab": " ",
    f"{_W}br": "\n",
    f"{_W}cr": "\n",
    f"{_W}noBreakHyphen": "-",
    f"{_W}softHyphen": "",
}
_AROUND: Final = frozenset(f"{_W}{name}" for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"))
_NOTES: Final = {f"{_W}footnoteReference": "footnotes", f"{_W}endnoteReference": "endnotes"}
_LEVELS: Final = 6


@dataclass(slots=True)
class _Styles:
    """What styles mean: the level of headings, which are lists, by the style's id."""

    headings: dict[str, int] = field(default_factory=dict)
    lists: set[str] = field(default_factory=set)
    titles: set[str] = field(default_factory=set)
    code: set[str] = field(default_factory=set)
    captions: set[str] = field(default_factory=set)


def read(asked: Asked, telling: Telling) -> None:
    """Read a Word document. Raises `ReadError` for one that is damaged."""
    from docx import Document  # noqa: PLC0415 - the extra `documents`
    from docx.opc.exceptions import PackageNotFoundError  # noqa: PLC0415

    with checked_zip(asked.path) as archive:
        pages = _told_pages(archive)
    try:
        document = Document(str(asked.path))
    except (KeyError, ValueError, PackageNotFoundError, zipfile.BadZipFile) as error:
        raise ReadError("it is damaged: parts of the Word document are missing") from error
    tell_properties(telling, document.core_properties)
    _Body(telling, document, pages).tell()


def _told_pages(archive: zipfile.ZipFile) -> int:
    """Return how many pages the program that saved it counted; 0 when it did not."""
    from lxml import etree  # noqa: PLC0415 - with python-docx

    try:
        root = etree.fromstring(archive.read("docProps/app.xml"), etree.XMLParser(resolve_entities=False))
    except (KeyError, etree.XMLSyntaxError):
        return 0
    found = next((element.text or "" for element in root if str(element.tag).endswith("}Pages")), "")
    return int(found) if found.isdecimal() else 0


class _Body:
    """Tells a document's body. Pages are known when each break that Word counted is marked where it was."""

    def __init__(self, telling: Telling, document: Any, pages: int) -> None:
        self._telling = telling
        self._part = document.part
        self._root: _Element = document.element.body
        self._styles = _styles(document)
        self._notes = {name: _notes(document.part, name) for name in ("footnotes", "endnotes")}
        self._items: list[str] = []
        self._code: list[str] = []
        breaks = sum(1 for _ in self._root.iter(f"{_W}lastRenderedPageBreak"))
        self._pages = pages if pages > 1 and breaks == pages - 1 else 0
        self._page: int | None = 1 if self._pages else None

    def tell(self) -> None:
        """Tell it to its end."""
        if self._pages:
            self._telling.at(1, self._pages)
        for element in _flat(self._root):
            self._turn(element, before=True)
            if element.tag == f"{_W}p":
                self._paragraph(element)
            elif element.tag == f"{_W}tbl":
                self._flush()
                tell_table(self._telling, list(_rows(element, self._words)), page=self._page)
                self._referred(element)
                self._turn(element)
        self._flush()

    def _paragraph(self, element: _Element) -> None:
        text = self._words(element)
        style = _value(element, "pPr/pStyle")
        level = _outline(element) or self._styles.headings.get(style, 0)
        if level or style in self._styles.titles:
            self._flush()
            if style in self._styles.titles and not self._telling.title:
                self._telling.title = text
            self._telling.block(BlockKind.HEADING, " ".join(text.split()), level=level or 1, page=self._page)
        elif text.strip() and (_in_list(element) or style in self._styles.lists):
            self._flush(items=False)
            depth = int(found) if (found := _value(element, "pPr/numPr/ilvl")).isdecimal() else 0
            self._items.append(f"{'  ' * min(depth, 9)}- {' '.join(text.split())}")
        elif style in self._styles.code:
            self._flush(code=False)
            self._code.append(text)
        else:
            self._flush()
            kind = BlockKind.CAPTION if style in self._styles.captions else BlockKind.PARAGRAPH
            self._telling.block(kind, text, page=self._page)
        self._boxes(element)
        self._referred(element)
        self._turn(element)

    def _flush(self, *, items: bool = True, code: bool = True) -> None:
        if items and self._items:
            self._telling.block(BlockKind.LIST, "\n".join(self._items), page=self._page)
            self._items = []
        if code and self._code:
            self._telling.block(BlockKind.CODE, "\n".join(self._code), page=self._page)
            self._code = []

    def _turn(self, element: _Element, *, before: bool = False) -> None:
        """Turn the pages that end before the words of an element, or inside it: what begins on one is cited by it."""
        if self._page is None:
            return
        early, late = _breaks(element)
        turned = early if before else late
        if turned:
            self._flush()
            self._page = min(self._pages, self._page + turned)
            self._telling.at(self._page, self._pages)

    def _words(self, element: _Element) -> str:
        return "".join(self._pieces(element))

    def _pieces(self, element: _Element) -> Iterator[str]:
        for child in element:
            tag = child.tag
            if tag in (f"{_W}t", _MATH):
                yield child.text or ""
            elif tag in _CHARACTERS:
                yield _CHARACTERS[tag]
            elif tag in _NOTES:
                yield f"[{child.get(f'{_W}id')}]"
            elif tag == _DRAWN:
                yield f" {child.get('descr') or ''} "
            elif tag not in _SKIPPED and tag != f"{_W}txbxContent":
                self._link(child)
                yield from self._pieces(child)

    def _link(self, element: _Element) -> None:
        if element.tag == f"{_W}hyperlink" and (found := self._part.rels.get(element.get(_LINKED))) is not None:
            self._telling.link(str(found.target_ref))

    def _boxes(self, element: _Element) -> None:
        """Tell the words of text boxes that are anchored in a paragraph."""
        for box in element.iter(f"{_W}txbxContent"):
            if not any(above.tag == _FALLBACK for above in box.iterancestors()):
                for inner in _flat(box):
                    self._telling.block(BlockKind.PARAGRAPH, self._words(inner), page=self._page)

    def _referred(self, element: _Element) -> None:
        """Tell the notes whose marks stand in an element."""
        for child in element.iter(*_NOTES):
            number = str(child.get(f"{_W}id"))
            note = self._notes[_NOTES[str(child.tag)]].get(number)
            if note is not None:
                self._flush()
                words = " ".join(self._words(note).split())
                self._telling.block(BlockKind.NOTE, f"[{number}] {words}", page=self._page)


def _breaks(element: _Element) -> tuple[int, int]:
    """Return how many breaks of pages stand before the first words of an element, and how many after them."""
    early = late = 0
    words = False
    for child in element.iter(f"{_W}lastRenderedPageBreak", f"{_W}t"):
        if child.tag == f"{_W}t":
            words = words or bool((child.text or "").strip())
        elif words:
            late += 1
        else:
            early += 1
    return early, late


def _flat(element: _Element) -> Iterator[_Element]:
    """Yield paragraphs and tables, those inside controls and tracked changes too."""
    for child in element:
        if child.tag in _AROUND:
            yield from _flat(child)
        elif child.tag in (f"{_W}p", f"{_W}tbl"):
            yield child


def _rows(table: _Element, words: Any) -> Iterator[list[str]]:
    """Yield rows of cells. A cell over several rows is in each of them; one over columns stands once."""
    above: dict[int, str] = {}
    for row in _inside(table, f"{_W}tr"):
        cells: list[str] = []
        for cell in _inside(row, f"{_W}tc"):
            at = len(cells)
            merged = cell.find(f"{_W}tcPr/{_W}vMerge")
            if merged is not None and merged.get(f"{_W}val") != "restart":
                text = above.get(at, "")
            else:
                text = _cell(cell, words)
                above[at] = text
            across = _value(cell, "tcPr/gridSpan")
            span = min(100, int(across)) if across.isdecimal() else 1
            cells += [text, *[""] * (max(1, span) - 1)]
        yield cells


def _inside(element: _Element, tag: str) -> Iterator[_Element]:
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in _AROUND:
            yield from _inside(child, tag)


def _cell(cell: _Element, words: Any) -> str:
    """Return a cell's words; a table in it is put on the line, cells parted by commas and rows by semicolons."""
    parts = []
    for element in _flat(cell):
        if element.tag == f"{_W}tbl":
            rows = [", ".join(filter(None, (each.strip() for each in row))) for row in _rows(element, words)]
            parts.append(f"({'; '.join(filter(None, rows))})")
        else:
            parts.append(words(element))
    return " ".join(" ".join(parts).split())


def _styles(document: Any) -> _Styles:
    found = _Styles()
    for style in document.styles.element.iter(f"{_W}style"):
        identifier = str(style.get(f"{_W}styleId"))
        name = _value(style, "name").lower()
        level = _outline(style)
        if name.startswith("heading ") and name[8:].isdecimal():
            level = min(_LEVELS, int(name[8:]))
        based = _value(style, "basedOn")
        level = level or found.headings.get(based, 0)
        if level and not name.startswith("toc"):
            found.headings[identifier] = level
        if name == "title":
            found.titles.add(identifier)
        if name.startswith("list") and "table" not in name and style.get(f"{_W}type") == "paragraph":
            found.lists.add(identifier)
        if "preformatted" in name or "source code" in name or name == "code" or "html code" in name:
            found.code.add(identifier)
        if name == "caption":
            found.captions.add(identifier)
    found.lists.discard("ListParagraph")  # Word gives it to numbered headings and indented text too
    return found


def _outline(element: _Element) -> int:
    """Return the level of an outline that a paragraph or style has itself: 1 to 6, 0 for none."""
    level = _value(element, "pPr/outlineLvl")
    return min(_LEVELS, int(level) + 1) if level.isdecimal() and int(level) < 9 else 0


def _in_list(element: _Element) -> bool:
    return _value(element, "pPr/numPr/numId") not in ("", "0")


def _value(element: _Element, path: str) -> str:
    found = element.find("/".join(f"{_W}{name}" for name in path.split("/")))
    return "" if found is None else str(found.get(f"{_W}val") or "")


def _notes(part: Any, name: str) -> Mapping[str, _Element]:
    """Return foot- or endnotes by their numbers; the separators that Word keeps among them are left out."""
    from lxml import etree  # noqa: PLC0415 - with python-docx

    for relation in part.rels.values():
        if relation.reltype.endswith(f"/{name}") and not relation.is_external:
            root = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False))
            return {str(note.get(f"{_W}id")): note for note in root if not note.get(f"{_W}type")}
    return {}
