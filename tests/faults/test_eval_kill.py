"""An evaluation is killed in the middle: what was found is kept, and the same command goes on with the rest."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from mnemic.evaluation.journal import FILE

CONVERSATIONS, QUESTIONS = 3, 4
PATIENCE = 120  # seconds before a process that says nothing is a failure


def written(folder: Path) -> Path:
    """Write a file of conversations in which one is asked for the colour of a thing."""
    lines: list[dict[str, object]] = []
    for number in range(CONVERSATIONS):
        name = f"c{number}"
        for place in range(QUESTIONS):
            at = f"2025-01-0{place + 1}T10:00:00+00:00"
            said = f"The boat number {place} is painted in colour {number}{place}."
            lines.append(
                {"conversation": name, "session": "s", "role": "user", "content": said, "at": at, "id": f"m{place}"}
            )
        lines += [
            {
                "conversation": name,
                "question": f"What colour is boat number {place}?",
                "evidence": [f"m{place}"],
                "answer": f"{number}{place}",
            }
            for place in range(QUESTIONS)
        ]
    path = folder / "boats.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def command(path: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "mnemic", "eval", "jsonl", str(path), "--out", str(out), *more]
    environment = {**os.environ, "MNEMIC_EMBEDDER": "hashing"}
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def asked(out: Path, key: str) -> list[str]:
    """Return the whole lines of the journal that tell of questions."""
    content = (out / FILE).read_text("utf-8")
    return [line for line in content.splitlines(keepends=True) if line.startswith(f'{{"{key}"') and line.endswith("\n")]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and select on pipes")
@pytest.mark.parametrize("key,more", [("asked", ("--baselines", "text")), ("answered", ("--answers",))])
def test_a_killed_evaluation_goes_on_and_asks_each_question_once(
    key: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    path, out = written(tmp_path), tmp_path / "out"
    process = command(path, out, *more)
    assert process.stderr is not None and process.stdout is not None
    try:
        while "c1: " not in (line := process.stderr.readline()):
            assert line and select.select([process.stderr], [], [], PATIENCE)[0], "it ended before it was killed"
    finally:
        process.kill()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -9
    before = asked(out, key)
    assert QUESTIONS <= len(before) < CONVERSATIONS * QUESTIONS
    told, noted = command(path, out, *more).communicate(timeout=PATIENCE)
    assert "going on where the last run stopped" in noted and ("all 12 turns stored" in told or key == "answered")
    after = asked(out, key)
    assert after[: len(before)] == before
    ids = [json.loads(line)[key]["id"] for line in after]
    assert len(ids) == len(set(ids)) == CONVERSATIONS * QUESTIONS
