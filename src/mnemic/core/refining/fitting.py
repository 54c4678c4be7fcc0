"""What of a batch fits into what a model takes in: counted as the prompt that it makes, not guessed from its parts.

What was said goes before what is known, and messages before topics, which wait for their turn. A message that is too
long alone is shown by its beginning.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from mnemic.core.refining.batch import Batch
from mnemic.core.refining.prompting import prompt_of
from mnemic.text import estimate_tokens

A_TURN: Final = 8
"""Tokens that a chat template puts around a turn."""

_ANYHOW: Final = 10  # of what is known that is shown as long as there are several messages
_LEAST: Final = 200  # characters of a message below which nothing can be drawn from it


def fitted(batch: Batch, *, context: int, max_tokens: int) -> Batch | None:
    """Return as much of a batch as fits beside the reply; None when not even one message does."""
    left: Batch | None = batch
    while left is not None and taken(left, max_tokens) > context:
        left = _smaller(left)
    return left


def taken(batch: Batch, max_tokens: int) -> int:
    """Return the tokens that a batch takes, its reply included."""
    turns = prompt_of(batch, max_tokens=max_tokens).turns
    return max_tokens + sum(estimate_tokens(turn.text) + A_TURN for turn in turns)


def _smaller(batch: Batch) -> Batch | None:
    """Return a batch with a little less of what can be spared most; None when nothing can be."""
    messages, known, topics = batch.messages, batch.known, batch.topics
    if len(topics) > (0 if messages else 1):
        return replace(batch, topics=topics[:-1])
    if len(known) > _ANYHOW:
        return replace(batch, known=known[: max(_ANYHOW, len(known) * 3 // 4)])
    if len(messages) > 1:
        return replace(batch, messages=messages[: len(messages) * 3 // 4])
    if batch.before:
        return replace(batch, before=batch.before[1:])
    if known:
        return replace(batch, known=known[: len(known) // 2])
    if messages and batch.shown // 2 >= _LEAST:
        return replace(batch, shown=batch.shown // 2)
    if topics and len(topics[0].messages) > 1:
        topic = topics[0]
        return replace(batch, topics=(replace(topic, messages=topic.messages[len(topic.messages) // 2 :]),))
    return None
