"""How well the rules read a hundred turns that were written without looking at the rules.

A candidate is right when an expectation of its turn has its subject, its kind of attribute, its polarity and its words;
what is no longer so counts as denied, whether it was denied or closed. Everything else that comes out is wrong.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.core.extraction import extract
from mnemic.model.memory import Candidate
from mnemic.text import stem

PEOPLE = Path(__file__).parents[1] / "data" / "people.json"
ATTRIBUTES = {
    "age": ("identity.age",),
    "allergy": ("health.allergy",),
    "birthday": ("identity.birthday",),
    "birthplace": ("identity.birthplace",),
    "child": ("relation.child",),
    "diet": ("diet.", "habit."),
    "employer": ("work.employer",),
    "event": ("event.", "plan.", "relation.status"),
    "favourite colour": ("preference.favourite.colour",),
    "favourite film": ("preference.favourite.film",),
    "habit": ("habit.", "interest."),
    "health": ("health.",),
    "hobby": ("interest.", "preference.like", "habit."),
    "home": ("home.",),
    "language": ("language.",),
    "like": ("preference.like", "preference.prefers", "interest."),
    "name": ("identity.name",),
    "nickname": ("identity.nickname",),
    "pet": ("possession.pet",),
    "plan": ("plan.",),
    "possession": ("possession.",),
    "relation": ("relation.",),
    "study": ("education.",),
    "work": ("work.",),
}
SMALL = frozenset("a an the in at of to my their his her on".split())


@dataclass(frozen=True, slots=True)
class Score:
    right: int
    wrong: list[str]
    missed: list[str]
    wanted: int

    @property
    def precision(self) -> float:
        return self.right / (self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return 1 - len(self.missed) / self.wanted


def content(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"\w+", text.lower())} - SMALL


def agrees(candidate: Candidate, wanted: dict[str, Any], said_at: datetime) -> bool:
    over = candidate.polarity < 0 or (candidate.valid_to is not None and candidate.valid_to <= said_at)
    asked, got = content(wanted["value"]), content(candidate.value)
    return (
        candidate.subject.casefold() == wanted["subject"].casefold()
        and candidate.attribute.startswith(ATTRIBUTES[wanted["attribute_hint"]])
        and (-1 if over else 1) == wanted["polarity"]
        and (asked <= got | content(candidate.text) or got <= asked)
    )


@pytest.fixture(scope="module")
def score() -> Score:
    right, wanted = 0, 0
    wrong: list[str] = []
    missed: list[str] = []
    for turn in json.loads(PEOPLE.read_text(encoding="utf-8")):
        said_at = datetime.fromisoformat(turn["said_at"])
        found = extract(turn["text"], speaker=turn["speaker"], said_at=said_at)
        wanted += len(turn["expect"])
        for one in found:
            if any(agrees(one, want, said_at) for want in turn["expect"]):
                right += 1
            else:
                wrong.append(f"{turn['text']} -> {one.attribute}={one.value}")
        missed += [
            f"{turn['text']} -> {want}"
            for want in turn["expect"]
            if not any(agrees(one, want, said_at) for one in found)
        ]
    return Score(right, wrong, missed, wanted)


def test_nine_in_ten_statements_are_right(score: Score) -> None:
    assert score.precision >= 0.9, score.wrong


def test_three_quarters_of_what_was_said_is_found(score: Score) -> None:
    assert score.recall >= 0.75, score.missed
