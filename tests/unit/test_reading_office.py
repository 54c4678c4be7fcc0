"""Word, PowerPoint and Excel: structure, merged and nested cells, notes, formulas, dates; and bombs in their zips."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind
from tests.unit.reading_here import kinds, of_kind, read_here

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _saved(made: Any) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def _changed(content: bytes, change: Callable[[str, bytes], bytes | None], **more: bytes) -> bytes:
    """Return a zip with members changed, left out where the change gives None, and others added."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if (body := change(name, old.read(name))) is not None:
                new.writestr(name, body)
        for name, body in more.items():
            new.writestr(name.replace("__", "/"), body)
    return out.getvalue()


def test_a_word_document_has_headings_lists_and_code_in_their_order() -> None:
    made = docx.Document()
    made.core_properties.title = "The harbour"
    made.core_properties.author = "Ann Lee"
    made.core_properties.created = datetime(2024, 3, 5, 10, 15)  # noqa: DTZ001 - Word has no zone
    made.add_heading("Harbour", 1)
    made.add_paragraph("It was built in 1721.")
    made.add_paragraph("first", style="List Bullet")
    made.add_paragraph("second", style="List Bullet")
    made.add_heading("Ships", 2)
    made.add_paragraph("Figure 1: a ship", style="Caption")
    found = read_here(_saved(made), "harbour.docx")
    assert kinds(found) == [
        ("heading", "Harbour"),
        ("paragraph", "It was built in 1721."),
        ("list", "- first\n- second"),
        ("heading", "Ships"),
        ("caption", "Figure 1: a ship"),
    ]
    assert [block.level for block in of_kind(found, BlockKind.HEADING)] == [1, 2]
    assert (found.title, found.metadata["author"]) == ("The harbour", "Ann Lee")
    assert found.metadata["created"].startswith("2024-03-05T10:15:00")


