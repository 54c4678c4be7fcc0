"""One question put to a memory and to its peers, and what is noted of the answers.

A turn counts as found at rank r when the r-th hit is that message, or a memory among whose sources it is; a session
when a hit stands on any of its messages. That is the one definition; `strict` counts messages only.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mnemic.evaluation.datasets import Conversation, Question, Turn
from mnemic.evaluation.metrics import DEPTHS
from mnemic.evaluation.peers import Peer
from mnemic.evaluation.records import MNEMIC, Asked, Found, Packed
from mnemic.model.answer import Answer
from mnemic.model.query import Hit, Results

if TYPE_CHECKING:
    from datetime import datetime

    from mnemic.api import Memory

BUDGETS: Final = (500, 1_000, 2_000, 4_000)
"""Tokens of the contexts that are packed."""

LIMIT: Final = 10
"""Hits of the search that is timed: what a caller gets who does not say otherwise."""

_DAY: Final = 86_400.0


def confidences(results: Results, answer: Answer) -> Mapping[str, float]:
    """Return, by name, what may tell that memory holds an answer: the higher, the surer. The one place that decides it.

    A calibrated score on the results is taken when there is one (`confidence`).
    """
    found = {"top score": results[0].score if len(results) else 0.0, "answer": answer.confidence}
    return found if results.confidence is None else {**found, "calibrated": results.confidence}


def ask(
    memory: Memory, peers: Mapping[str, Peer], conversation: Conversation, question: Question, turns: Mapping[str, Turn]
) -> Asked:
    """Put a question to all; return what they found. `turns` are the conversation's by id."""
    user, when = conversation.id, question.at or conversation.ends
    first, seconds = _timed_search(memory, question, user, when)
    _, again = _timed_search(memory, question, user, when)
    deep = memory.search(question.text, user=user, limit=DEPTHS[-1], reference_time=when)
    packed = {str(budget): _pack(memory, question, user, when, budget) for budget in BUDGETS}
    start = time.perf_counter()
    answer = memory.ask(question.text, user=user, reference_time=when, mode="extractive")
    answering = time.perf_counter() - start
    ours = Found(
        turns=ranks(question.evidence, [turns_of(hit) for hit in deep]),
        sessions=ranks(question.sessions, [[source.session for source in hit.sources] for hit in deep]),
        seconds=seconds,
        again=again,
        strict=ranks(question.evidence, [turns_of(hit) if hit.kind == "message" else [] for hit in deep]),
    )
    return Asked(
        conversation=conversation.id,
        id=question.id,
        text=question.text,
        category=question.category,
        absent=question.absent,
        evidence=question.evidence,
        sessions=question.sessions,
        ages={each: (when - turns[each].said_at).total_seconds() / _DAY for each in question.evidence},
        systems={MNEMIC: ours, **{name: _ask_peer(peer, question, turns) for name, peer in peers.items()}},
        packed=packed,
        scores=confidences(first, answer),
        answered=answer.found,
        ask_seconds=answering,
        same=[hit.id for hit in first] == [hit.id for hit in deep[:LIMIT]],
    )


def ranks(wanted: Sequence[str], hits: Iterable[Iterable[str]]) -> dict[str, int]:
    """Return the rank of the first hit that stands on each of the wanted; those on which none stands are absent."""
    found: dict[str, int] = {}
    for rank, stands_on in enumerate(hits, 1):
        for each in stands_on:
            if each in wanted:
                found.setdefault(each, rank)
    return found


def turns_of(hit: Hit) -> list[str]:
    """Return the ids of the turns that a hit stands on: itself, or the sources of a memory."""
    return [source.external_id for source in hit.sources if source.external_id is not None]


def _timed_search(memory: Memory, question: Question, user: str, when: datetime) -> tuple[Results, float]:
    start = time.perf_counter()
    found = memory.search(question.text, user=user, limit=LIMIT, reference_time=when)
    return found, time.perf_counter() - start


def _pack(memory: Memory, question: Question, user: str, when: datetime, budget: int) -> Packed:
    start = time.perf_counter()
    context = memory.context(question.text, user=user, budget=budget, reference_time=when)
    seconds = time.perf_counter() - start
    held = {turn for hit in context.hits for turn in turns_of(hit)}
    return Packed(context.tokens, tuple(each for each in question.evidence if each in held), seconds)


def _ask_peer(peer: Peer, question: Question, turns: Mapping[str, Turn]) -> Found:
    start = time.perf_counter()
    peer.search(question.text, LIMIT)
    middle = time.perf_counter()
    peer.search(question.text, LIMIT)
    end = time.perf_counter()
    ids = peer.search(question.text, DEPTHS[-1])
    found = ranks(question.evidence, [[each] for each in ids])
    return Found(
        turns=found,
        sessions=ranks(question.sessions, [[turns[each].session] for each in ids]),
        seconds=middle - start,
        again=end - middle,
        strict=found,
    )
