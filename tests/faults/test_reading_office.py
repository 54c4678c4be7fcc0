"""Files that LibreOffice reads for us: their words come, what they point to does not. Skipped where it is absent."""

from __future__ import annotations

import io
import os
import socket
import threading
import zipfile
from pathlib import Path

import pytest

from mnemic.backends.readers.apart import Readers, find_office
from mnemic.errors import ReadError
from mnemic.ports.reader import Limits

pytestmark = pytest.mark.skipif(not find_office(), reason="LibreOffice (soffice) is not installed")

_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def _odt(body: str) -> bytes:
    out = io.BytesIO()
    spaces = f'xmlns:office="{_OFFICE}:office:1.0" xmlns:text="{_OFFICE}:text:1.0" xmlns:draw="{_OFFICE}:drawing:1.0"'
    spaces += ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    manifest = f'<manifest:manifest xmlns:manifest="{_OFFICE}:manifest:1.0">'
    manifest += (
        '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
    )
    manifest += (
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
    )
    content = f'<office:document-content {spaces} office:version="1.2"><office:body><office:text>{body}'
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        made.writestr("META-INF/manifest.xml", manifest)
        made.writestr("content.xml", f"{content}</office:text></office:body></office:document-content>")
    return out.getvalue()


def _read(content: bytes, name: str, tmp_path: Path) -> list[tuple[str, str]]:
    path = tmp_path / "given"
    path.write_bytes(content)
    readers = Readers(Limits(seconds=120), environment={"PATH": os.environ["PATH"]})
    found = readers.read(path, name=name, told=lambda done, of: None)
    assert "it was read through LibreOffice" in found.notes
    return [(block.kind.value, block.text) for block in found.blocks]


def test_an_open_document_is_read_and_what_it_points_to_is_neither_read_nor_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the words of another file\n")
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as door:
        door.settimeout(60)
        threading.Thread(target=_hear, args=(door, asked), daemon=True).start()
        address = f"http://127.0.0.1:{door.getsockname()[1]}/picture.png"
        body = '<text:h text:outline-level="1">Harbour</text:h><text:p>It was built in 1721.</text:p>'
        body += f'<text:section text:name="s"><text:section-source xlink:href="{secret.as_uri()}"/></text:section>'
        frame = f'<draw:image xlink:href="{address}" xlink:type="simple" xlink:actuate="onLoad"/>'
        body += f'<text:p><draw:frame draw:name="f">{frame}</draw:frame></text:p>'
        found = _read(_odt(body), "harbour.odt", tmp_path)
    assert found == [("heading", "Harbour"), ("paragraph", "It was built in 1721.")]
    assert asked == []


def _hear(door: socket.socket, asked: list[bytes]) -> None:
    try:
        line, _ = door.accept()
    except OSError:
        return  # closed: nobody asked
    asked.append(line.recv(100))
    line.close()


def test_what_libreoffice_cannot_open_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + "PowerPoint Document".encode("utf-16-le"))
    readers = Readers(Limits(seconds=120), environment={"PATH": os.environ["PATH"]})
    with pytest.raises(ReadError, match="LibreOffice cannot open it"):
        readers.read(path, name="a.ppt", told=lambda done, of: None)
