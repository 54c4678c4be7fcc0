"""Sentences by kind, written by hand: what each states in full, and that questions, jokes and secrets state nothing.

An expectation reads "[subject | ][-]attribute: value"; the subject is the speaker, Ann, where none is given, and "-"
marks what is denied.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.core.extraction import extract

STATEMENTS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "statements.json").read_text(encoding="utf-8")
)
SAID = datetime(2025, 6, 18, 12, 0, tzinfo=UTC)


def stated(text: str) -> list[str]:
    found = extract(text, speaker="Ann", said_at=SAID)
    return [
        ("" if one.subject == "Ann" else f"{one.subject} | ")
        + ("-" if one.polarity < 0 else "")
        + f"{one.attribute}: {one.value}"
        for one in found
    ]


@pytest.mark.parametrize("case", STATEMENTS, ids=lambda case: f"{case['kind']}-{case['text'][:40]}")
def test_a_sentence_gives_just_what_it_states(case: dict[str, Any]) -> None:
    assert sorted(stated(case["text"])) == sorted(case["expect"])


def test_half_of_the_sentences_state_nothing() -> None:
    assert len(STATEMENTS) >= 150
    assert sum(not case["expect"] for case in STATEMENTS) >= 60
