"""Asks about what was planted: fills questions and answers, and names the turns that hold the answer.

An answer may have holes of its own: `{on:label-3}` is the day three days before the labelled turn, `{gap:one:two}` the
time between two, `{first:one:two}` the name of the earlier one, `{items}` all items of a list.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from bench.assistants.composing import Person, Told
from bench.assistants.values import Ask, Message, Question
from bench.assistants.wording import Deck, fill, form, written

NOT_THERE: Final = "Not in memory."
_DATED: Final = re.compile(r"\{(on|gap|first):(\w+)(?::(\w+))?([+-]\d+)?(?:/([+-]\d+))?\}")
_NEAR: Final = 0.4
"""The share of questions that recall the evidence by its own words, where there are such."""
_OURS: Final = 0.6
"""The share of the other questions that the user asks."""


def ask(
    person: Person, told: Told, ask_: Ask, spoken: Sequence[Message], deck: Deck, chance: random.Random
) -> Question:
    """Return the question with its evidence, asked some days after the last session."""
    mine = [turn for turn in spoken if turn.thread == told.thread.name and turn.line.label]
    evidence = [turn for turn in mine if ask_.labels == ["all"] or turn.line.label in ask_.labels]
    if bool(evidence) == (ask_.category == "absent"):
        raise ValueError(f"evidence of {told.thread.name} does not fit {ask_.category}: {ask_.labels}")
    values = {**told.values, **person.forms, "n": str(len(told.items)), "items": ", ".join(map(form, told.items))}
    at = spoken[-1].at + timedelta(days=chance.randint(1, 20), minutes=chance.randrange(600))
    answer = NOT_THERE if ask_.category == "absent" else _dated(ask_.answer, told, mine)
    return Question(
        conversation=person.conversation,
        question=fill(_asked(ask_, evidence, chance), values, deck, at),
        evidence=[turn.id for turn in evidence],
        category=ask_.category,
        answer=fill(answer, values, deck, at),
        at=at,
        thread=told.thread.name,
        missing=[fill(word, values, deck, at) for word in ask_.missing],
    )


def _asked(ask_: Ask, evidence: Sequence[Message], chance: random.Random) -> str:
    """Return a question in words of the evidence, or in quite other words."""
    own = [question for turn in evidence[:1] if len(ask_.labels) == 1 for question in turn.line.near]
    near = [*ask_.near, *own]
    if near and chance.random() < _NEAR:
        return chance.choice(near)
    return chance.choice(ask_.me if not ask_.them or chance.random() < _OURS else ask_.them)


def _dated(text: str, told: Told, turns: Sequence[Message]) -> str:
    times: dict[str, datetime] = {turn.line.label: turn.at for turn in turns}

    def one(hole: re.Match[str]) -> str:
        kind, label, other, offset, other_offset = hole.groups()
        here = times[label] + timedelta(days=int(offset or 0))
        if kind == "on":
            return written(here)
        there = times[other] + timedelta(days=int(other_offset or 0))
        if kind == "first":
            return told.thread.names[label if here < there else other]
        return _gap(abs((there.date() - here.date()).days))

    return _DATED.sub(one, text)


def _gap(days: int) -> str:
    if days < 21:
        return f"{days} days"
    return f"about {round(days / 7)} weeks" if days < 120 else f"about {round(days / 30.4)} months"
