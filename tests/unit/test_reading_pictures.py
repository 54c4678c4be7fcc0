"""Pictures and scanned pages: the words in them, in the order in which they are read; and pictures that are bombs."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image, ImageDraw, ImageFont

from mnemic.backends.readers.ocr import in_order, rows_of
from mnemic.errors import ReadError
from mnemic.model.seen import Line
from tests.unit.reading_here import read_here


def _picture(words: dict[tuple[int, int], str], size: tuple[int, int] = (640, 360)) -> Image.Image:
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    for place, text in words.items():
        draw.text(place, text, fill="black", font=ImageFont.load_default(26))
    return picture


def _saved(picture: Image.Image, form: str, **more: object) -> bytes:
    out = io.BytesIO()
    picture.save(out, form, **more)
    return out.getvalue()


@pytest.fixture(scope="module")
def scan() -> bytes:
    return _saved(_picture({(30, 40): "Invoice 4711", (30, 90): "Total 93.50 EUR", (30, 250): "Husum harbour"}), "PDF")


def test_a_scanned_page_is_read_from_its_picture(scan: bytes) -> None:
    found = read_here(scan, "scan.pdf")
    assert [(block.text, block.page, block.seen) for block in found.blocks] == [
        ("Invoice 4711\nTotal 93.50 EUR", 1, True),
        ("Husum harbour", 1, True),
    ]
    assert list(found.notes) == ["words of page 1 were read from pictures (OCR)"]


def test_a_picture_tells_its_properties_and_that_ocr_is_off() -> None:
    exif = Image.Exif()
    exif[272] = "Camera 3000"
    exif.get_ifd(0x8769)[36867] = "2024:03:05 10:15:00"
    found = read_here(_saved(_picture({}), "JPEG", exif=exif), "photo.jpg", ocr=False)
    assert dict(found.metadata) == {
        "width": "640",
        "height": "360",
        "format": "JPEG",
        "created": "2024-03-05T10:15:00",
        "camera": "Camera 3000",
    }
    assert (found.media, found.title, found.blocks) == ("image/jpeg", "photo", ())
    assert "OCR is off" in found.notes[0]


def test_a_picture_with_more_pixels_than_it_may_have_is_refused_before_they_are_unpacked() -> None:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    content = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )
    with pytest.raises(ReadError, match="60,000 by 60,000 pixels, and 100 million are the limit"):
        read_here(content, "a.png")


def test_a_picture_that_is_cut_off_is_an_error() -> None:
    content = _saved(_picture({(30, 40): "words"}), "PNG")
    with pytest.raises(ReadError, match="damaged or cut off"):
        read_here(content[: len(content) // 2], "a.png")


def _line(text: str, left: float, top: float, right: float) -> Line:
    return Line(text, 0.9, (left, top, right, top + 0.02))


def test_columns_are_read_one_after_the_other_and_the_title_first() -> None:
    left = [_line(f"left line number {at}", 0.05, 0.2 + at * 0.03, 0.45) for at in range(4)]
    right = [_line(f"right line number {at}", 0.55, 0.2 + at * 0.03, 0.95) for at in range(4)]
    title = _line("A title over both of the columns", 0.1, 0.05, 0.9)
    mixed = [line for pair in zip(right, left, strict=True) for line in pair]
    assert [line.text for line in in_order([*mixed, title])] == [line.text for line in (title, *left, *right)]


def test_a_table_in_a_picture_is_read_by_rows() -> None:
    cells = [
        _line(f"{row}{column}", 0.1 + 0.3 * column, 0.1 + 0.04 * row, 0.15 + 0.3 * column)
        for column in (0, 1)
        for row in (0, 1, 2)
    ]
    ordered = in_order(cells)
    assert [line.text for line in ordered] == ["00", "01", "10", "11", "20", "21"]
    assert [[line.text for line in row] for row in rows_of(ordered)] == [["00", "01"], ["10", "11"], ["20", "21"]]
