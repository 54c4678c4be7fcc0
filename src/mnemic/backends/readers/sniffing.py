"""What a file is, by its bytes. Its name and what its sender says only help where bytes leave it open: between kinds of
text. Nothing is believed of a name that the bytes do not bear out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mnemic.backends.readers.kinds import (
    ARCHIVE,
    BMP,
    DOC,
    DOCX,
    EPUB,
    GIF,
    HEIC,
    JPEG,
    ODP,
    ODS,
    ODT,
    PDF,
    PNG,
    PPT,
    PPTX,
    PROGRAM,
    RTF,
    SOUND,
    TEXTS,
    TIFF,
    UNPACK,
    VIDEO,
    WEBP,
    XLS,
    XLSB,
    XLSX,
    Kind,
    kind_by_name,
)
from mnemic.backends.readers.text_kinds import text_kind
from mnemic.errors import ReadError

HEAD: Final = 64 << 10
"""Bytes from the beginning that are looked at."""


_MAGIC: Final[tuple[tuple[bytes, Kind], ...]] = (
    (b"\x89PNG\r\n\x1a\n", PNG), (b"\xff\xd8\xff", JPEG), (b"GIF87a", GIF), (b"GIF89a", GIF), (b"II*\0", TIFF),
    (b"MM\0*", TIFF), (b"{\\rtf", RTF), (b"\x1aE\xdf\xa3", VIDEO), (b"FLV\x01", VIDEO), (b"\0\0\x01\xba", VIDEO),
    (b"\0\0\x01\xb3", VIDEO), (b"0&\xb2u\x8ef\xcf\x11", VIDEO), (b"ID3", SOUND), (b"fLaC", SOUND), (b"OggS", SOUND),
    (b"\xff\xfb", SOUND), (b"\xff\xf3", SOUND), (b"\xff\xf1", SOUND), (b"#!AMR", SOUND), (b"\x1f\x8b", ARCHIVE),
    (b"BZh", ARCHIVE), (b"\xfd7zXZ\0", ARCHIVE), (b"7z\xbc\xaf'\x1c", ARCHIVE), (b"Rar!\x1a\x07", ARCHIVE),
    (b"\x28\xb5\x2f\xfd", ARCHIVE), (b"\x7fELF", PROGRAM), (b"MZ\x90\0", PROGRAM), (b"\xcf\xfa\xed\xfe", PROGRAM),
)  # fmt: skip
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PDF_HEAD: Final = 1024  # bytes that may stand before a PDF's own beginning (ISO 32000-1, annex H.3.4.1)


def kind_of(path: Path, name: str, media: str) -> Kind:
    """Return what a file is. Raises `ReadError` for one that is empty or of no known kind."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        raise ReadError("it is empty: it has no bytes")
    return _by_magic(head, path) or _by_text(head, path, name, media)


def _by_magic(head: bytes, path: Path) -> Kind | None:
    if b"%PDF-" in head[:_PDF_HEAD]:
        return PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _of_zip(path)
    if head.startswith(_OLE):
        return _of_ole(path)
    if head.startswith(b"RIFF"):
        return {b"WEBP": WEBP, b"AVI ": VIDEO, b"WAVE": SOUND}.get(head[8:12])
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        if brand in (b"heic", b"heix", b"mif1", b"avif", b"msf1", b"hevc"):
            return HEIC
        return SOUND if brand in (b"M4A ", b"M4B ") else VIDEO
    if head.startswith(b"BM") and b"\0" in head[:32]:
        return BMP
    if head[257:262] == b"ustar":
        return ARCHIVE
    if head[:1] == b"G" and len(head) > 376 and head[188] == head[376] == 0x47:
        return VIDEO  # a transport stream: packets of 188 bytes
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)


def _of_zip(path: Path) -> Kind:
    import zipfile  # noqa: PLC0415 - most files are none, and each is read by a process that has just begun

    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            declared = b""
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 256:
                declared = archive.read("mimetype").strip()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise ReadError("it is cut off or damaged: the directory of what is in it (ZIP) cannot be read") from error
    if declared == EPUB.media.encode() or "META-INF/container.xml" in names:
        return EPUB
    for kind in (ODT, ODS, ODP):
        if declared.startswith(kind.media.encode()):
            return kind
    if "xl/workbook.bin" in names:
        return XLSB
    for folder, kind in (("word/", DOCX), ("ppt/", PPTX), ("xl/", XLSX)):
        if "[Content_Types].xml" in names and any(name.startswith(folder) for name in names):
            return kind
    return Kind("", "application/zip", "a ZIP archive", UNPACK)


def _of_ole(path: Path) -> Kind:
    """Look for the names of streams, which stand in a directory as UTF-16."""
    content = path.read_bytes()

    def has(stream: str) -> bool:
        return stream.encode("utf-16-le") in content

    if has("EncryptedPackage"):
        raise ReadError("it is locked with a password: save it without one, or as PDF")
    if has("__properties_version1.0"):
        return Kind("", "application/vnd.ms-outlook", "an Outlook message (MSG)", ": save it as EML")
    for stream, kind in (("WordDocument", DOC), ("PowerPoint Document", PPT), ("Workbook", XLS), ("Book", XLS)):
        if has(stream):
            return kind
    return Kind("", "application/x-ole-storage", "a file of an old Microsoft program")


def _by_text(head: bytes, path: Path, name: str, media: str) -> Kind:
    hint = kind_by_name(name)
    declared = media.split(";", maxsplit=1)[0].strip().lower()
    if hint is None and declared:
        hint = next((kind for kind in TEXTS.values() if kind.media == declared), None)
    found = text_kind(head, whole=path.stat().st_size <= len(head), hint=hint.name if hint else "")
    if found is None:
        raise ReadError("it is of no kind that is known here: neither text nor a format with a reader")
    return TEXTS[found]
