"""Which memories a reply without references stands on: those that hold all of its words.

Small models seldom cite. A reply is taken for what memory holds only when every word of it that the question did not
bring stands in a few memories, dates and names included; a paraphrase is not recognised, so that nothing made up is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.core.generation.prompting import Reference
from mnemic.text import content_terms

MEMORIES: Final = 3
"""Memories that such a reply may stand on together."""

_TELLING: Final = 4  # letters of a word that says more than yes or no


def standing_on(reply: str, question: str, references: Sequence[Reference]) -> tuple[int, ...]:
    """Return the numbers of the memories that hold all words of a reply; none when some word is in no few of them."""
    asked = set(content_terms(question))
    missing = set(content_terms(reply)) - asked
    if not any(_tells(term) for term in missing):
        return ()
    held = {reference.number: set(content_terms(reference.line)) for reference in references}
    chosen: list[int] = []
    while missing and held and len(chosen) < MEMORIES:
        best = max(held, key=lambda number: len(missing & held[number]))  # of equals the first one
        found = missing & held.pop(best)
        if not found:
            break
        missing -= found
        chosen.append(best)
    return () if missing else tuple(chosen)


def _tells(term: str) -> bool:
    return len(term) >= _TELLING or not term.isascii() or any(char.isdigit() for char in term)
