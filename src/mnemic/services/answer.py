"""Answering: a question is searched for, and answered from what was found, with the hits that the answer stands on.

Reads only. A question of two parts ("Who is her mother, and what is her job?") is answered part by part, the name that
the first one gives taking the place of the second one's pronoun.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from functools import partial
from typing import Final

from mnemic.core.answering import NOT_FOUND, THRESHOLD, Draft, compose, parts_of, put_name
from mnemic.core.intake import read_time
from mnemic.errors import InputError
from mnemic.model.answer import Answer
from mnemic.ports.clock import Clock
from mnemic.services.recall import Recall

LIMIT: Final = 30
"""Hits that an answer is drawn from."""

MEMORIES: Final = 10
"""Memories that are looked at besides, for a search leaves out those whose message it has found already."""

EXTRACTIVE: Final = "extractive"
"""The mode of an answer that no model wrote."""


class AnswerService:
    """The use case of `ask`."""

    def __init__(self, recall: Recall, clock: Clock, *, zone: tzinfo, threshold: float = THRESHOLD) -> None:
        self._recall = recall
        self._clock = clock
        self._zone = zone
        self._threshold = threshold

    def ask(
        self,
        question: object,
        *,
        user: object,
        cubes: Sequence[str] | str | None = None,
        as_of: datetime | str | float | None = None,
        reference_time: datetime | str | float | None = None,
    ) -> Answer:
        """Return the answer that memory holds, or one that says it holds none; see `Memory.ask`."""
        if not isinstance(question, str):
            raise InputError("question", f"needs a string, got {type(question).__name__}")
        if not question.strip():
            raise InputError("question", "is empty; say what to answer")
        reference = read_time(reference_time, "reference_time", now=self._clock.now(), zone=self._zone)[0]
        drafts: list[Draft] = []
        for part in parts_of(question):
            named = put_name(part, drafts[0].name) if drafts and drafts[0].name else None
            drafts.append(self._draft(named or part, user, cubes, as_of, reference))
        return _joined(drafts)

    def _draft(
        self,
        question: str,
        user: object,
        cubes: Sequence[str] | str | None,
        as_of: datetime | str | float | None,
        reference: datetime,
    ) -> Draft:
        search = partial(self._recall.search, question, user=user, cubes=cubes, as_of=as_of, reference_time=reference)
        hits = {hit.id: hit for hit in search(limit=LIMIT)}
        hits |= {hit.id: hit for hit in search(limit=MEMORIES, kinds="memory") if hit.id not in hits}
        speakers = list(dict.fromkeys(hit.speaker for hit in hits.values() if hit.speaker))
        return compose(
            question,
            list(hits.values()),
            reference=reference,
            speakers=speakers,
            asker=str(user),
            threshold=self._threshold,
        )


def _joined(drafts: Sequence[Draft]) -> Answer:
    """Return the drafts of a question's parts as one answer; a part that was not found says so."""
    found = [draft for draft in drafts if draft.found]
    if not found:
        return Answer(NOT_FOUND, (), found=False, mode=EXTRACTIVE, confidence=max(draft.confidence for draft in drafts))
    citations = {hit.id: hit for draft in found for hit in draft.citations}
    return Answer(
        text="; ".join(draft.text for draft in drafts),
        citations=tuple(citations.values()),
        found=True,
        mode=EXTRACTIVE,
        confidence=min(draft.confidence for draft in found),
    )
