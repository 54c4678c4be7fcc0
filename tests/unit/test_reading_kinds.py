"""What a file is, by its bytes: names help only where bytes leave it open, and a name that is wrong is told."""

from __future__ import annotations

import io
import zipfile

import pytest

from mnemic.errors import ReadError
from tests.unit.made_pdf import MadePage, made_pdf
from tests.unit.reading_here import read_here


@pytest.mark.parametrize(
    "content, name, media",
    [
        (b"# Title\n\nText with **bold** words.\n", "unnamed", "text/markdown"),
        (b"# Title\n", "README.md", "text/markdown"),
        (b"<!DOCTYPE html><html><body><p>Hello there.</p></body></html>", "unnamed", "text/html"),
        (b"<p>One</p><p>Two</p><div>Three</div>\n<p>Four</p><p>Five</p>", "unnamed", "text/html"),
        (b'{"a": 1}\n{"a": 2}\n', "unnamed", "application/jsonl"),
        (b'{"a": 1,\n "b": 2}', "unnamed", "application/json"),
        (b"a,b,c\n1,2,3\n4,5,6\n7,8,9\n", "unnamed", "text/csv"),
        (b"a\tb\n1\t2\n3\t4\n", "unnamed", "text/tab-separated-values"),
        (b"Well, this is prose, with commas.\nAnd more, of it.\nThe end.\n", "unnamed", "text/plain"),
        (b"From: a@b.example\nTo: c@d.example\nSubject: Hi\n\nHello.\n", "unnamed", "message/rfc822"),
        (b"Subject: only this looks like a mail\n\nText.\n", "notes.txt", "text/plain"),
        (b'<?xml version="1.0"?><note><to>Ann</to></note>', "unnamed", "application/xml"),
        (b"def f():\n    return 1\n", "a.py", "text/plain"),
    ],
)
def test_text_without_a_telling_name_is_known_by_its_marks(content: bytes, name: str, media: str) -> None:
    assert read_here(content, name).media == media


def test_a_file_with_a_wrong_ending_is_read_by_what_it_is_and_that_is_told() -> None:
    found = read_here(made_pdf([MadePage().text("Hello there.")]), "report.docx")
    assert (found.media, found.text) == ("application/pdf", "Hello there.")
    assert list(found.notes) == [
        "its name says that it is a Word document (DOCX); by its content it is a PDF, and was read as that"
    ]


def test_text_with_the_name_of_a_pdf_is_read_as_text() -> None:
    found = read_here(b"Only words.", "report.pdf")
    assert (found.media, found.text) == ("text/plain", "Only words.")
    assert "its name says that it is a PDF" in found.notes[0]


def _zip(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return out.getvalue()


@pytest.mark.parametrize(
    "content, why",
    [
        (b"\0\0\0\x20ftypisom" + bytes(64), "a video.*videos are not read"),
        (b"\x1aE\xdf\xa3" + bytes(64), "a video"),
        (b"RIFF\0\0\0\0AVI LIST" + bytes(64), "a video"),
        (b"RIFF\0\0\0\0WAVEfmt " + bytes(64), "a sound recording"),
        (b"ID3\x04" + bytes(64), "a sound recording"),
        (b"\x7fELF" + bytes(64), "a program"),
        (b"\x1f\x8b\x08" + bytes(64), "an archive.*unpack it"),
        (_zip(readme=b"hello"), "a ZIP archive.*unpack it"),
        (b"PK\x03\x04" + bytes(64), "cut off or damaged"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + "EncryptedPackage".encode("utf-16-le"),
            "locked with a password",
        ),
        (b"\0\0\0\x20ftypheic" + bytes(64), "HEIC.*JPEG or PNG"),
    ],
)
def test_what_is_not_read_is_refused_with_what_it_is(content: bytes, why: str) -> None:
    with pytest.raises(ReadError, match=why):
        read_here(content, "a.bin")


def test_a_file_of_office_without_libreoffice_says_what_is_needed() -> None:
    content = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + "WordDocument".encode("utf-16-le")
    with pytest.raises(ReadError, match=r"an old Word document \(DOC\), which needs LibreOffice"):
        read_here(content, "a.doc")
