"""E-books (EPUB): a zip of XHTML, read in the order of its spine. Fonts, styles and scripts are left out."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.tree import Walk, parsed
from mnemic.backends.readers.zips import checked_zip
from mnemic.errors import ReadError

if TYPE_CHECKING:
    from lxml.etree import _Element

_XHTML: Final = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_FONTS: Final = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_FACTS: Final = {
    "creator": "author", "language": "language", "publisher": "publisher", "date": "created", "subject": "keywords",
    "description": "description", "rights": "rights", "identifier": "identifier",
}  # fmt: skip


def read(asked: Asked, telling: Telling) -> None:
    """Read an e-book. Raises `ReadError` for one that is locked or has no text."""
    with checked_zip(asked.path, entities=True) as book:
        _refuse_locked(book)
        path = _package(book)
        package = _xml(book, path)
        _tell_facts(telling, package)
        chapters = list(_spine(package, posixpath.dirname(path)))
        missing = 0
        for chapter in chapters:
            try:
                content = book.read(chapter)
            except KeyError:
                missing += 1
                continue
            Walk(telling, around=False, part=posixpath.basename(chapter)).tell(parsed(content).find("body"))
        telling.fact("chapters", len(chapters))
        if missing:
            telling.note(f"{missing} of {len(chapters)} chapters are not in the file")
    if not telling.blocks:
        raise ReadError("it has no text that can be read")


def _refuse_locked(book: zipfile.ZipFile) -> None:
    try:
        locked = _xml(book, "META-INF/encryption.xml")
    except KeyError:
        return
    methods = {str(each.get("Algorithm")) for each in locked.iter() if str(each.tag).endswith("}EncryptionMethod")}
    if not methods <= set(_FONTS):
        raise ReadError("it is locked by its seller (DRM), and cannot be read")


def _package(book: zipfile.ZipFile) -> str:
    try:
        container = _xml(book, "META-INF/container.xml")
    except KeyError as error:
        raise ReadError("it is damaged: META-INF/container.xml is missing") from error
    for element in container.iter():
        if str(element.tag).endswith("}rootfile") and element.get("full-path"):
            return str(element.get("full-path"))
    raise ReadError("it is damaged: it names no package of chapters")


def _xml(book: zipfile.ZipFile, name: str) -> _Element:
    from lxml import etree  # noqa: PLC0415 - the extra `documents`

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
    root = etree.fromstring(book.read(name), parser)
    if root is None:
        raise ReadError(f"it is damaged: {posixpath.basename(name)} is not XML")
    return root


def _tell_facts(telling: Telling, package: _Element) -> None:
    for element in package.iter():
        name = str(element.tag)
        if not name.startswith("{http://purl.org/dc/elements/1.1/}"):
            continue
        name, value = name.rsplit("}", 1)[-1], (element.text or "").strip()
        if name == "title" and not telling.title:
            telling.title = value
        elif name in _FACTS and value:
            known = telling.facts.get(_FACTS[name])
            telling.fact(_FACTS[name], f"{known}, {value}" if known else value)


def _spine(package: _Element, folder: str) -> Iterator[str]:
    """Yield the names of chapters inside the zip, in reading order."""
    items = {str(each.get("id")): each for each in package.iter() if str(each.tag).endswith("}item")}
    for each in package.iter():
        if not str(each.tag).endswith("}itemref"):
            continue
        item = items.get(str(each.get("idref")))
        if (
            item is not None
            and item.get("media-type") in _XHTML
            and "nav" not in (item.get("properties") or "").split()
        ):
            yield posixpath.normpath(posixpath.join(folder, unquote(str(item.get("href")).split("#")[0])))
