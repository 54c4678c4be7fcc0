"""A process is killed at any moment of adding and of background work: no acknowledged message is lost, work goes on."""

from __future__ import annotations

import random
import select
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from tests.faults.surviving import PATIENCE, acknowledged, losses

ADDING = Path(__file__).with_name("adding.py")
USER = "survivor"


def killed(folder: Path, name: str, moments: random.Random) -> dict[str, str]:
    """Let a process add messages, kill it at a random moment, and return what it had acknowledged."""
    process = subprocess.Popen(
        [sys.executable, str(ADDING), str(folder), USER, "field", name, "100000"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        lines = [_line(process.stdout) for _ in range(1 + moments.randrange(1, 40))]
        select.select([], [], [], moments.uniform(0, 0.02))  # somewhere inside the next steps
    finally:
        process.kill()
    lines.extend(process.stdout)
    process.stdout.close()
    assert process.wait(PATIENCE) == -9, "it was killed, and did not end by itself"
    return acknowledged(lines)


def _line(stream: IO[str]) -> str:
    assert select.select([stream], [], [], PATIENCE)[0], "the process says nothing"
    return stream.readline()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and select on pipes")
def test_no_kill_loses_what_was_acknowledged(tmp_path: Path) -> None:
    moments = random.Random(20_240_501)
    told: dict[str, str] = {}
    for number in range(3):
        told |= killed(tmp_path, f"life{number}", moments)
        assert losses(tmp_path, told, user=USER, finish=number == 2) == []
    assert len(told) >= 6
