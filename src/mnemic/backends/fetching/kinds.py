"""What the first bytes of a file show, where that can be told apart from what its sender says that it is.

It is not the reader's closer look: it finds the sign-in page that came instead of a PDF, and the type that a server got
wrong. What is not recognised keeps the type that the server gave.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

LOOKED_AT: Final = 2_048
"""Bytes from the beginning that are looked at; a PDF may begin within the first 1,024 (ISO 32000-1, annex H)."""

HTML: Final = "text/html"

_PDF: Final = "application/pdf"
_ZIP: Final = "application/zip"
_OLE: Final = "application/x-ole-storage"
_SIGNS: Final = (
    (b"PK\x03\x04", _ZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLE),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"BM", "image/bmp"),
)
_MARKUP: Final = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,500}?-->\s*)*<(?:!doctype\s+html|html|head|body|title|script)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_BY_SUFFIX: Final = {
    "pdf": "PDF",
    "docx": "Word document", "doc": "Word document", "pptx": "PowerPoint file", "ppt": "PowerPoint file",
    "xlsx": "Excel file", "xls": "Excel file", "epub": "EPUB book", "zip": "zip archive",
    "png": "picture", "jpg": "picture", "jpeg": "picture", "gif": "picture", "webp": "picture", "tif": "picture",
    "tiff": "picture", "bmp": "picture",
    "mp3": "recording", "wav": "recording", "m4a": "recording", "ogg": "recording", "flac": "recording",
}  # fmt: skip
_BY_MEDIA: Final = {
    _PDF: "PDF",
    "application/epub+zip": "EPUB book",
    "application/msword": "Word document",
    _ZIP: "zip archive",
}
_BY_FAMILY: Final = (
    ("application/vnd.openxmlformats-officedocument.wordprocessing", "Word document"),
    ("application/vnd.openxmlformats-officedocument.presentation", "PowerPoint file"),
    ("application/vnd.openxmlformats-officedocument.spreadsheet", "Excel file"),
    ("application/vnd.ms-", "Office file"),
    ("image/", "picture"),
    ("audio/", "recording"),
    ("video/", "film"),
)


def shown(first: bytes) -> str:
    """Return the media type that the first bytes show; "" when they show none of those known here."""
    if b"%PDF-" in first[:1_024]:
        return _PDF
    found = next((media for sign, media in _SIGNS if first.startswith(sign)), "")
    if found:
        return found
    if first[:4] == b"RIFF" and first[8:12] == b"WEBP":
        return "image/webp"
    return HTML if _MARKUP.match(first.removeprefix(b"\xef\xbb\xbf")) else ""


def promised(names: Iterable[str], media: str) -> str:
    """Return what names and a media type promise, where text would be no such thing; "" when they promise nothing."""
    for name in names:
        suffix = name.rpartition(".")[2].lower() if "." in name else ""
        if suffix in _BY_SUFFIX:
            return _BY_SUFFIX[suffix]
    if media == "image/svg+xml":
        return ""
    return _BY_MEDIA.get(media) or next((what for family, what in _BY_FAMILY if media.startswith(family)), "")


def is_text(first: bytes) -> bool:
    """Tell whether bytes are words rather than anything else: no control characters, in UTF-8."""
    try:
        text = first.decode()
    except UnicodeDecodeError as error:
        if error.start < len(first) - 4:  # not only a character cut in two
            return False
        text = first[: error.start].decode()
    return not any(each < " " and each not in "\t\n\r\f" for each in text)


def settled(first: bytes, names: Iterable[str], media: str) -> tuple[str, str]:
    """Return the media type to go by, and what is wrong with the bytes ("" when nothing is).

    The bytes decide. Words instead of what was promised are an error page, a sign-in, a note that something is gone.
    """
    found = shown(first)
    wanted = promised(names, media)
    if wanted and found == HTML:
        return HTML, f"gave a web page instead of a {wanted}: an error, or a page to sign in at"
    if wanted and not found and is_text(first):
        return media, f"gave words instead of a {wanted}, probably an error"
    generic = media in {"", "application/octet-stream", "binary/octet-stream", "application/force-download"}
    by_container = found in {_ZIP, _OLE} and not generic
    return (media if not found or by_container else found), ""
