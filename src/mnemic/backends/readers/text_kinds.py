"""Which kind of text a text is: by its marks, and by its name where it has none."""

from __future__ import annotations

import csv
import json
import re
from typing import Final

from mnemic.backends.readers.decoding import decoded

_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_FEW: Final = 4
"""Characters without a meaning that even a short text may have."""
_HTML: Final = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_HTML_PARTS: Final = re.compile(r"<(?:p|div|table|ul|ol|h[1-6]|br|span|a)\b[^>]*>", re.IGNORECASE)
_MAIL: Final = re.compile(
    r"(?:from|to|cc|subject|date|received|return-path|message-id|mime-version|delivered-to|reply-to|sender"
    r"|content-type|x-[\w-]+|dkim-signature):\s?\S",
    re.IGNORECASE,
)
_MAIL_CERTAIN: Final = re.compile(r"^(?:from|received|return-path|message-id|subject):", re.IGNORECASE | re.MULTILINE)
_MARKS: Final = (
    re.compile(r"^#{1,6} \S", re.MULTILINE),
    re.compile(r"^(?:```|~~~)", re.MULTILINE),
    re.compile(r"\[[^\]\n]+\]\([^)\s]+\)"),
    re.compile(r"^\|.+\|\s*\n\|[ :|-]+\|\s*$", re.MULTILINE),
    re.compile(r"^\s*[-*+] \S.*\n\s*[-*+] \S", re.MULTILINE),
    re.compile(r"(?:\*\*|__)\S[^*_\n]*(?:\*\*|__)"),
)
_FRONT: Final = re.compile(r"\A---\n(?:[\w-]+:.*\n|[ -].*\n|\n)+---\n")
_DELIMITERS: Final = "\t;,|"


def text_kind(head: bytes, *, whole: bool, hint: str) -> str | None:
    """Return the kind of a text by its beginning, None when it is no text. `hint` is the kind that its name says."""
    text = decoded(head)[0]
    if not whole:
        text = text[: text.rfind("\n") + 1] or text
    if _is_binary(text):
        return None
    start = text.lstrip("\ufeff \t\r\n")
    return (
        _by_marks(start, hint)
        or _by_json(start, hint, whole=whole)
        or (hint if hint in ("markdown", "csv", "tsv", "code", "html") else None)
        or _by_shape(text, named=bool(hint))
        or "text"
    )


def _is_binary(text: str) -> bool:
    sample = text[:16_384]
    return len(_CONTROLS.findall(sample)) + sample.count("\ufffd") > max(_FEW, len(sample) // 50)


def _by_marks(start: str, hint: str) -> str | None:
    if start.startswith("<?xml"):
        return "xhtml" if _HTML.search(start[:2_000]) else "xml"
    if _HTML.match(start) or (start.startswith("<") and _HTML.search(start[:4_000])):
        return "html"
    if start.startswith("<!--") and len(_HTML_PARTS.findall(start[:4_000])) >= 3:
        return "html"
    if hint in ("xml", "eml") and (hint == "eml" or start.startswith("<")):
        return hint if hint == "xml" or _is_mail(start, least=1) else None
    if _is_mail(start, least=3) and hint not in ("markdown", "code"):
        return "eml"
    return None


def _is_mail(start: str, *, least: int) -> bool:
    """Tell whether a text begins with the headers of a mail (RFC 5322)."""
    begin = start.split("\n", 1)[1] if start.startswith("From ") and "\n" in start else start
    headers = re.split(r"\r?\n\r?\n", begin, maxsplit=1)[0]
    lines = [line for line in headers.splitlines() if not line.startswith((" ", "\t"))]
    known = sum(1 for line in lines if _MAIL.match(line))
    fields = sum(1 for line in lines if re.match(r"[\w-]+:", line))
    return known >= least and fields == len(lines) and _MAIL_CERTAIN.search(headers) is not None


def _by_json(start: str, hint: str, *, whole: bool) -> str | None:
    if not start.startswith(("{", "[", '"')) and hint not in ("json", "jsonl"):
        return None
    lines = [line for line in start.split("\n") if line.strip()]
    parsed = [_parses(line) for line in lines[:20]]
    if hint == "jsonl" and sum(parsed) * 2 >= len(parsed):
        return "jsonl"
    if len(parsed) > 1 and all(parsed) and lines[0].lstrip().startswith(("{", "[")):
        return "jsonl"
    if whole and not _parses(start):
        return None
    if hint == "ipynb" or ('"nbformat"' in start and '"cells"' in start):
        return "ipynb"
    return "json" if hint in ("json", "jsonl") or start.startswith(("{", "[")) else None


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _by_shape(text: str, *, named: bool) -> str | None:
    """Look at a text that no name tells of: marks of Markdown, or columns."""
    if _FRONT.match(text):
        return "markdown"
    if not named:
        marks = [pattern.search(text) is not None for pattern in _MARKS]
        if sum(marks) >= 2:
            return "markdown"
        if _parts(text) >= 5:
            return "html"
    return _columns(text) if not named else None


def _parts(text: str) -> int:
    return len(_HTML_PARTS.findall(text)) if "</" in text else 0


def _columns(text: str) -> str | None:
    """Return `csv` or `tsv` when all lines have the same number of columns, three or more lines of them."""
    lines = [line for line in text.split("\n")[:50] if line.strip()]
    if len(lines) < 3:
        return None
    for delimiter in _DELIMITERS:
        widths = {len(row) for row in csv.reader(lines[:-1] if len(lines) > 3 else lines, delimiter=delimiter)}
        if len(widths) == 1 and widths.pop() >= (2 if delimiter == "\t" else 3):
            return "tsv" if delimiter == "\t" else "csv"
    return None
