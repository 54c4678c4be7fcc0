"""`docs/keys.md` shows the table of permissions that is tested, and its examples do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mnemic.config import Settings
from mnemic.shells.cli.main import app
from tests.conventions.sources import ROOT
from tests.permissions import written

TEXT = (ROOT / "docs" / "keys.md").read_text("utf-8")
(CODE,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
            for line in block.splitlines()]  # fmt: skip


def test_the_table_is_the_one_that_is_tested() -> None:
    assert written() in TEXT, "write the output of `python -m tests.permissions` into docs/keys.md"


def test_the_settings_are_those_that_there_are() -> None:
    settings = Settings()
    words = " ".join(TEXT.split())
    assert f"`audit_days` ({settings.audit_days})" in words
    assert f"`audit_rows` ({settings.audit_rows:,})" in words


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MNEMIC_EMBEDDER", "hashing")
    exec(compile(CODE.replace("~/team-memory", str(tmp_path)), "docs/keys.md", "exec"), {})
    assert capsys.readouterr().out == "()\n"


def test_the_commands_run_as_they_stand(tmp_path: Path) -> None:
    known: dict[str, str] = {}
    environment = {"MNEMIC_EMBEDDER": "hashing", "MNEMIC_HOME": str(tmp_path)}
    for line in COMMANDS:
        words = [known.get(word, word) for word in shlex.split(line, comments=True)][1:]
        done = CliRunner().invoke(app, ["--user", "ann", "--json", *words], env=environment)
        assert done.exit_code == 0, (line, done.stdout, done.stderr)
        if words[:2] == ["keys", "create"]:
            known["PREFIX"] = re.findall(r'"prefix": "(\w+)"', done.stdout)[0]
            known["KEY_ID"] = re.findall(r'"id": "([\w-]+)"', done.stdout)[0]
        if words[:2] == ["cubes", "create"]:
            known["CUBE"] = re.findall(r'"id": "([\w-]+)"', done.stdout)[0]
    assert len(COMMANDS) >= 10
