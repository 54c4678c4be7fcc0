"""Fills the memory of one conversation through the public face, counts what it holds, and opens it again later.

A figure from a memory in which a turn is missing, or a vector, would not be true: there is none then.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.api import Memory
from mnemic.errors import EvaluationError
from mnemic.evaluation.records import Stored

if TYPE_CHECKING:
    from mnemic.config import Settings
    from mnemic.evaluation.datasets import Conversation
    from mnemic.evaluation.journal import Journal
    from mnemic.evaluation.language import Completes
    from mnemic.evaluation.vectors import KeptEmbedder
    from mnemic.model.receipt import Added

_REFINING: Final = 6 * 3_600.0
"""Seconds that the background work of one conversation may take."""


class Filling:
    """Opens memories of conversations, filling those that the journal does not know to be whole."""

    def __init__(
        self,
        settings: Settings,
        kept: KeptEmbedder,
        journal: Journal,
        *,
        refine: bool,
        llm: Completes | None = None,
    ) -> None:
        self._settings = replace(settings, worker=False)
        self._kept = kept
        self._journal = journal
        self._refine = refine
        self._llm = llm

    @contextmanager
    def memory(self, place: Path, conversation: Conversation, reading: Callable[[], None]) -> Iterator[Memory]:
        """Open the memory of a conversation; `reading` is called before one is filled."""
        folder = place / "memory"
        known = conversation.id in self._journal.stored and folder.is_dir()
        if not known:
            shutil.rmtree(place, ignore_errors=True)
            folder.mkdir(parents=True)
        with Memory(folder, settings=self._settings, embedder=self._kept, llm=self._llm) as memory:
            if not known:
                reading()
                before = self._kept.embedded
                taken = store(memory, conversation, refine=self._refine, check=self.check_vectors)
                self._journal.keep_stored(replace(taken, embedded=self._kept.embedded - before))
            check_count(memory, conversation)
            self.check_vectors()
            yield memory

    def check_vectors(self) -> None:
        """Raise what the embedder failed with, if it did."""
        if self._kept.failed is not None:
            raise self._kept.failed


def store(
    memory: Memory, conversation: Conversation, *, refine: bool = True, check: Callable[[], None] | None = None
) -> Stored:
    """Store a conversation session by session and refine it. Raises `EvaluationError` when a turn is not stored.

    `check` is called before refining, which would try for long to embed what could not be embedded.
    """
    lost: list[str] = []
    start = time.perf_counter()
    for session, messages in conversation.sessions:
        receipt = memory.add(messages, user=conversation.id, session=session)
        lost += _lost(receipt, [str(message.id) for message in messages])
    added = time.perf_counter()
    if lost:
        more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        raise EvaluationError(
            f"{len(lost)} of {conversation.messages} turns of {conversation.id!r} are not stored: "
            f"{'; '.join(lost[:5])}{more}. Give each turn an id and a time of its own.",
            conversation=conversation.id,
        )
    if check is not None:
        check()
    if refine:
        memory.jobs.wait(user=conversation.id, timeout=_REFINING)
    drawn = memory.llm.usage(user=conversation.id).total
    return Stored(
        conversation=conversation.id,
        turns=conversation.turns,
        messages=conversation.messages,
        sessions=len(conversation.sessions),
        questions=len(conversation.questions),
        adding=added - start,
        refining=time.perf_counter() - added if refine else 0.0,
        calls=drawn.calls,
        tokens_in=drawn.tokens_in,
        tokens_out=drawn.tokens_out,
        problems=tuple(asdict(problem) for problem in conversation.problems),
    )


def _lost(receipt: Added, ids: list[str]) -> list[str]:
    return [f"{ids[skipped.index]} ({skipped.reason})" for skipped in receipt.skipped]


def check_count(memory: Memory, conversation: Conversation) -> None:
    """Count what the memory holds. Raises `EvaluationError` when it is not what the conversation has."""
    held = memory.stats(user=conversation.id).messages
    if held != conversation.messages:
        raise EvaluationError(
            f"the memory of {conversation.id!r} holds {held} messages where the file has {conversation.messages} with "
            "words: no figure from it would be true. Run again with --fresh.",
            conversation=conversation.id,
        )
