"""Plays the demo conversation into a memory, session by session, and tells what was made of it and what that cost."""

from __future__ import annotations

import json
import logging
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.corpus import DEMO
from mnemic import Memory
from mnemic.errors import JobError
from mnemic.importing.locomo import conversations
from mnemic.model.entity import Entity
from mnemic.model.item import Stats
from mnemic.model.language import Usage
from mnemic.model.memory import Memory as MemoryRecord
from mnemic.model.message import StoredMessage

USER: Final = "ann"
_PARTICULARS: Final = re.compile(r"'[^']*'|\"[^\"]*\"|\bm\d+\b")


@dataclass(frozen=True, slots=True)
class Made:
    """What was made of a conversation. `void` are items that the checks left out: what they said, and why."""

    turns: int
    memories: tuple[MemoryRecord, ...]
    messages: Mapping[str, StoredMessage]
    entities: tuple[Entity, ...]
    stats: Stats
    usage: Usage
    void: tuple[tuple[str, str], ...]
    failed: int
    seconds: float

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many items were left out for which reason, without the words that differ."""
        return Counter(_PARTICULARS.sub("…", reason) for _, reason in self.void)

    def as_json(self) -> dict[str, Any]:
        """Return what a reader needs to check it by hand."""
        return {
            "turns": self.turns,
            "seconds": round(self.seconds, 1),
            "failed": self.failed,
            "void": [{"said": said, "reason": reason} for said, reason in self.void],
            "calls": {
                f"{each.purpose} {each.model}": [each.spent.calls, each.spent.tokens_in, each.spent.tokens_out]
                for each in self.usage.by_purpose
            },
            "memories": [_told(memory) for memory in self.memories],
        }


class _Heard(logging.Handler):
    """Keeps what refining logs of the items that it left out."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.void: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg == "item_void":
            self.void.append((str(getattr(record, "said", "")), str(getattr(record, "reason", ""))))


def play(settings: Mapping[str, Any], *, whole: bool = False, sessions: int | None = None) -> Made:
    """Add the conversation and wait until all of it is read: after each session, or with `whole` at its end only.

    `sessions` are the first so many of it; None for all.
    """
    (talk,) = conversations(json.loads(Path(DEMO).read_text("utf-8")))
    with tempfile.TemporaryDirectory() as folder, _listening() as heard, Memory(folder, settings=settings) as memory:
        start = time.perf_counter()
        failed = 0
        for name, _, messages in talk.sessions[:sessions]:
            memory.add(messages, user=USER, session=name)
            if not whole:
                failed += _waited(memory)
        failed += _waited(memory)
        seconds = time.perf_counter() - start
        items = memory.list(user=USER, limit=1000)
        return Made(
            turns=sum(len(messages) for *_, messages in talk.sessions[:sessions]),
            memories=tuple(each for each in items if isinstance(each, MemoryRecord)),
            messages={each.id: each for each in items if isinstance(each, StoredMessage)},
            entities=tuple(memory.entities(user=USER)),
            stats=memory.stats(user=USER),
            usage=memory.llm.usage(user=USER),
            void=tuple(heard.void),
            failed=failed,
            seconds=seconds,
        )


def _waited(memory: Memory) -> int:
    """Wait for all jobs; return 1 when one ended dead."""
    try:
        memory.jobs.wait(user=USER, timeout=3600)
    except JobError:
        return 1
    return 0


@contextmanager
def _listening() -> Iterator[_Heard]:
    heard = _Heard()
    logger = logging.getLogger("mnemic.services.refining")
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(heard)
    try:
        yield heard
    finally:
        logger.removeHandler(heard)
        logger.setLevel(level)


def _told(memory: MemoryRecord) -> dict[str, Any]:
    current = memory.current
    return {
        "id": memory.id,
        "kind": str(memory.kind),
        "subject": memory.subject,
        "attribute": memory.attribute,
        "value": current.value,
        "text": current.text,
        "polarity": current.polarity,
        "from": f"{current.valid_from:%Y-%m-%d}",
        "to": f"{current.valid_to:%Y-%m-%d}" if current.valid_to else "",
        "drawn_by": current.drawn_by,
        "reason": current.reason,
        "versions": [version.text for version in memory.versions],
        "sources": [{"id": source.external_id, "quote": source.quote} for source in current.sources],
    }
