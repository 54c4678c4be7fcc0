"""docs/knowledge.md: its examples run as they stand, one after the other; what it names is there."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from mnemic.api.knowledge import Knowledge
from mnemic.config import Settings
from mnemic.shells.mcp.tools import BY_NAME
from mnemic.wire.routes import BY_VERB
from tests.conventions.sources import ROOT
from tests.interaction.http_served import guarded, serving

TEXT = (ROOT / "docs" / "knowledge.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
SHOWN = [
    "ready 2\nhandbook.md, Opening hours | ",
    "handbook.md ready\nb'# Opening hours'",
    "The boiler of house 7 was replaced by a heat pump.",
]


def test_each_example_runs_and_shows_what_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with guarded(tmp_path / "served") as memory, serving(memory) as (url, _):
        for example, shown in zip(EXAMPLES, SHOWN, strict=True):
            exec(compile(example.replace("http://127.0.0.1:8765", url), "knowledge.md", "exec"), {"__name__": "doc"})
            assert shown in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples are for curl")
def test_the_calls_by_curl_are_taken(tmp_path: Path) -> None:
    (tmp_path / "handbook.md").write_text("# Opening hours\n\nThe office closes at six.\n", "utf-8")
    lines = [line for line in _block("sh").splitlines() if line.startswith(("curl", "BASE="))]
    with guarded(tmp_path / "served", worker=False) as memory, serving(memory) as (url, _):
        base, told = "", {}
        for line in lines:
            command = line.removeprefix("BASE=$(").partition(" | ")[0]
            words = shlex.split(command.replace("http://127.0.0.1:8765", url).replace("$BASE", base))
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path)
            told = json.loads(done.stdout)
            assert "status" not in told, told
            base = base or told["cube"]["id"]
        assert [each["name"] for each in told["data"]] == ["handbook.md", "https://example.org/rules.html"]


def _block(language: str) -> str:
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))


def test_every_verb_of_knowledge_bases_is_named() -> None:
    table = TEXT.partition("| verb | what it does |")[2].partition("\n\n")[0]
    verbs = {name for name in vars(Knowledge) if not name.startswith("_")}
    assert {verb for verb in verbs if f"`{verb}`" not in table and f"`knowledge.{verb}`" not in table} == set()
    assert {verb for verb in verbs if f"knowledge.{verb}" not in BY_VERB} == {"sync", "watch_folder"}


def test_settings_and_tools_that_are_named_are_there() -> None:
    known = {each.name for each in fields(Settings)}
    told = re.findall(r"^\| `(\w+_megabytes|serve_\w+)` \| (\d+) \|", TEXT, re.MULTILINE)
    assert len(set(told)) == 4
    assert {name: int(value) for name, value in told} == {name: getattr(Settings(), name) for name, _ in told}
    assert {name for name, _ in told} <= known
    tools = TEXT.partition("## From a model")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(\w+_(?:knowledge|documents?))`", tools)) <= set(BY_NAME)
