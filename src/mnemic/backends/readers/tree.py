"""Elements of HTML as blocks: headings, paragraphs, lists, tables, code, captions; what is not for reading is left out.

Nothing is fetched and nothing is run: scripts, styles, forms and frames are dropped before anything is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from mnemic.backends.readers.asked import Tells
from mnemic.backends.readers.rows import tell_table
from mnemic.model.reading import BlockKind

if TYPE_CHECKING:
    from lxml.html import HtmlElement

DROPPED: Final = frozenset(
    """script style noscript template iframe frame object embed applet form input button select textarea svg canvas
    audio video source track head meta link map dialog""".split()
)
_GONE: Final = DROPPED - {"head", "meta", "link"}
AROUND: Final = frozenset({"nav", "footer", "aside", "header"})
_BLOCKS: Final = frozenset(
    """address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer h1 h2 h3 h4
    h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul caption""".split()
)
_TYPE: Final = "{http://www.idpf.org/2007/ops}type"
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_NOTES: Final = frozenset({"footnote", "endnote", "rearnote", "doc-footnote", "doc-endnote"})
DEPTH: Final = 400
"""How deep elements are followed; lxml itself stops at 256 unless it is told otherwise."""


def parsed(html: str | bytes) -> HtmlElement:
    """Return the root of an HTML text, without what is not for reading."""
    from lxml import html as lxml_html  # noqa: PLC0415 - the extra `documents`

    parser = lxml_html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, huge_tree=False)
    root = lxml_html.document_fromstring(html or "<html></html>", parser=parser, ensure_head_body=True)
    for element in list(root.iter()):
        dropped = not isinstance(element.tag, str) or element.tag in _GONE or _is_hidden(element)
        if dropped and element.getparent() is not None:
            element.drop_tree()
    return root


class Walk:
    """Tells the blocks below an element. `base` is what links are relative to; `more` goes with each block."""

    def __init__(self, telling: Tells, *, base: str = "", around: bool = True, **more: Any) -> None:
        self._telling = telling
        self._base = base
        self._around = around
        self._more = more
        self._loose: list[str] = []

    def tell(self, root: HtmlElement) -> None:
        """Tell all that is to be read below an element."""
        self._walk(root, 0)
        self._end_loose()

    def _walk(self, element: HtmlElement, depth: int) -> None:
        tag = element.tag
        around = tag in AROUND and not self._around and not _is_note(element)
        if tag in DROPPED or around or depth > DEPTH:
            return
        if tag in _HEADINGS:
            self._block(BlockKind.HEADING, self._inline(element), level=_HEADINGS[tag])
        elif tag in ("ul", "ol"):
            self._end_loose()
            self._block(BlockKind.LIST, "\n".join(self._items(element, "")))
        elif tag == "pre":
            self._block(BlockKind.CODE, "".join(_code(element)))
        elif tag == "table":
            self._table(element, depth)
        elif tag in ("figcaption", "caption"):
            self._block(BlockKind.CAPTION, self._inline(element))
        elif _is_note(element):
            self._block(BlockKind.NOTE, self._inline(element))
        else:
            self._children(element, depth)

    def _children(self, element: HtmlElement, depth: int) -> None:
        """Gather loose words between blocks into paragraphs."""
        if element.tag in _BLOCKS:
            self._end_loose()
        self._loose.append(element.text or "")
        for child in element:
            if child.tag in _BLOCKS or _has_blocks(child):
                self._walk(child, depth + 1)
            elif child.tag == "br":
                self._loose.append("\n")
            elif child.tag not in DROPPED:
                self._loose.append(self._inline_raw(child))
            self._loose.append(child.tail or "")
        if element.tag in _BLOCKS:
            self._end_loose()

    def _end_loose(self) -> None:
        text, self._loose = "".join(self._loose), []
        lines = [" ".join(line.split()) for line in text.split("\n")] if "\n" in text else [" ".join(text.split())]
        self._telling.block(BlockKind.PARAGRAPH, " ".join(filter(None, lines)), **self._more)

    def _block(self, kind: BlockKind, text: str, **more: Any) -> None:
        self._end_loose()
        self._telling.block(kind, text, **{**self._more, **more})

    def _inline(self, element: HtmlElement) -> str:
        return " ".join(self._inline_raw(element).split())

    def _inline_raw(self, element: HtmlElement) -> str:
        return "".join(self._words(element))

    def _words(self, element: HtmlElement) -> Iterator[str]:
        if element.tag in DROPPED:
            return
        if element.tag == "a" and (address := element.get("href")):
            self._telling.link(joined(self._base, address))
        if element.tag == "img":
            yield element.get("alt") or ""
        if element.tag in _BLOCKS or element.tag == "br":
            yield " "
        yield element.text or ""
        for child in element:
            yield from self._words(child)
            yield child.tail or ""
        if element.tag in _BLOCKS:
            yield " "

    def _items(self, element: HtmlElement, indent: str) -> Iterator[str]:
        ordered = element.tag == "ol"
        number = int(start) if (start := element.get("start") or "1").lstrip("-").isdigit() else 1
        for child in element:
            if child.tag in ("ul", "ol"):  # not in an item, as some write it
                yield from self._items(child, indent + "  ")
            elif child.tag not in DROPPED:
                inner = [each for each in child if each.tag in ("ul", "ol")]
                words = [child.text or "", *(self._item_words(each) for each in child)]
                text = " ".join("".join(words).split())
                if text:
                    yield f"{indent}{f'{number}.' if ordered else '-'} {text}"
                number += 1
                for each in inner:
                    yield from self._items(each, indent + "  ")

    def _item_words(self, child: HtmlElement) -> str:
        return ("" if child.tag in ("ul", "ol") else self._inline_raw(child)) + (child.tail or "")

    def _table(self, table: HtmlElement, depth: int) -> None:
        self._end_loose()
        rows = list(own_rows(table))
        if _is_layout(table, rows):
            for row in rows:
                for cell in row:
                    self._children(cell, depth + 2)
                    self._end_loose()
            return
        for caption in table.iterchildren("caption"):
            self._block(BlockKind.CAPTION, self._inline(caption))
        cells = spread([[(self._inline(cell), *_spans(cell)) for cell in _cells(row)] for row in rows])
        named = bool(rows) and all(cell.tag == "th" for cell in _cells(rows[0])) and len(rows) > 1
        tell_table(self._telling, cells, named=True if named else None, **self._more)


def joined(base: str, address: str) -> str:
    """Return where a link leads, empty when that is no address."""
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def own_rows(table: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the rows of a table, not those of tables in it."""
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from child.iterchildren("tr")


