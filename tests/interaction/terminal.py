"""The command line as tests type it: each call is a process of its own but for the process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from mnemic.shells.cli.main import app


@dataclass(frozen=True, slots=True)
class Said:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Terminal:
    """Types commands at a memory in a folder, as user ann, with the hashing embedder."""

    home: Path
    user: str = "ann"

    def type(self, *words: str, stdin: str | bytes | None = None) -> Said:
        given = ["--home", str(self.home), "--user", self.user, *words]
        done = CliRunner().invoke(app, given, input=stdin, env={"MNEMIC_EMBEDDER": "hashing", "COLUMNS": "100"})
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Said(done.exit_code, done.stdout, done.stderr)

    def json(self, *words: str, stdin: str | None = None) -> Any:
        """Run with `--json`, which must end well; return the document."""
        said = self.type(*words, "--json", stdin=stdin)
        assert said.code == 0, said.out + said.err
        return said.json


def lived(folder: Path) -> Path:
    """Fill a memory in which ann lived in Leeds with a dog, and then moved to Porto; return its folder."""
    terminal = Terminal(folder / "memory")
    terminal.type("add", "I live in Leeds.", "I have a dog named Rex.", "--session", "s1", "--at", "2025-01-10T10:00Z")
    terminal.type("add", "I live in Porto now.", "--session", "s2", "--at", "2025-06-01T10:00Z")
    return terminal.home
