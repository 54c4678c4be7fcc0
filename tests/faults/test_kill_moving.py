"""A process that moves a store, or keeps it, is killed at any moment: run again it goes on, and all arrives once."""

from __future__ import annotations

import random
import select
import subprocess
import sys
from pathlib import Path

import pytest

from mnemic import StoreError
from mnemic.api import backup, backups
from tests.databases import ENGINES, place_of
from tests.services.stores import contents, fill, live, memory_at

PATIENCE = 120  # seconds
MOVE = """
import sys
from mnemic.api import move
from mnemic.services import carrying, summing
carrying.BYTES, summing._FEW, summing._MANY = 2_000, 8, 16  # many pages, and many transactions
print("began", flush=True)
moved = move(sys.argv[2], sys.argv[1], progress=lambda done, total: print(done, flush=True))
print("resumed" if moved.resumed else "at once", flush=True)
"""
BACKUP = """
import sys
from mnemic.api import backup
print("began", flush=True)
backup(sys.argv[2], settings={"home": sys.argv[1]}, progress=lambda done, total: print(done, flush=True))
"""


def killed(code: str, source: Path, target: Path | str, chance: random.Random, lines: int) -> list[str] | None:
    """Run a process until it has said so many lines, kill it a moment later; return what it said if it ended itself."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(source), str(target)], stdout=subprocess.PIPE, text=True
    )  # fmt: skip
    assert process.stdout is not None
    said: list[str] = []
    try:
        while len(said) < lines:
            assert select.select([process.stdout], [], [], PATIENCE)[0], "the process says nothing"
            line = process.stdout.readline()
            if not line:
                break
            said.append(line)
        else:
            select.select([], [], [], chance.uniform(0, 0.05))  # somewhere inside the next steps
    finally:
        process.kill()
        said.extend(process.stdout)
        process.stdout.close()
        code_ = process.wait(PATIENCE)
    assert code_ in (0, -9)
    return said if code_ == 0 else None


@pytest.mark.parametrize("engine", ENGINES)
def test_a_move_that_is_killed_again_and_again_ends_in_the_same_store(tmp_path: Path, engine: str) -> None:
    fill(tmp_path / "old", cubes=110, rows=60)
    chance = random.Random(20_261_130)
    with place_of(engine) as target:
        for lines in (4, 35, 65, 95):
            assert killed(MOVE, tmp_path / "old", target, chance, lines + chance.randrange(15)) is None
            with pytest.raises(StoreError, match="is not finished"):
                memory_at(target)
        said = killed(MOVE, tmp_path / "old", target, chance, 100_000)
        assert said is not None and said[-1] == "resumed\n"
        assert contents(target) == contents(tmp_path / "old")


def test_a_backup_that_is_killed_is_no_backup(tmp_path: Path) -> None:
    live(tmp_path / "memory", users=2, messages=4)
    rows = contents(tmp_path / "memory")
    chance = random.Random(20_261_201)
    for lines in (1, 2, 12):
        ended = killed(BACKUP, tmp_path / "memory", tmp_path / "kept", chance, lines)
        found = backups(tmp_path / "kept")
        assert ended is not None or len(found) <= 1
        for each in found:
            assert contents(each.path) == rows
    kept = backup(tmp_path / "kept", settings={"home": str(tmp_path / "memory")})
    assert contents(kept.path) == rows
