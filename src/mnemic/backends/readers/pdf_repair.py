"""What is left of a PDF that was cut off: its pages are found by their own marks and put under a new root.

A PDF's table of contents for programs stands at its end (ISO 32000-1, 7.5.4), so that what was cut off takes it along.
Pages that are packed with others into one stream cannot be found so.
"""

from __future__ import annotations

import re
from typing import Final

_PAGE: Final = re.compile(rb"(?:^|[\r\n ])(\d{1,9}) (\d{1,5}) obj\s*<<(?=[^\x00]{0,4000}?/Type\s*/Page[^s\w])")
_OBJECT: Final = re.compile(rb"(?:^|[\r\n ])(\d{1,9}) \d{1,5} obj\b")
_LOCKED: Final = re.compile(rb"/Encrypt\s+\d+ \d+ R|/Encrypt\s*<<")
_MOST: Final = 20_000
"""Pages that are looked for."""


def with_root(content: bytes) -> bytes | None:
    """Return a file that was cut off with a root over the pages in it; None when there are none, or it is locked."""
    if _LOCKED.search(content):
        return None
    last = content.rfind(b"endobj")
    if last < 0:
        return None
    content = content[: last + len(b"endobj")]
    pages = [found for found in map(_page, _PAGE.finditer(content)) if found is not None][:_MOST]
    if not pages:
        return None
    after = max(int(found[1]) for found in _OBJECT.finditer(content)) + 1
    kids = b" ".join(b"%b R" % page for page in pages)
    return content + (
        b"\n%d 0 obj\n<</Type/Pages/Count %d/Kids[%b]/MediaBox[0 0 612 792]>>\nendobj\n"
        b"%d 0 obj\n<</Type/Catalog/Pages %d 0 R>>\nendobj\n"
        b"trailer<</Size %d/Root %d 0 R>>\nstartxref\n0\n%%%%EOF\n"
    ) % (after, len(pages), kids, after + 1, after, after + 2, after + 1)


def _page(found: re.Match[bytes]) -> bytes | None:
    """Return a page's number when the mark is its own, not that of an object behind it."""
    body = found.string[found.end() : found.end() + 4_000].split(b"endobj", 1)[0]
    return b"%b %b" % (found[1], found[2]) if re.search(rb"/Type\s*/Page[^s\w]", body) else None
