"""PowerPoint files (PPTX): a slide is a page, its title a heading; texts, tables, charts, speaker's notes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from typing import Any, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.properties import tell_properties
from mnemic.backends.readers.rows import tell_table
from mnemic.backends.readers.zips import checked_zip
from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind

_GROUP: Final = 6
"""MSO_SHAPE_TYPE.GROUP."""
_DEPTH: Final = 20
"""Groups inside groups that are followed."""
_ABOUT: Final = frozenset({"date", "ftr", "sldNum", "hdr", "dt"})
"""Kinds of placeholders that say nothing of a slide's own: date, footer, number."""


def read(asked: Asked, telling: Telling) -> None:
    """Read slides. Raises `ReadError` for a file that is damaged."""
    from pptx import Presentation  # noqa: PLC0415 - the extra `documents`
    from pptx.exc import PackageNotFoundError, PythonPptxError  # noqa: PLC0415

    checked_zip(asked.path).close()
    try:
        show = Presentation(str(asked.path))
    except (KeyError, ValueError, PackageNotFoundError, PythonPptxError, zipfile.BadZipFile) as error:
        raise ReadError("it is damaged: parts of the PowerPoint file are missing") from error
    tell_properties(telling, show.core_properties)
    slides = list(show.slides)
    hidden = []
    for number, slide in enumerate(slides, start=1):
        telling.at(number, len(slides))
        if slide._element.get("show") == "0":  # noqa: SLF001 - the library has no name for it
            hidden.append(str(number))
        _tell_slide(telling, slide, number)
    if hidden:
        telling.note(f"hidden slides were read too: {', '.join(hidden)}")


def _tell_slide(telling: Telling, slide: Any, number: int) -> None:
    title = slide.shapes.title
    heading = " ".join(title.text_frame.text.split()) if title is not None and title.has_text_frame else ""
    if heading:
        telling.title = telling.title or (heading if number == 1 else "")
        telling.block(BlockKind.HEADING, heading, level=1, page=number)
    for shape in _shapes(slide.shapes, 0):
        if title is None or shape.shape_id != title.shape_id:
            _tell_shape(telling, shape, number)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        telling.block(BlockKind.NOTE, slide.notes_slide.notes_text_frame.text.replace("\v", "\n"), page=number)
    for relation in slide.part.rels.values():
        if relation.is_external and relation.reltype.endswith("/hyperlink"):
            telling.link(str(relation.target_ref))


def _shapes(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    """Yield shapes as they are read: from the top down, then from the left; those of a group together."""
    for shape in sorted(shapes, key=lambda each: (each.top or 0, each.left or 0)):
        if shape.shape_type == _GROUP and depth < _DEPTH:
            yield from _shapes(shape.shapes, depth + 1)
        elif not (shape.is_placeholder and shape.element.ph is not None and _kind(shape) in _ABOUT):
            yield shape


def _kind(shape: Any) -> str:
    return str(shape.element.ph.get("type") or "")


def _tell_shape(telling: Telling, shape: Any, number: int) -> None:
    if shape.has_text_frame:
        _tell_words(telling, shape.text_frame, number)
    elif getattr(shape, "has_table", False):
        tell_table(telling, list(_rows(shape.table)), page=number)
    elif getattr(shape, "has_chart", False):
        _tell_chart(telling, shape.chart, number)
    else:
        described = shape.element.xpath(".//p:cNvPr/@descr")
        telling.block(BlockKind.CAPTION, described[0] if described else "", page=number)


def _tell_words(telling: Telling, frame: Any, number: int) -> None:
    """Tell a frame's paragraphs: as a list when there are several, indented by their level."""
    lines = []
    for paragraph in frame.paragraphs:
        text = " ".join(paragraph.text.replace("\v", " ").split())
        if text:
            lines.append((paragraph.level, text))
    if len(lines) == 1:
        telling.block(BlockKind.PARAGRAPH, lines[0][1], page=number)
    else:
        telling.block(BlockKind.LIST, "\n".join(f"{'  ' * level}- {text}" for level, text in lines), page=number)


def _rows(table: Any) -> Iterator[list[str]]:
    above: dict[int, str] = {}
    for row in table.rows:
        cells = []
        for at, cell in enumerate(row.cells):
            text = " ".join(cell.text.split())
            if cell.is_spanned and not text and not cell._tc.hMerge:  # noqa: SLF001 - which way it is merged
                text = above.get(at, "")
            above[at] = text
            cells.append(text)
        yield cells


def _tell_chart(telling: Telling, chart: Any, number: int) -> None:
    """Tell a chart's title and its values as a table: a row for each category, a column for each series."""
    if chart.has_title and chart.chart_title.has_text_frame:
        telling.block(BlockKind.CAPTION, chart.chart_title.text_frame.text, page=number)
    plots = list(chart.plots)
    if not plots:
        return
    try:
        labels = [str(label) for label in plots[0].categories]
        series = [(str(each.name or ""), list(each.values)) for plot in plots for each in plot.series]
    except (AttributeError, KeyError, TypeError, ValueError):
        telling.note(f"slide {number}: the values of a chart could not be read")
        return
    rows = [["", *(name for name, _ in series)]]
    for at in range(max([len(labels), *(len(values) for _, values in series)], default=0)):
        label = labels[at] if at < len(labels) else str(at + 1)
        rows.append([label, *("" if at >= len(v) or v[at] is None else f"{v[at]:g}" for _, v in series)])
    tell_table(telling, rows, named=True, page=number)