def test_tables_of_word_keep_merged_cells_and_tables_in_cells() -> None:
    made = docx.Document()
    table = made.add_table(rows=4, cols=3)
    for at, words in enumerate(("Region", "Town", "Note")):
        table.cell(0, at).text = words
    table.cell(1, 0).merge(table.cell(2, 0)).text = "North"
    table.cell(1, 1).text, table.cell(2, 1).text = "Husum", "Kiel"
    inner = table.cell(1, 2).add_table(rows=2, cols=2)
    for at, words in enumerate(("a", "b", "c", "d")):
        inner.cell(at // 2, at % 2).text = words
    table.cell(3, 0).merge(table.cell(3, 2)).text = "All of it"
    (block,) = of_kind(read_here(_saved(made), "a.docx"), BlockKind.TABLE)
    assert block.header == "Region | Town | Note"
    assert block.text == "North | Husum | (a, b; c, d)\nNorth | Kiel\nAll of it"


def test_notes_tracked_changes_and_controls_of_word_are_read_as_they_are_meant() -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("The tower is 38 m high")
    paragraph._p.append(parse_xml(f'<w:r {W}><w:footnoteReference w:id="7"/></w:r>'))
    paragraph._p.append(parse_xml(f"<w:ins {W}><w:r><w:t>, they say</w:t></w:r></w:ins>"))
    paragraph._p.append(parse_xml(f"<w:del {W}><w:r><w:delText>, I lie</w:delText></w:r></w:del>"))
    body = made.element.body
    body.insert(
        1, parse_xml(f"<w:sdt {W}><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>")
    )
    words = "<w:p><w:r><w:t>Measured in 1901.</w:t></w:r></w:p>"
    notes = f'<w:footnotes {W}><w:footnote w:id="7">{words}</w:footnote></w:footnotes>'
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"

    def change(name: str, body: bytes) -> bytes:
        if name == "[Content_Types].xml":
            override = f'<Override PartName="/word/footnotes.xml" ContentType="{kind}"/></Types>'
            return body.replace(b"</Types>", override.encode())
        if name == "word/_rels/document.xml.rels":
            entry = f'<Relationship Id="rId99" Type="{relation}" Target="footnotes.xml"/></Relationships>'
            return body.replace(b"</Relationships>", entry.encode())
        return body

    content = _changed(_saved(made), change, **{"word__footnotes.xml": notes.encode()})
    assert kinds(read_here(content, "a.docx")) == [
        ("paragraph", "The tower is 38 m high[7], they say"),
        ("note", "[7] Measured in 1901."),
        ("paragraph", "In a control."),
    ]


def test_pages_of_word_are_known_when_the_program_that_saved_it_marked_them() -> None:
    made = docx.Document()
    made.add_paragraph("On the first page.")
    second = made.add_paragraph("")
    second._p.append(parse_xml(f"<w:r {W}><w:lastRenderedPageBreak/><w:t>On the second.</w:t></w:r>"))
    made.add_paragraph("Still there.")

    def change(name: str, body: bytes) -> bytes:
        return body.replace(b"<Pages>1</Pages>", b"<Pages>2</Pages>") if name == "docProps/app.xml" else body

    found = read_here(_changed(_saved(made), change), "a.docx")
    assert found.pages == 2
    assert [(block.text, block.page) for block in found.blocks] == [
        ("On the first page.", 1),
        ("On the second.", 2),
        ("Still there.", 2),
    ]


def test_a_word_document_without_such_marks_has_no_pages() -> None:
    made = docx.Document()
    made.add_paragraph("Words.")
    found = read_here(_saved(made), "a.docx")
    assert (found.pages, found.blocks[0].page) == (0, None)


def _slides() -> Any:
    show = pptx.Presentation()
    one = show.slides.add_slide(show.slide_layouts[1])
    one.shapes.title.text = "Harbour"
    frame = one.placeholders[1].text_frame
    frame.text = "Built in 1721"
    deeper = frame.add_paragraph()
    deeper.text, deeper.level = "with a tax on salt", 1
    one.notes_slide.notes_text_frame.text = "Tell them about the tax."
    two = show.slides.add_slide(show.slide_layouts[5])
    two.shapes.title.text = "Ships"
    table = two.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for at, words in enumerate(("Ship", "Crew", "Anna", "12", "Berta", "7")):
        table.cell(at // 2, at % 2).text = words
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call] # the library's
    data.categories = ["2022", "2023"]
    data.add_series("Ships", (3, 4.5))
    chart = two.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(4), Inches(4), Inches(3), data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Ships by year"
    return show


def test_slides_are_pages_with_title_list_table_chart_and_notes() -> None:
    found = read_here(_saved(_slides()), "harbour.pptx")
    assert [(block.kind.value, block.text, block.page) for block in found.blocks] == [
        ("heading", "Harbour", 1),
        ("list", "- Built in 1721\n  - with a tax on salt", 1),
        ("note", "Tell them about the tax.", 1),
        ("heading", "Ships", 2),
        ("table", "Anna | 12\nBerta | 7", 2),
        ("caption", "Ships by year", 2),
        ("table", "2022 | 3\n2023 | 4.5", 2),
    ]
    assert [block.header for block in of_kind(found, BlockKind.TABLE)] == ["Ship | Crew", " | Ships"]
    assert found.pages == 2


def test_more_slides_than_the_limit_is_an_error() -> None:
    with pytest.raises(ReadError, match="2 pages, and 1 are the limit"):
        read_here(_saved(_slides()), "a.pptx", pages=1)


def _workbook() -> Any:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Crew"
    sheet["A1"] = "Crew list of the harbour"
    for row in (
        ("Name", "Since", "Share", "Sum"),
        ("Ann", date(2024, 3, 5), 0.125, 3),
        ("Bob", datetime(2024, 3, 5, 8, 30), 1, 4.5),  # noqa: DTZ001 - Excel has no zone
    ):
        sheet.append(row)
    sheet["C3"].number_format = "0.0%"
    sheet["C4"].number_format = "0%"
    sheet["D5"] = "=SUM(D3:D4)"
    sheet["A5"] = "Total"
    other = book.create_sheet("Hidden one")
    other.sheet_state = "hidden"
    for region in (("Region", "Town"), ("North", "Husum"), (None, "Kiel"), ("South", "Ulm")):
        other.append(region)
    other.merge_cells("A2:A3")
    return book


def test_sheets_have_header_row_numbers_dates_and_merged_cells() -> None:
    found = read_here(_saved(_workbook()), "crew.xlsx")
    crew, hidden = of_kind(found, BlockKind.TABLE)
    assert (crew.header, crew.row, crew.part) == ("Name | Since | Share | Sum", 3, "Crew")
    assert crew.text.split("\n") == [
        "Ann | 2024-03-05 | 12.5% | 3",
        "Bob | 2024-03-05 08:30:00 | 100% | 4.5",
        "Total |  |  | =SUM(D3:D4)",
    ]
    assert (hidden.part, hidden.text) == ("Hidden one", "North | Husum\nNorth | Kiel\nSouth | Ulm")
    assert [block.text for block in of_kind(found, BlockKind.CAPTION)] == ["Crew list of the harbour"]
    assert [block.text for block in of_kind(found, BlockKind.HEADING)] == ["Crew", "Hidden one"]
    assert any("1 formulas have no stored result" in note for note in found.notes)
    assert any("hidden sheets" in note for note in found.notes)


def test_a_formula_is_read_as_what_it_came_to() -> None:
    def change(name: str, body: bytes) -> bytes:
        if name != "xl/worksheets/sheet1.xml":
            return body
        return body.replace(b"<f>SUM(D3:D4)</f><v></v>", b"<f>SUM(D3:D4)</f><v>7.5</v>").replace(
            b"<f>SUM(D3:D4)</f><v />", b"<f>SUM(D3:D4)</f><v>7.5</v>"
        )

    found = read_here(_changed(_saved(_workbook()), change), "crew.xlsx")
    assert of_kind(found, BlockKind.TABLE)[0].text.endswith("Total |  |  | 7.5")
    assert not any("formulas" in note for note in found.notes)


def _bomb(content: bytes, name: str) -> bytes:
    return _changed(content, lambda _, body: body, **{name.replace("/", "__"): b"\0" * (90 << 20)})


@pytest.fixture(scope="module")
def document() -> bytes:
    made = docx.Document()
    made.add_paragraph("Words.")
    return _saved(made)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(document: bytes) -> None:
    with pytest.raises(ReadError, match=r"zip bomb: what is in it is [\d,]+ times its size, and 200 is the limit"):
        read_here(_bomb(document, "word/media/image1.png"), "a.docx")


def test_entities_that_refer_to_each_other_are_refused(document: bytes) -> None:
    laughs = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;">]>'

    def change(name: str, body: bytes) -> bytes:
        if name != "word/document.xml":
            return body
        return laughs + body.split(b"?>", 1)[1].replace(b"Words.", b"&c;")

    with pytest.raises(ReadError, match="declares entities"):
        read_here(_changed(document, change), "a.docx")


def test_names_of_members_are_never_paths(document: bytes) -> None:
    content = _changed(document, lambda _, body: body, **{"..__..__..__tmp__mnemic-was-here": b"x"})
    assert read_here(content, "../../etc/a.docx").text == "Words."


def test_a_document_that_is_cut_off_or_lacks_its_parts_is_an_error(document: bytes) -> None:
    with pytest.raises(ReadError, match="cut off or damaged"):
        read_here(document[: len(document) // 2], "a.docx")
    with pytest.raises(ReadError, match="damaged: parts of the Word document"):
        read_here(_changed(document, lambda name, body: None if name == "word/document.xml" else body), "a.docx")
