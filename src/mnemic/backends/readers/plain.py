"""Plain text and programs: paragraphs, headings that are underlined or stand alone in capitals, lists, pages that are
parted by form feeds, and source in pieces that are not torn.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.backends.readers.decoding import decoded_for
from mnemic.errors import ReadError
from mnemic.model.reading import BlockKind

_UNDERLINE: Final = re.compile(r"([=\-~^*#+\"'])\1{2,}\s*")
_LEVELS: Final = {"=": 1, "#": 1, "*": 1, "-": 2, "~": 3, "^": 4, "+": 4, '"': 4, "'": 5}
_NUMBERED: Final = re.compile(
    r"((?:\d{1,3}\.)+\d{0,3}|[A-Z]\.(?:\d{1,3}\.?)+|Appendix [A-Z]\.)\s+[A-Z\u0080-\uffff].{0,80}"
)
_ITEM: Final = re.compile(r"\s*(?:[-*+o\u2022\u25e6\u2023\u2013]|\(?(?:\d{1,3}|[a-z])[.)])\s+\S")
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'\\)\]]+[^\s<>\"'\\)\].,;:!?]")
_FULL: Final = 50
"""Characters of a line that was broken only because it was full."""
_CODE: Final = 2_500
"""Characters after which a piece of source ends at the next line that begins at its margin."""


def read(asked: Asked, telling: Telling) -> None:
    """Read a text, or a program's source. Raises `ReadError` when it has no words."""
    text = decoded_for(telling, asked.path.read_bytes()).replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    if not text.strip("\0 \t\n\f\v\x1c\x1d\x1e\x1f\x85\xa0"):
        raise ReadError("it has no text, only spaces or empty bytes")
    if asked.kind.name == "code":
        _tell_code(telling, text)
        return
    for address in _ADDRESS.findall(text[:2_000_000]):
        telling.link(address)
    pages = text.strip("\f").split("\f")
    numbered = len(pages) > 1
    for number, page in enumerate(pages, start=1):
        if numbered:
            telling.at(number, len(pages))
        tell_text(telling, page, page=number if numbered else None)


def tell_text(telling: Telling, text: str, *, page: int | None = None) -> None:
    """Tell a text's paragraphs, headings and lists."""
    for paragraph in re.split(r"\n(?:[ \t]*\n)+", text.strip("\n")):
        lines = [line.rstrip() for line in paragraph.expandtabs(8).split("\n")]
        lines, level, heading = _headed(lines)
        if heading:
            if not telling.title and level == 1:
                telling.title = heading
            telling.block(BlockKind.HEADING, heading, level=level, page=page)
        if lines:
            kind, body = _body(lines)
            telling.block(kind, body, page=page)


def _headed(lines: list[str]) -> tuple[list[str], int, str]:
    """Take a heading off a paragraph: the lines that are left, its level, its words."""
    if len(lines) > 2 and _is_underline(lines[0]) and _is_underline(lines[2]) and lines[1].strip():
        return lines[3:], 1, lines[1].strip()  # a line above too, as in reStructuredText
    if len(lines) > 1 and _is_underline(lines[1]) and 0 < len(lines[0].strip()) <= len(lines[1]) + 4:
        return lines[2:], _LEVELS[lines[1].strip()[0]], lines[0].strip()
    alone = lines[0].strip()
    if len(lines) > 1 or not alone or len(alone) > 90:
        return lines, 0, ""
    if numbered := _NUMBERED.fullmatch(alone):
        if not alone.endswith((".", ":", ",", ";")) and "  " not in alone[len(numbered[1]) + 2 :]:
            return [], min(6, numbered[1].strip(".").count(".") + 1), alone
    elif alone.isupper() and 3 < len(alone) <= 60 and alone[0].isalpha() and not alone.endswith((".", ",")):
        return [], 2, alone
    return lines, 0, ""


def _is_underline(line: str) -> bool:
    return _UNDERLINE.fullmatch(line) is not None


def _body(lines: list[str]) -> tuple[BlockKind, str]:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    lines = [line[margin:] for line in lines]
    if len(lines) > 1 and _ITEM.match(lines[0]) and all(_ITEM.match(each) or each[:1] == " " for each in lines):
        return BlockKind.LIST, _items(lines)
    if _ITEM.match(lines[0]) and all(each[:1] == " " for each in lines[1:]):
        return BlockKind.LIST, " ".join(line.strip() for line in lines)
    full = all(len(line) >= _FULL and "   " not in line.strip() for line in lines[:-1])
    if full and not any(line[:1] == " " for line in lines[1:]):
        return BlockKind.PARAGRAPH, " ".join(line.strip() for line in lines)
    return BlockKind.PARAGRAPH, "\n".join(lines)


def _items(lines: list[str]) -> str:
    """Put what goes on in the next line behind its item."""
    items: list[str] = []
    for line in lines:
        if _ITEM.match(line) or not items:
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    return "\n".join(items)


def _tell_code(telling: Telling, text: str) -> None:
    """Tell source in pieces that end where something new begins at the margin after an empty line."""
    piece: list[str] = []
    size = 0
    before = ""
    for line in text.split("\n"):
        fresh = not before.strip() and line[:1] not in ("", " ", "\t", "}", ")", "]")
        if piece and size > _CODE and fresh:
            telling.block(BlockKind.CODE, "\n".join(piece))
            piece, size = [], 0
        piece.append(line)
        size += len(line) + 1
        before = line
    telling.block(BlockKind.CODE, "\n".join(piece))
