"""Pairs that only a language model can tell apart: statements close in meaning that rules do not join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from mnemic.core.prompts import load, on_one_line
from mnemic.core.refining.batch import TIES, Item, Tie
from mnemic.core.refining.fitting import A_TURN
from mnemic.core.replies import json_in, number_in
from mnemic.model.language import Prompt, Reply, Turn
from mnemic.model.memory import Memory
from mnemic.text import estimate_tokens

CLOSE: Final = 0.8
"""Cosine of two statements from which they may be about the same thing."""

MOST: Final = 20
"""Pairs in one call; the closest."""

_ENTRY: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"pair": {"type": "string"}, "change": {"type": "string", "enum": [*TIES[1:], "different"]}},
    "required": ["pair", "change"],
    "additionalProperties": False,
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"pairs": {"type": "array", "items": _ENTRY}},
    "required": ["pairs"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A new statement (its place among the items of a batch) and a memory that is close to it."""

    place: int
    item: Item
    memory: Memory
    cosine: float


def pairs_prompt(pairs: Sequence[Pair]) -> Prompt:
    """Return what the model is asked about pairs."""
    lines = [line for number, pair in enumerate(pairs, 1) for line in _lines(number, pair)]
    turns = (Turn("system", load("pairs")), Turn("user", "\n".join(lines)))
    return Prompt(turns, schema=SCHEMA, max_tokens=64 + 24 * len(pairs))


def pairs_in(pairs: Sequence[Pair], context: int) -> Sequence[Pair]:
    """Return the first pairs, as many as a model takes in at once."""
    kept = pairs
    while kept:
        prompt = pairs_prompt(kept)
        if prompt.max_tokens + sum(estimate_tokens(turn.text) + A_TURN for turn in prompt.turns) <= context:
            break
        kept = kept[:-1]
    return kept


def tied(items: Sequence[Item], pairs: Sequence[Pair], reply: Reply) -> list[Item]:
    """Return the items with the ties that the model told. Raises `LanguageError` for a reply that is no JSON."""
    told = json_in(reply.text, cut=reply.cut, wrapped_as="pairs").get("pairs")
    found = list(items)
    for entry in told if isinstance(told, list) else []:
        number = number_in(entry.get("pair")) if isinstance(entry, dict) else 0
        tie = entry.get("change") if number else None
        if tie in TIES[1:] and number <= len(pairs):
            pair = pairs[number - 1]
            ties: Tie = tie
            found[pair.place] = replace(found[pair.place], tie=ties, known=pair.memory)
    return found


def _lines(number: int, pair: Pair) -> list[str]:
    current, candidate = pair.memory.current, pair.item.candidate
    return [
        f"p{number} known (since {current.valid_from:%Y-%m-%d}): {on_one_line(current.text, 300)}",
        f"   new (since {candidate.valid_from:%Y-%m-%d}): {on_one_line(candidate.text, 300)}",
    ]
