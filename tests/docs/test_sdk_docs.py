"""Every example of `docs/sdk.md` runs, as it stands and one after the other, beside a server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mnemic.client.asking import _COSTLY, _ONCE, _SLOW
from mnemic.wire.routes import BY_VERB
from tests.conventions.sources import ROOT
from tests.interaction.http_served import guarded, serving

TEXT = (ROOT / "docs" / "sdk.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
SHOWN = ["Porto", "nurse", "Clara", "tea", "extractive", "2", "harbour.txt", "not_found\nlimit"]


def test_each_example_runs_and_shows_what_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with guarded(tmp_path / "served") as memory, serving(memory) as (url, _):
        monkeypatch.setenv("MNEMIC_URL", url)
        for example, shown in zip(EXAMPLES, SHOWN, strict=True):
            placed = example.replace("http://127.0.0.1:8765", url)
            exec(compile(placed, "sdk.md", "exec"), {"__name__": "sdk"})
            assert shown in capsys.readouterr().out


def test_the_verbs_that_are_told_apart_are_verbs() -> None:
    assert {*_COSTLY, *_ONCE, *_SLOW} <= set(BY_VERB)
    for verb in (*_COSTLY, *_ONCE):
        assert f"`{verb}`" in TEXT
