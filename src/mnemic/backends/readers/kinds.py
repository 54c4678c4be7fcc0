"""The kinds of files that are known: what each is called, its type, what to do with one that is not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: `name` finds its reader, `media` is its type, `told` names it for people.

    `hint` says what to do with one that is not read; `target` is what LibreOffice is to make of it.
    """

    name: str
    media: str
    told: str
    hint: str = ""
    target: str = ""


_WORD: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_SLIDES: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_SHEET: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_OPEN: Final = "application/vnd.oasis.opendocument."

PDF: Final = Kind("pdf", "application/pdf", "a PDF")
DOCX: Final = Kind("docx", _WORD, "a Word document (DOCX)")
PPTX: Final = Kind("pptx", _SLIDES, "a PowerPoint file (PPTX)")
XLSX: Final = Kind("xlsx", _SHEET, "an Excel workbook (XLSX)")
EPUB: Final = Kind("epub", "application/epub+zip", "an e-book (EPUB)")
DOC: Final = Kind("office", "application/msword", "an old Word document (DOC)", target="docx")
XLS: Final = Kind("office", "application/vnd.ms-excel", "an old Excel workbook (XLS)", target="xlsx")
PPT: Final = Kind("office", "application/vnd.ms-powerpoint", "an old PowerPoint file (PPT)", target="pptx")
RTF: Final = Kind("office", "application/rtf", "a rich text file (RTF)", target="docx")
XLSB: Final = Kind(
    "office", "application/vnd.ms-excel.sheet.binary.macroenabled.12", "a binary Excel workbook (XLSB)", target="xlsx"
)
ODT: Final = Kind("office", _OPEN + "text", "an OpenDocument text (ODT)", target="docx")
ODS: Final = Kind("office", _OPEN + "spreadsheet", "an OpenDocument spreadsheet (ODS)", target="xlsx")
ODP: Final = Kind("office", _OPEN + "presentation", "an OpenDocument presentation (ODP)", target="pptx")
HTML: Final = Kind("html", "text/html", "a web page (HTML)")
XHTML: Final = Kind("xhtml", "application/xhtml+xml", "a web page (XHTML)")
XML: Final = Kind("xml", "application/xml", "an XML file")
MARKDOWN: Final = Kind("markdown", "text/markdown", "a Markdown file")
TEXT: Final = Kind("text", "text/plain", "a text file")
CODE: Final = Kind("code", "text/plain", "a program's source")
CSV: Final = Kind("csv", "text/csv", "a CSV file")
TSV: Final = Kind("tsv", "text/tab-separated-values", "a TSV file")
JSON: Final = Kind("json", "application/json", "a JSON file")
JSONL: Final = Kind("jsonl", "application/jsonl", "a JSON Lines file")
NOTEBOOK: Final = Kind("ipynb", "application/x-ipynb+json", "a Jupyter notebook")
EML: Final = Kind("eml", "message/rfc822", "a mail (EML)")
PNG: Final = Kind("picture", "image/png", "a picture (PNG)")
JPEG: Final = Kind("picture", "image/jpeg", "a picture (JPEG)")
GIF: Final = Kind("picture", "image/gif", "a picture (GIF)")
WEBP: Final = Kind("picture", "image/webp", "a picture (WebP)")
TIFF: Final = Kind("picture", "image/tiff", "a picture (TIFF)")
BMP: Final = Kind("picture", "image/bmp", "a picture (BMP)")

UNPACK: Final = ": unpack it and add what is in it"
VIDEO: Final = Kind("", "video/*", "a video", ": videos are not read; add what is said in it as a text")
SOUND: Final = Kind("", "audio/*", "a sound recording", " as a document: add it to a message, or its words as a text")
ARCHIVE: Final = Kind("", "application/octet-stream", "an archive", UNPACK)
PROGRAM: Final = Kind("", "application/octet-stream", "a program")
HEIC: Final = Kind("", "image/heic", "a picture in HEIC or AVIF", ": save it as JPEG or PNG")

TEXTS: Final[Mapping[str, Kind]] = {
    kind.name: kind for kind in (HTML, XHTML, XML, MARKDOWN, TEXT, CODE, CSV, TSV, JSON, JSONL, NOTEBOOK, EML)
}
_ENDINGS: Final[Mapping[str, Kind]] = {
    "pdf": PDF, "docx": DOCX, "docm": DOCX, "dotx": DOCX, "pptx": PPTX, "pptm": PPTX, "ppsx": PPTX, "xlsx": XLSX,
    "xlsm": XLSX, "xlsb": XLSB, "epub": EPUB, "doc": DOC, "dot": DOC, "xls": XLS, "ppt": PPT, "pps": PPT, "rtf": RTF,
    "odt": ODT, "ott": ODT, "ods": ODS, "odp": ODP, "html": HTML, "htm": HTML, "xhtml": XHTML, "xml": XML,
    "svg": XML, "rss": XML, "atom": XML, "md": MARKDOWN,
    "markdown": MARKDOWN, "mdx": MARKDOWN, "txt": TEXT, "text": TEXT, "log": TEXT, "rst": TEXT, "csv": CSV, "tsv": TSV,
    "tab": TSV, "json": JSON, "jsonl": JSONL, "ndjson": JSONL, "ipynb": NOTEBOOK, "eml": EML, "png": PNG, "jpg": JPEG,
    "jpeg": JPEG, "gif": GIF, "webp": WEBP, "tif": TIFF, "tiff": TIFF, "bmp": BMP,
}  # fmt: skip
_CODE_ENDINGS: Final = frozenset(
    """c cc cpp cs css go h hpp ini java js jsx kt lua m php pl proto ps1 py pyi r rb rs scala sh sql swift tcl toml ts
    tsx vb yaml yml""".split()
)


def kind_by_name(name: str) -> Kind | None:
    """Return what a name says that a file is, None when it says nothing that is known."""
    ending = PurePath(name.replace("\\", "/")).suffix.lower().lstrip(".")
    return _ENDINGS.get(ending) or (CODE if ending in _CODE_ENDINGS else None)
