"""Processes beside this one: several that do one thing as often as they can, from one moment on, and workers."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Final

from bench.scheduling.engines import Engine
from bench.tables import ROOT

START: Final = 60.0
"""Seconds that a process has to get ready."""


def together(what: str, count: int, seconds: float, engine: Engine) -> float:
    """Let so many processes do something at once; return how often it was done in a second, by all."""
    command = [sys.executable, "-m", "bench.scheduling.hand", what, str(seconds), engine.as_json()]
    pipe = subprocess.PIPE
    hands = [
        subprocess.Popen([*command, str(number)], stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=engine.environment)
        for number in range(count)
    ]
    try:
        for hand in hands:
            _said(hand)
        for hand in hands:
            _pipe(hand.stdin).write("go\n")
            _pipe(hand.stdin).flush()
        return sum(float(_said(hand)) for hand in hands)
    finally:
        for hand in hands:
            hand.kill()
            hand.communicate()


@contextmanager
def workers(engine: Engine, count: int, *, threads: int = 1) -> Iterator[Sequence[subprocess.Popen[str]]]:
    """Have so many processes of `mnemic worker`, which are drained at the end."""
    command = [sys.executable, "-m", "mnemic", "worker", "--threads", str(threads)]
    running = [
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=engine.environment)
        for _ in range(count)
    ]
    try:
        for each in running:
            while "working on" not in (line := _pipe(each.stderr).readline()):
                if not line:
                    raise SystemExit(f"a worker ended with {each.wait()}")
        yield running
    finally:
        for each in running:
            each.send_signal(signal.SIGTERM)
        for each in running:
            each.communicate(timeout=START)


def _said(hand: subprocess.Popen[str]) -> str:
    line = _pipe(hand.stdout).readline()
    if not line:
        raise SystemExit(f"a process that was to be measured ended with {hand.wait()}")
    return line.strip()


def _pipe(found: IO[str] | None) -> IO[str]:
    if found is None:
        raise ValueError("the process was started without this pipe")
    return found
