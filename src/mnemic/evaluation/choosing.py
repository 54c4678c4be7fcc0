"""Which conversations and questions of a file are taken: all, some by name, the first few, or a sample by a seed.

A sample takes so many questions of each category from each conversation (of LongMemEval, where each question has a
conversation of its own: from the whole file). A larger limit with the same seed keeps what a smaller one took.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemic.errors import InputError
from mnemic.evaluation import longmemeval
from mnemic.evaluation.datasets import Conversation, Dataset, Question


@dataclass(frozen=True, slots=True)
class Chosen:
    """The questions that a run asks, by id. `unanswered` are those left out because the file has no gold answer."""

    ids: frozenset[str]
    eligible: int
    unanswered: tuple[str, ...]


def conversations_of(dataset: Dataset, only: Sequence[str], first: int | None) -> Iterator[tuple[int, Conversation]]:
    """Yield conversations with their places in the file: those named in `only` (empty: all), no more than `first`.

    Raises `InputError` for two of one name, for one without words, and for a name in `only` that is not there.
    """
    seen: set[str] = set()
    for number, conversation in enumerate(dataset.read()):
        if only and conversation.id not in only:
            continue
        if len(seen) == first:
            break
        if conversation.id in seen:
            raise InputError("file", f"two conversations are called {conversation.id!r}")
        if not conversation.messages:
            raise InputError("file", f"conversation {conversation.id!r} has no turn with words")
        seen.add(conversation.id)
        yield number, conversation
    lost = [name for name in only if name not in seen]
    if lost:
        raise InputError("only", f"no conversation {lost[0]!r} in the file")


def choose(dataset: Dataset, only: Sequence[str], first: int | None, *, limit: int | None, seed: int) -> Chosen:
    """Return the questions to answer; `limit` None takes all that have a gold answer or are absent."""
    groups: dict[tuple[str, str], list[str]] = {}
    unanswered: list[str] = []
    for _, conversation in conversations_of(dataset, only, first):
        of = "" if dataset.kind == longmemeval.KIND else conversation.id
        for question in conversation.questions:
            if _can_be_scored(question):
                groups.setdefault((of, question.category), []).append(question.id)
            else:
                unanswered.append(question.id)
    drawn = [name for names in groups.values() for name in sorted(names, key=lambda each: _lot(seed, each))[:limit]]
    return Chosen(frozenset(drawn), sum(map(len, groups.values())), tuple(unanswered))


def _can_be_scored(question: Question) -> bool:
    return question.absent or question.answer is not None


def _lot(seed: int, name: str) -> bytes:
    """Return a question's lot: the lowest are drawn first."""
    return hashlib.sha256(f"{seed}/{name}".encode()).digest()
