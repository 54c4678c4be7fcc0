"""Asking a language model what a document is about, and what of its reply is believed.

Numbers of sections that were not shown, and empty texts, are left out; what is missing is said by the document itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from mnemic.core.chunking.parents import LIMIT, Section
from mnemic.core.chunking.passage import Passage
from mnemic.core.chunking.placing import Abstract
from mnemic.core.prompts import load
from mnemic.core.replies import items_of, json_in, number_in, one_line
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.text import shorten

SHOWN: Final = 16_000
"""Characters of a document that are shown: about 4,000 tokens, which small models take too."""

_LEAST: Final = 200  # characters of a section
_ONE: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"section": {"type": "integer"}, "summary": {"type": "string"}},
    "required": ["section", "summary"],
    "additionalProperties": False,
}
_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"document": {"type": "string"}, "sections": {"type": "array", "items": _ONE}},
    "required": ["document", "sections"],
    "additionalProperties": False,
}
_TOKENS: Final = 120  # of a summary in the reply
_MOST: Final = 4_096


def abstract_prompt(
    title: str, passages: Sequence[Passage], sections: Sequence[Section], known: Mapping[int, str]
) -> Prompt:
    """Return what to ask about a document; sections with a known summary are shown by that."""
    shown = sections or [Section((), 0, len(passages) - 1)]
    share = max(_LEAST, SHOWN // len(shown))
    lines = [f"Title: {shorten(title, 200)}", ""]
    for number, each in enumerate(shown):
        told = known.get(number)
        name = shorten(" > ".join(each.headings), 200) or "without a heading"
        lines += [f"[{number + 1}]{' NEW' if told is None and sections else ''} {name}"]
        lines += [told if told is not None else _beginning(passages[each.first : each.last + 1], share), ""]
        if sum(map(len, lines)) > 2 * SHOWN:
            break
    new = sum(number not in known for number in range(len(sections)))
    return Prompt(
        (Turn("system", load("abstract")), Turn("user", "\n".join(lines))),
        schema=_SCHEMA,
        max_tokens=min(_MOST, _TOKENS * (new + 2)),
    )


def read_abstract(reply: Reply, plain: Abstract, known: Mapping[int, str]) -> Abstract:
    """Return the summaries that a model gave, and those of the document itself for what it left out.

    Raises `LanguageError` for a reply that is no JSON.
    """
    found = json_in(reply.text, cut=reply.cut, wrapped_as="sections")
    sections = list(plain.sections)
    for each in items_of(found.get("sections")):
        if not isinstance(each, dict):
            continue
        number, told = number_in(each.get("section")) - 1, one_line(each.get("summary"), LIMIT)
        if 0 <= number < len(sections) and number not in known and told:
            sections[number] = told
    whole = found.get("document")
    return Abstract(one_line(whole, LIMIT) if isinstance(whole, str) and whole.strip() else plain.document, sections)


def _beginning(passages: Sequence[Passage], most: int) -> str:
    told: list[str] = []
    left = most
    for each in passages:
        if left <= 0:
            break
        told.append(each.text[:left])
        left -= len(told[-1])
    return "\n".join(told)
