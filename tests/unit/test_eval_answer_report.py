"""The report and the tables of answers: every condition, every plot, and nothing that a model said is obeyed."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from mnemic.evaluation.answer_running import AnswerRun, Answers, Posed
from mnemic.evaluation.answer_summing import answers_document
from mnemic.evaluation.answered import ASK, EXTRACTIVE, FULL, MNEMIC, NONE, Answered, Failed, Judged
from mnemic.evaluation.choosing import Chosen
from mnemic.evaluation.datasets import Dataset, Question
from mnemic.shells.cli.eval_answer_report import page
from mnemic.shells.cli.eval_answer_screen import tables

WHEN = datetime(2023, 6, 1, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script> \x1b[31m https://example.org"
QUESTIONS = (
    Question("c/1", "When?", "temporal", evidence=("m1",), answer="7 May 2023"),
    Question("c/2", f"Where? {HOSTILE}", "single-hop", evidence=("m2",), answer="Porto"),
    Question("c/3", "Who?", "adversarial", absent=True),
)


def answered(question: str, condition: str, text: str, **more: Any) -> Answered:
    return Answered("c", question, condition, text=text, seconds=1.5, tokens_in=100, tokens_out=5, calls=1, **more)


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    given = [
        answered("c/1", NONE, "not mentioned", withheld=True),
        answered("c/2", NONE, HOSTILE),
        answered("c/3", NONE, "Bob"),
        *(Answered("c", each.id, FULL, fits=False, context=20_000) for each in QUESTIONS),
        answered("c/1", MNEMIC, "7 May 2023", context=400, held=("m1",), finding=0.2),
        answered("c/3", MNEMIC, "not mentioned", context=380, withheld=True, finding=0.3),
        *(answered(each.id, ASK, "Porto") for each in QUESTIONS),
        *(Answered("c", each.id, EXTRACTIVE, text="Porto", seconds=0.1) for each in QUESTIONS),
    ]
    verdicts = [Judged("c/1", MNEMIC, "j", right=True, reason=""), Judged("c/2", NONE, "j", right=None, reason="?")]
    about = {
        "conditions": [NONE, FULL, MNEMIC, ASK, EXTRACTIVE], "judge": "j", "began": "b", "ended": "e", "mnemic": "0",
        "python": "3", "machine": "m", "resumed": True,
        "depends": {"the model": "small", "the code": ["0", "abc"], "the budget": 500, "the settings": {}},
    }  # fmt: skip
    return answers_document(
        AnswerRun(
            dataset=Dataset("locomo", "file.json", "0" * 64, 1, 9, lambda: iter(()), ("temporal", "single-hop")),
            chosen=Chosen(frozenset(each.id for each in QUESTIONS), 9, ()),
            answers=Answers(limit=1, price_in=1.0, price_out=2.0),
            stored=(),
            posed=tuple(Posed("c", each, WHEN) for each in QUESTIONS),
            answered={each.key: each for each in given},
            judged={each.key: each for each in verdicts},
            failed=(Failed("c/2", MNEMIC, "answer", HOSTILE),),
            about=about,
        )
    )


def test_the_report_has_every_plot_and_table_and_stands_alone(found: dict[str, Any]) -> None:
    told = page(found)
    for heading in (
        "By category", "By condition", "Answers by category", "F1 against tokens", "Time of one question", "Judged",
        "What a question takes", "Difference", "Failed (1)", "Every answer", "What this is",
    ):  # fmt: skip
        assert f"<h2>{heading}</h2>" in told, heading
    assert told.count("<svg") == 3
    assert not re.search(r"@import|url\(|<script|<link|<img|src=|href=", told, re.IGNORECASE)
    assert "&lt;script&gt;" in told and "\x1b" not in told
    assert "does not fit: 20,000 tokens" in told and "judged unreadable" in told and "mnemic: </b>failed" in told


def test_the_tables_count_what_was_not_answered(found: dict[str, Any]) -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(tables(found, {"results": "r", "report": "p"}))
    told = console.export_text()
    assert "0 of 2" in told and "1 of 2" in told and "\x1b" not in told
    assert re.search(r"^full +0 +0 +3 +\(20,000\) ", told, re.MULTILINE)
    assert re.search(r"^mnemic +2 +1 +0 +390 +1\.00 +100 +5\.0 +0\.000110", told, re.MULTILINE)
    assert "judge j" in told and "none: 0 judged, 1 judgements could not be read" in told
    assert re.search(r"mnemic over none, F1, or withheld when absent: \+1\.000", " ".join(told.split()))
    assert "\u2026" not in told, "a column was cut"


def test_what_does_not_fit_or_failed_is_in_no_mean(found: dict[str, Any]) -> None:
    full, ours = (found["conditions"][name]["groups"]["all answerable"] for name in (FULL, MNEMIC))
    assert full["measures"] == {} and full["does not fit"] == 2
    assert (ours["n"], ours["answered"], ours["failed"]) == (2, 1, 1)
    assert ours["measures"]["F1"] == {
        "n": 1, "mean": 1.0, "low": 1.0, "high": 1.0, "cluster low": 1.0, "cluster high": 1.0,
    }  # fmt: skip
    assert found["conditions"][NONE]["groups"]["all"]["measures"]["score"]["mean"] == 0.0
    assert found["conditions"][MNEMIC]["groups"]["all"]["measures"]["score"]["mean"] == 1.0
