"""Packing hits into a prompt: the most value for each token first, shown in time order, never over budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.described import line_of
from mnemic.model.document import Locator
from mnemic.model.query import Context, Hit
from mnemic.text import estimate_tokens, shorten

_OPENS: Final = "\u00ab"
_CLOSES: Final = "\u00bb"
"""What stands around the words of a document."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a context: a hit, or the turn beside it that gives it sense, and what it is worth."""

    hit: Hit
    value: float
    order: tuple[object, ...]


def render(hit: Hit) -> str:
    """Return the line of a hit: date, speaker, words, what was corrected of them; a memory's line names its kind.

    What came with a message is shown by what was read from it, unless the words say it already. The line of a passage
    names its place in a document, and sets the words apart as a quotation.
    """
    said = f"{hit.said_at:%Y-%m-%d %H:%M}" if hit.kind == "message" else f"{hit.said_at:%Y-%m-%d}"
    if hit.locator is not None:
        return f"[{said}] {_quoted(hit, hit.locator)}"
    who = " ".join(hit.speaker.split()) if hit.kind == "message" else f"({hit.kind})"  # a name cannot forge a line
    words = " ".join(hit.text.split())
    beside = "".join(f" {line}" for line in map(line_of, hit.attachments) if line not in words)
    return f"[{said}] {who}: {words}{beside}{_noted(hit)}"


def _quoted(hit: Hit, locator: Locator) -> str:
    words, place = _set_apart(hit.text), _set_apart(str(locator))  # names and headings come from outside too
    return f"(document) {place}{_noted(hit)}: {_OPENS}{words}{_CLOSES}"  # the note comes first: what is long is cut


def _set_apart(text: str) -> str:
    """Return words of one line that neither begin nor end a quotation."""
    return " ".join(text.split()).replace(_OPENS, "\u2039").replace(_CLOSES, "\u203a")


def _noted(hit: Hit) -> str:
    return f" [{' '.join(hit.note.split())}]" if hit.note else ""


def pack(lines: Sequence[Line], budget: int) -> Context:
    """Choose the lines of the highest value a token that fit into `budget`, and put them in time order.

    A line counts by the square of its share of the best one's value, so that many short lines that are
    only a little to the point do not crowd out a long one that is.

    A line that is too long for what is left is shortened when at least 40 tokens of it fit, else passed over.
    """
    chosen: list[tuple[tuple[object, ...], str, Hit]] = []
    left = budget
    best = max((line.value for line in lines), default=0.0) or 1.0
    for line in sorted(lines, key=lambda line: -((line.value / best) ** 2) / (40 + estimate_tokens(line.hit.text))):
        text = render(line.hit)
        cost = estimate_tokens(text) + 1
        if cost > left > 40 and cost > budget // 4:
            text = cut_to(text, left - 1)
            cost = estimate_tokens(text) + 1
        if cost > left:
            continue
        left -= cost
        chosen.append((line.order, text, line.hit))
    chosen.sort(key=lambda item: item[0])
    text = "\n".join(line for _, line, _ in chosen)
    return Context(text, tuple(hit for _, _, hit in chosen), estimate_tokens(text), budget)


def cut_to(text: str, tokens: int) -> str:
    """Return a text on one line, shortened to an estimate of `tokens` at most."""
    limit = tokens * 4
    shown = shorten(text, max(limit, 1))
    while estimate_tokens(shown) > tokens and limit > 8:
        limit = limit * 3 // 4
        shown = shorten(text, limit)
    return shown
