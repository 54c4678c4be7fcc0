"""What every `mnemic.ports.reader.Reader` must do, as plain functions that raise AssertionError.

An outside backend runs `for check in CHECKS: check(reader, folder)` in its own tests; `folder` may be written to. It
relies on nothing but the port, and on plain text, which every reader reads.
"""
# ruff: noqa: S101 - a contract is made of asserts

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from mnemic.errors import ReadError
from mnemic.model.reading import BETWEEN, BlockKind, Reading
from mnemic.ports.reader import Reader

_TEXT: Final = "The harbour was built in 1721.\n\nIt was widened \u2028 twice: \U0001f6a2 \u6e2f.\n"


def check_text(reader: Reader, folder: Path) -> None:
    """Text comes whole and in order, in blocks that have words; its offsets are those of the blocks."""
    found = _read(reader, folder, _TEXT.encode(), "harbour.txt")
    assert found.media == "text/plain", found.media
    assert found.title, "a document needs a title, its name at least"
    assert all(block.text.strip() for block in found.blocks), "no block is empty"
    assert "built in 1721" in found.text
    assert "\U0001f6a2 \u6e2f" in found.text, "characters beyond the first plane are kept"
    for start, block in found.placed():
        assert found.text[start : start + len(block.text)] == block.text
    assert found.text == BETWEEN.join(block.text for block in found.blocks)


def check_table(reader: Reader, folder: Path) -> None:
    """Headers of tables are kept apart from their rows, which are numbered as in the file."""
    found = _read(reader, folder, b"ship,crew\nAnna,12\nBerta,7\n", "crew.csv")
    (table,) = found.blocks
    assert (table.kind, table.header, table.row) == (BlockKind.TABLE, "ship | crew", 2)
    assert table.text == "Anna | 12\nBerta | 7"


def check_name_is_no_proof(reader: Reader, folder: Path) -> None:
    """Files are read by their bytes, and a name that says otherwise is told."""
    found = _read(reader, folder, _TEXT.encode(), "harbour.pdf", media="application/pdf")
    assert found.media == "text/plain"
    assert found.notes, "a wrong ending is told"


def check_refusals(reader: Reader, folder: Path) -> None:
    """Files that cannot be read are a ReadError that names them, not what a library raised and not an empty reading."""
    for content in (
        b"",
        b" \n ",
        b"\0" * 1_000,
        b"\x89PNG\r\n\x1a\ncut off",
        b"PK\x03\x04cut off",
        b"%PDF-1.4 cut off",
    ):
        told = ""
        try:
            _read(reader, folder, content, "broken.bin")
        except ReadError as error:
            told = error.message
        assert "broken.bin" in told, f"{content[:20]!r} was read, or its error does not name it: {told}"


def check_side_by_side(reader: Reader, folder: Path) -> None:
    """Threads may share a reader: each gets what it asked for."""

    def read(number: int) -> str:
        return _read(reader, folder, f"Number {number}.".encode(), f"{number}.txt").text

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(6))) == [f"Number {number}." for number in range(6)]


CHECKS: Final[tuple[Callable[[Reader, Path], None], ...]] = (
    check_text,
    check_table,
    check_name_is_no_proof,
    check_refusals,
    check_side_by_side,
)


def _read(reader: Reader, folder: Path, content: bytes, name: str, *, media: str = "") -> Reading:
    path = folder / name
    path.write_bytes(content)
    return reader.read(path, name=name, media=media, told=lambda _done, _of: None)
