"""The commands that `docs/knowledge.md` shows are run as they stand there, one after the other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.conventions.sources import ROOT
from tests.interaction.terminal import Terminal

TEXT = (ROOT / "docs" / "knowledge.md").read_text("utf-8")
ADDRESS = "https://example.org/rules.html"


def _commands(heading: str) -> list[str]:
    """Return the lines of the first example of shell commands below a heading, without what is said beside them."""
    found = re.search(rf"^## {heading}\n.*?^```sh\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return [re.sub(r"\s{2,}#.*", "", line) for line in found[1].splitlines()]


def test_each_command_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "door.txt").write_text("The door sticks.")
    (tmp_path / "handbook.md").write_text("# Hours\n\nThe office closes at six.\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    terminal = Terminal(tmp_path / "memory")
    lines = _commands("On the command line") + _commands("Folders")
    assert len(lines) > 8
    for line in lines:
        command = line.rpartition("| ")[2].replace(ADDRESS, "").replace("--watch", "--no-wait")
        words = shlex.split(command)
        assert words[0] == "mnemic"
        said = terminal.type(*words[1:], stdin="Shoes stay at the door.")
        assert said.code == 0, f"{line}\n{said.out}{said.err}"
    names = {each["name"] for each in terminal.json("kb", "docs")}
    assert names == {"handbook.md", "door.txt"}


@pytest.mark.parametrize("option", re.findall(r"`?mnemic kb (\w+) [^`\n]*?(--[\w-]+)", TEXT))
def test_each_option_that_is_named_is_there(tmp_path: Path, option: tuple[str, str]) -> None:
    command, name = option
    assert name in Terminal(tmp_path).type("kb", command, "--help").out
