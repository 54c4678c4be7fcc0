"""Every example of the README runs, as it stands, in an empty folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conventions.sources import ROOT

EXAMPLES = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_readme_has_an_example() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_and_prints_what_it_promises(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    shown = capsys.readouterr().out
    assert "Porto" in shown
    assert "nurse" in shown
