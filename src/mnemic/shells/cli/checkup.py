"""What `mnemic doctor` looks at: Python, SQLite, the folder, the models, the store; each with what to do about it.

A check never changes what is stored, and a failed one does not keep the next from running.
"""

from __future__ import annotations

import platform
import shutil
import sqlite3
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from mnemic import config, wiring
from mnemic.config import Settings
from mnemic.errors import MnemicError
from mnemic.shells.cli.exits import BAD_INPUT, MODEL, STORE, exit_code
from mnemic.shells.cli.face import Face
from mnemic.shells.cli.wording import one_line, plural, size, took

SQLITE_WANTED: Final = (3, 35)
ROOM_WANTED: Final = 200_000_000
"""Bytes that should be free: some hundred thousand messages."""
SAMPLE: Final = [
    f"Sentence number {number} of a small test of speed, about nothing in particular." for number in range(32)
]

SAVE: Final = "keep a copy of the folder before you try to mend it"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked. `exit_code` is what the command ends with when it is wrong."""

    name: str
    ok: bool
    told: str
    advice: str = ""
    exit_code: int = STORE


def run(face: Face) -> list[Finding]:
    """Return what was found, in the order in which parts build on each other."""
    try:
        settings = config.load(face.home)
    except MnemicError as error:
        return [_python(), Finding("settings", False, str(error), exit_code=BAD_INPUT)]
    machine = [_python(), _sqlite(), _folder(settings.folder), _room(settings.folder)]
    return [*machine, _embedder(settings), _language_model(settings), *_store(face, settings)]


def table(findings: list[Finding]) -> RenderableType:
    """Return the findings, one a row, with advice below what is wrong."""
    rows = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for _ in range(3):
        rows.add_column(overflow="fold")  # a path is wrapped, never cut
    for finding in findings:
        mark = Text("ok", "bold green") if finding.ok else Text("wrong", "bold red")
        rows.add_row(mark, finding.name, Text(one_line(finding.told)))
        if finding.advice and not finding.ok:
            rows.add_row("", "", Text(f"→ {finding.advice}", "yellow"))
    return rows


def _python() -> Finding:
    told = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    return Finding("Python", sys.version_info >= (3, 11), told, "Mnemic needs Python 3.11 or newer")


def _sqlite() -> Finding:
    with sqlite3.connect(":memory:") as connection:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    connection.close()
    full_text = "ENABLE_FTS5" in options
    ok = sqlite3.sqlite_version_info >= SQLITE_WANTED and full_text
    told = f"{sqlite3.sqlite_version}, FTS5 {'there' if full_text else 'missing'}"
    return Finding("SQLite", ok, told, "use a Python whose SQLite is 3.35 or newer and has FTS5")


def _folder(folder: Path) -> Finding:
    near = _existing(folder)
    try:
        with tempfile.TemporaryFile(dir=near):
            pass
    except OSError as error:
        return Finding("folder", False, f"{folder}: {error.strerror}", "name a folder you may write to with --home")
    return Finding("folder", True, f"{folder}{'' if folder.exists() else ' (new)'}, writable")


def _room(folder: Path) -> Finding:
    free = shutil.disk_usage(_existing(folder)).free
    return Finding("free disk", free >= ROOM_WANTED, size(free), f"free some space: {size(ROOM_WANTED)} or more")


def _embedder(settings: Settings) -> Finding:
    try:
        start = time.perf_counter()
        embedder = wiring.build_embedder(settings)
        embedder.embed(SAMPLE[:1])
        loaded = time.perf_counter()
        embedder.embed(SAMPLE)
        done = time.perf_counter()
    except MnemicError as error:
        return Finding("embedder", False, str(error), "see MNEMIC_EMBEDDER", MODEL)
    speed = len(SAMPLE) / max(done - loaded, 1e-9)
    told = f"{embedder.name}, {embedder.width} wide, loads in {took(loaded - start)}, {speed:,.0f} short texts a second"
    return Finding("embedder", True, told)


def _language_model(settings: Settings) -> Finding:
    """Tell which it is; it is not called, which may cost money."""
    name = "language model"
    try:
        model = wiring.build_llm(settings)
    except MnemicError as error:
        return Finding(name, False, str(error), "see MNEMIC_LLM_MODEL, and `mnemic models`", MODEL)
    if model is None:
        return Finding(
            name, True, "none: memory works by rules, answers are quotes; `mnemic models` tells how to set one"
        )
    if missing := wiring.missing_package(settings.provider):
        told = f"{model.name} ({settings.provider}), but the package {missing} is not installed"
        return Finding(name, False, told, f"pip install 'mnemic[{settings.provider}]'", MODEL)
    return Finding(name, True, f"{model.name} ({settings.provider}), not called; `mnemic models test llm` does")


def _store(face: Face, settings: Settings) -> list[Finding]:
    if not settings.folder.exists():
        return [Finding("store", True, "none yet: the first add makes it")]
    try:
        with face.memory(worker=False) as memory:
            looked = memory.check()
            stats = memory.stats(user=face.user)
    except MnemicError as error:
        return [Finding("store", False, str(error), SAVE, exit_code(error))]
    found = [Finding(name, ok, told, SAVE) for name, ok, told in looked if name != "embedder"]
    waiting = sum(stats.jobs.get(state, 0) for state in ("queued", "running", "failed"))
    dead = stats.jobs.get("dead", 0)
    told = f"{plural(stats.messages, 'message')} of {one_line(face.user)}, {size(stats.bytes_on_disk)} on disk"
    jobs = f"{waiting} waiting, {dead} dead"
    return [*found, Finding("memory", True, told), Finding("jobs", not dead, jobs, "`mnemic jobs list` shows why")]


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that is there."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())
