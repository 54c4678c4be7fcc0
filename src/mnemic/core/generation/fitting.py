"""What of memory and conversation fits beside the question into what a model takes in. The question is never cut.

Counts are `estimate_tokens`, which stays above common tokenizers for prose, and a few tokens for each turn's frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.generation.prompting import Reference
from mnemic.core.packing import cut_to
from mnemic.errors import InputError
from mnemic.model.message import MessageRole
from mnemic.model.query import Context
from mnemic.text import estimate_tokens

A_TURN: Final = 8
"""Tokens that a chat template puts around a turn."""

PROFILE: Final = 300
"""Tokens of profile lines at most."""

_PROFILE_SHARE: Final = 6
_TALK_SHARE: Final = 3
_LEAST: Final = 24  # tokens below which a shortened message says nothing


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens for profile, conversation and memories, beside what cannot be left out."""

    profile: int
    talk: int
    left: int

    @classmethod
    def beside(cls, fixed: Sequence[str], words: str, field: str, *, context: int, reply: int, talks: bool) -> Room:
        """Return the room that rules and frame (`fixed`) and the words to answer leave; `InputError` when none."""
        needed = sum(estimate_tokens(text) + A_TURN for text in fixed)
        own = estimate_tokens(words)
        left = context - reply - needed - own
        if left < 0:
            most = context - reply - needed
            if most <= 0:
                raise InputError(
                    "llm_context",
                    f"is {context:,} tokens, of which {reply:,} are for the reply; the rules alone, with system, "
                    f"persona, style and relationship, take about {needed:,}: shorten these, or raise llm_context",
                )
            raise InputError(
                field,
                f"takes about {own:,} tokens, and the language model has room for {most:,} of them (llm_context "
                f"{context:,}, of which {reply:,} are for the reply); shorten it, or raise llm_context",
            )
        return cls(min(PROFILE, left // _PROFILE_SHARE), left // _TALK_SHARE if talks else 0, left)


def number(context: Context, first: int) -> list[Reference]:
    """Return a context's lines as references that are numbered from `first`."""
    lines = context.text.split("\n") if context.hits else []
    return [
        Reference(place, line.removeprefix("[").replace("]", "", 1), hit)
        for place, (line, hit) in enumerate(zip(lines, context.hits, strict=True), first)
    ]


def shrink(references: Sequence[Reference], budget: int) -> list[Reference]:
    """Leave out the references of the lowest score until the rest fits, and close the gaps in their numbers."""
    kept = list(references)
    total = tokens_of(kept)
    while kept and total > budget:
        worst = min(kept, key=lambda one: one.hit.score)
        kept.remove(worst)
        total -= tokens_of([worst])
    first = references[0].number if references else 1
    return [Reference(place, one.line, one.hit) for place, one in enumerate(kept, first)]


def tokens_of(references: Sequence[Reference]) -> int:
    """Return what lines with their numbers take, line ends included."""
    return sum(estimate_tokens(str(one)) + 1 for one in references)


def fit_talk(said: Sequence[tuple[MessageRole, str]], budget: int) -> list[tuple[MessageRole, str]]:
    """Return the end of a conversation that fits, in order; a message that is too long for half of it is shortened."""
    kept: list[tuple[MessageRole, str]] = []
    left = budget
    for role, text in reversed(said):
        most = min(left - A_TURN, max(budget // 2, _LEAST))
        shown = text if estimate_tokens(text) <= most else cut_to(text, most) if most >= _LEAST else ""
        if not shown:
            break
        left -= estimate_tokens(shown) + A_TURN
        kept.append((role, shown))
    return kept[::-1]
