"""Pairs that only a language model can tell apart: statements close in meaning that rules do not join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mnemic.core.comparing import comparing_prompt, standings
from mnemic.core.refining.batch import Item
from mnemic.core.refining.fitting import A_TURN
from mnemic.model.language import Prompt, Reply
from mnemic.model.memory import Memory
from mnemic.text import estimate_tokens

CLOSE: Final = 0.8
"""Cosine of two statements from which they may be about the same thing."""

MOST: Final = 20
"""Pairs in one call; the closest."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A new statement (its place among the items of a batch) and a memory that is close to it."""

    place: int
    item: Item
    memory: Memory
    cosine: float


def pairs_prompt(pairs: Sequence[Pair]) -> Prompt:
    """Return what the model is asked about pairs."""
    return comparing_prompt([(pair.memory.current, pair.item.candidate) for pair in pairs])


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
    found = list(items)
    for place, tie in standings(reply, len(pairs)).items():
        if tie != "different":
            pair = pairs[place]
            found[pair.place] = replace(found[pair.place], tie=tie, known=pair.memory)
    return found
