"""The examples of `docs/evaluation.md` hold: its lines are read, and its code measures them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mnemic.evaluation import open_dataset
from mnemic.evaluation.answer_running import WITH_MODEL
from mnemic.evaluation.answered import CONDITIONS
from mnemic.evaluation.peers import PEERS
from mnemic.shells.cli.eval_commands import BASELINES
from tests.conventions.sources import ROOT

TEXT = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
(LINES,) = re.findall(r"^```json\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
(CODE,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_lines_of_the_format_are_read(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(LINES, "utf-8")
    (found,) = open_dataset("jsonl", tmp_path / "mine.jsonl").read()
    assert found.problems == () and found.messages == 2
    assert [question.absent for question in found.questions] == [False, True]


def test_the_code_measures_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MNEMIC_EMBEDDER", "hashing")
    (tmp_path / "mine.jsonl").write_text(LINES, "utf-8")
    exec(compile(CODE, "evaluation.md", "exec"), {"__name__": "evaluation"})
    assert "'mean': 1.0" in capsys.readouterr().out


def test_every_baseline_is_told_and_the_default_ones_are_known() -> None:
    section = TEXT[TEXT.index("## Baselines") : TEXT.index("## Measuring answers")]
    told = re.findall(r"^\| `(\w+)` \| .*$", section, re.MULTILINE)
    assert told == list(PEERS)
    assert set(BASELINES.split(",")) <= set(PEERS)


def test_every_condition_and_every_measure_of_answers_is_told() -> None:
    section = TEXT[TEXT.index("## Measuring answers") : TEXT.index("### Measures of answers")]
    assert re.findall(r"^\| `(\w+)` \| .*$", section, re.MULTILINE) == list(CONDITIONS)
    assert f"default `{','.join(WITH_MODEL)}`" in section
    measures = TEXT[TEXT.index("### Measures of answers") :]
    for name in (
        "F1",
        "BLEU-1",
        "withheld",
        "score",
        "date exact",
        "date inside",
        "judged right",
        "evidence in context",
    ):
        assert f"| `{name}` |" in measures, name
