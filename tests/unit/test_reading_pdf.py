"""PDFs: pages, headings, paragraphs, lists, tables, what each page repeats, passwords, and files that are broken."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageDraw

from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind, Reading
from tests.unit.made_pdf import MadePage, made_pdf
from tests.unit.reading_here import kinds, of_kind, read_here

PROSE = (
    "The harbour was built in 1721 by merchants of the town, who paid for",
    "it with a tax on salt and on the wine that came from the south. It was",
    "widened twice, and has been a protected monument since 1974.",
)


def _pages() -> list[MadePage]:
    one = MadePage().text("Harbour report", size=22).text("History", size=15, down=40)
    for line in PROSE:
        one.text(line)
    one.text("A second paragraph stands apart from the first one, and is not", down=30).text("joined with it.")
    two = MadePage().text("Ships", size=15)
    two.text("Three ships lie here:").text("\u2022 the Anna").text("\u2022 the Berta, with a long name that").text(
        "  goes on", x=80
    )
    two.text("Ship and crew", size=15, down=40).grid([["Ship", "Crew"], ["Anna", "12"], ["Berta", "7"]])
    two.text("After the table.", down=30)
    three = (
        MadePage().text("Code", size=15).text("def crew(ship):", font="F3", down=30).text("    return 12", font="F3")
    )
    for number, page in enumerate((one, two, three), start=1):
        page.at("Annual report of the harbour", 72, 770, size=9).at(f"Page {number} of 3", 280, 30, size=9)
    return [one, two, three]


@pytest.fixture(scope="module")
def report() -> Reading:
    info = "/Title(Report on the harbour)/Author(Ann Lee)/CreationDate(D:20240305101500+01'00')"
    return read_here(made_pdf(_pages(), info=info), "report.pdf")


def test_headings_have_levels_by_their_size_and_pages(report: Reading) -> None:
    headings = [(block.text, block.level, block.page) for block in of_kind(report, BlockKind.HEADING)]
    assert headings == [
        ("Harbour report", 1, 1),
        ("History", 2, 1),
        ("Ships", 2, 2),
        ("Ship and crew", 2, 2),
        ("Code", 2, 3),
    ]


def test_lines_are_joined_to_paragraphs_and_paragraphs_stay_apart(report: Reading) -> None:
    first, second = [block.text for block in of_kind(report, BlockKind.PARAGRAPH) if block.page == 1]
    assert first == " ".join(PROSE)
    assert second == "A second paragraph stands apart from the first one, and is not joined with it."


def test_items_are_one_list(report: Reading) -> None:
    (items,) = of_kind(report, BlockKind.LIST)
    assert items.text == "- the Anna\n- the Berta, with a long name that goes on"


def test_a_table_with_rules_is_a_table_with_its_header_and_page(report: Reading) -> None:
    (table,) = of_kind(report, BlockKind.TABLE)
    assert (table.header, table.text, table.page, table.row) == ("Ship | Crew", "Anna | 12\nBerta | 7", 2, 2)
    assert report.blocks[list(report.blocks).index(table) + 1].text == "After the table."
    assert report.text.count("Berta") == 2  # in the list and in the table, not as plain text again


def test_code_keeps_its_lines_and_what_stands_before_them(report: Reading) -> None:
    (code,) = of_kind(report, BlockKind.CODE)
    assert code.text == "def crew(ship):\n    return 12"


def test_what_each_page_repeats_is_not_text(report: Reading) -> None:
    assert "Annual report of the harbour" not in report.text
    assert "Page 2" not in report.text


def test_properties_are_metadata_with_iso_times(report: Reading) -> None:
    assert (report.title, report.pages, report.media) == ("Report on the harbour", 3, "application/pdf")
    assert report.metadata["author"] == "Ann Lee"
    assert report.metadata["created"] == "2024-03-05T10:15:00+01:00"


def test_the_outline_decides_what_is_a_heading() -> None:
    pages = [
        MadePage().text("Part one", font="F2").text("Something is said here.", down=30),
        MadePage().text("Part two", font="F2").text("And more is said here.", down=30),
    ]
    found = read_here(made_pdf(pages, outline=[("Part one", 0), ("Part two", 1)]), "outlined.pdf")
    assert [(block.text, block.level) for block in of_kind(found, BlockKind.HEADING)] == [
        ("Part one", 1),
        ("Part two", 1),
    ]


def test_words_parted_at_the_end_of_a_line_are_whole() -> None:
    page = MadePage().text("This is about the archi-").text("tecture of well-known state-of-the-").text("art houses.")
    assert (
        read_here(made_pdf([page]), "a.pdf").text
        == "This is about the architecture of well-known state-of-the-art houses."
    )


def test_a_table_of_contents_is_a_list_and_no_headings() -> None:
    page = MadePage().text("Contents", size=18).text("1 Introduction . . . . . . . . . . . . 3", size=14, down=30)
    page.text("2 The harbour . . . . . . . . . . . . 17", size=14)
    for line in PROSE * 3:
        page.text(line)
    found = read_here(made_pdf([page]), "a.pdf")
    assert [block.text for block in of_kind(found, BlockKind.HEADING)] == ["Contents"]
    assert of_kind(found, BlockKind.LIST)[0].text == "1 Introduction … 3\n2 The harbour … 17"


@pytest.mark.parametrize("password, why", [("", "needs its `password`"), ("wrong", "password is wrong")])
def test_a_locked_file_says_that_it_needs_its_password(password: str, why: str) -> None:
    locked = made_pdf([MadePage().text("Secret words")], password="open sesame")
    with pytest.raises(ReadError, match=why):
        read_here(locked, "a.pdf", password=password)


def test_a_locked_file_is_read_with_its_password_tables_too() -> None:
    locked = made_pdf([MadePage().text("Secret words").grid([["A", "B"], ["x", "y"]])], password="open sesame")
    found = read_here(locked, "a.pdf", password="open sesame")
    assert kinds(found) == [("paragraph", "Secret words"), ("table", "x | y")]


def test_more_pages_than_the_limit_is_an_error_that_names_it() -> None:
    page = MadePage().text("x")
    with pytest.raises(ReadError, match=r"600 pages, and 500 are the limit \(file_pages\)"):
        read_here(made_pdf([page] * 600), "a.pdf")


def test_a_file_cut_in_half_gives_what_is_there_and_says_so() -> None:
    whole = made_pdf([MadePage().text(f"This is page {number}.") for number in range(1, 21)])
    found = read_here(whole[: len(whole) // 2], "a.pdf")
    assert "This is page 3." in found.text
    assert any("cut off" in note for note in found.notes)


def test_a_file_cut_before_its_first_page_is_an_error() -> None:
    with pytest.raises(ReadError, match="damaged or cut off"):
        read_here(made_pdf([MadePage().text("x")])[:60], "a.pdf")


def test_a_file_without_pages_is_an_error() -> None:
    with pytest.raises(ReadError, match=r"no page"):
        read_here(made_pdf([]), "a.pdf")


def test_empty_pages_are_told_and_no_error() -> None:
    found = read_here(made_pdf([MadePage(), MadePage()]), "a.pdf")
    assert (found.blocks, found.pages, list(found.notes)) == ((), 2, ["its pages are empty"])


def _scanned() -> bytes:

    picture = Image.new("RGB", (600, 800), "white")
    ImageDraw.Draw(picture).rectangle((50, 50, 400, 90), fill="black")
    out = io.BytesIO()
    picture.save(out, "PDF", resolution=72)
    return out.getvalue()


def test_a_file_of_pictures_without_ocr_is_an_error_that_says_why_and_where() -> None:
    with pytest.raises(ReadError, match=r"only pictures.*OCR is off \(ocr\)") as caught:
        read_here(_scanned(), "scan.pdf", ocr=False)
    assert caught.value.page == 1
