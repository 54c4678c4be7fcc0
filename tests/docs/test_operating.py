"""`docs/operating.md` and `deploy/alerts.yaml` tell of what there is: figures, findings, events, expressions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mnemic.model.figure import FIGURES, Figure, Sort
from mnemic.shells.cli.findings import KNOWN
from tests.conventions.sources import ROOT, package

TEXT = (ROOT / "docs" / "operating.md").read_text("utf-8")
ALERTS = (ROOT / "deploy" / "alerts.yaml").read_text("utf-8")
(CODE,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
EXPRESSIONS = [*re.findall(r"`([^`]*mnemic_[^`]*)`", TEXT), *re.findall(r"expr: (?:>-\n)?((?:.|\n)*?)\n +for:", ALERTS)]
OWN_LABELS = {"le", "instance"}


def figures() -> str:
    rows = [f"| `{each.name}` | {each.sort} | {', '.join(f'`{label}`' for label in each.labels)} | {each.help} |"
            for each in FIGURES]  # fmt: skip
    return "\n".join(["| figure | sort | labels | what it is |", "| --- | --- | --- | --- |", *rows])


def findings() -> str:
    rows = [f"| {name} | {'look' if each.warns else 'wrong'} | {each.unwell} | {each.advice} |"
            for name, each in KNOWN.items()]  # fmt: skip
    return "\n".join(["| finding | when not well | that is | what to do |", "| --- | --- | --- | --- |", *rows])


def test_the_table_of_figures_is_that_of_the_code() -> None:
    assert figures() in TEXT, figures()


def test_the_table_of_findings_is_that_of_the_code() -> None:
    assert findings() in TEXT, findings()


def test_every_alert_is_explained_and_every_explanation_is_of_an_alert() -> None:
    assert re.findall(r"^\| `(Mnemic\w+)` \|", TEXT, re.MULTILINE) == re.findall(r"alert: (\w+)", ALERTS)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_an_expression_asks_for_is_a_figure_with_these_labels(expression: str) -> None:
    known = {name: figure for figure in FIGURES for name in _names(figure)}
    for name, braces in re.findall(r"(mnemic_\w+)(?:\{([^}]*)\})?", expression):
        assert name in known or name.endswith("_"), name
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", braces or ""):
            assert label in known[name].labels, f"{name} has no label {label}"
    asked = {known[name] for name in re.findall(r"mnemic_\w+", expression) if name in known}
    labels = {label for figure in asked for label in figure.labels} | OWN_LABELS
    for group in re.findall(r"(?:by|ignoring) \(([^)]*)\)", expression):
        assert set(re.split(r",\s*", group)) <= labels, group


def _names(figure: Figure) -> list[str]:
    if figure.sort is not Sort.HISTOGRAM:
        return [figure.name]
    return [figure.name, *(f"{figure.name}_{part}" for part in ("bucket", "sum", "count"))]


def test_every_event_that_is_told_of_is_logged() -> None:
    section = TEXT[TEXT.index("## Logs") : TEXT.index("## A trace")]
    events = {
        name for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    code = "\n".join(source.text for source in package())
    assert events
    assert not [event for event in events if f'"{event}"' not in code]


def test_the_example_runs_and_prints_what_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MNEMIC_EMBEDDER", "hashing")
    exec(compile(CODE, "operating.md", "exec"), {"__name__": "operating"})
    assert capsys.readouterr().out == "request-4711\n"