def spread(rows: Sequence[Sequence[tuple[str, int, int]]]) -> list[list[str]]:
    """Return rows of cells from cells with spans: one over several rows is in each, one over columns stands once."""
    out: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    for row in rows:
        line: list[str] = []

        def from_above(line: list[str] = line) -> None:
            while (held := below.get(len(line))) and held[0] > 0:
                below[len(line)] = (held[0] - 1, held[1])
                line.append(held[1])

        for text, across, down in row:
            from_above()
            for at in range(across):
                if down > 1:
                    below[len(line)] = (down - 1, text if at == 0 else "")
                line.append(text if at == 0 else "")
        from_above()
        out.append(line)
    return out


def _cells(row: HtmlElement) -> Iterator[HtmlElement]:
    return (cell for cell in row if cell.tag in ("td", "th"))


def _spans(cell: HtmlElement) -> tuple[int, int]:
    def span(name: str, most: int) -> int:
        value = (cell.get(name) or "1").strip()
        return min(most, max(1, int(value))) if value.isdecimal() and len(value) < 6 else 1

    return span("colspan", 100), span("rowspan", 1_000)


def _is_layout(table: HtmlElement, rows: Sequence[HtmlElement]) -> bool:
    """Tell whether a table only places things: one column, or blocks and tables in its cells."""
    if table.get("role") in ("presentation", "none"):
        return True
    if any(True for _ in table.iter("th")):
        return False
    widest = max((sum(1 for _ in _cells(row)) for row in rows), default=0)
    nested = any(element is not table for element in table.iter("table"))
    large = any(True for tag in ("h1", "h2", "h3", "pre") for _ in table.iter(tag))
    return widest < 2 or large or (nested and len(rows) <= 3)


def _is_hidden(element: HtmlElement) -> bool:
    return element.get("hidden") is not None or bool(_HIDDEN.search(element.get("style") or ""))


def _is_note(element: HtmlElement) -> bool:
    marks = " ".join(element.get(name) or "" for name in (_TYPE, "epub:type", "role"))
    return not _NOTES.isdisjoint(marks.split())


def _has_blocks(element: HtmlElement) -> bool:
    return element.tag not in DROPPED and any(child.tag in _BLOCKS for child in element.iterdescendants())


def _code(element: HtmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag == "br":
            yield "\n"
        else:
            yield from _code(child)
        yield child.tail or ""
