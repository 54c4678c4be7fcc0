"""Every example of the README runs, as it stands, in an empty folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conventions.sources import ROOT
from tests.interaction.http_served import guarded, serving

EXAMPLES = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
PROMISED = [["Porto", "nurse"], ["travel.md", "three weeks in advance"], ["ann moved to Porto", "\nPorto\n"]]
"""What each example prints."""


def test_the_readme_has_an_example() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example, promised", list(zip(EXAMPLES, PROMISED, strict=True)))
def test_an_example_runs_and_prints_what_it_promises(
    example: str,
    promised: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with guarded(tmp_path / "served") as memory, serving(memory) as (url, _):
        placed = example.replace("http://127.0.0.1:8765", url)
        exec(compile(placed, "README.md", "exec"), {"__name__": "readme"})
    shown = capsys.readouterr().out
    assert not [word for word in promised if word not in shown]
