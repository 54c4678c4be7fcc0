"""What Office files say about themselves: the core properties of OOXML (ECMA-376, part 2)."""

from __future__ import annotations

from typing import Any

from mnemic.backends.readers.asked import Telling


def tell_properties(telling: Telling, told: Any) -> None:
    """Tell title, author, times and the like, as python-docx and python-pptx give them."""
    telling.title = told.title or ""
    for name in ("author", "subject", "keywords", "language", "category", "last_modified_by"):
        telling.fact(name, getattr(told, name) or "")
    for name in ("created", "modified"):
        value = getattr(told, name)
        telling.fact(name, value.isoformat() if value is not None else "")
