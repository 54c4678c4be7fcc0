"""Processes beside this one: several that do one thing as often as they can, from one moment on, and workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Final

from bench.scheduling.engines import Engine
from bench.tables import ROOT

START: Final = 120.0
"""Seconds that a process has to get ready, and to end."""


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
def workers(engine: Engine, count: int, *, threads: int = 1) -> Iterator[None]:
    """Have so many processes of `mnemic worker`, from when they have opened the store until they have drained."""
    command = [sys.executable, "-m", "mnemic", "worker", "--threads", str(threads)]
    with ExitStack() as held:
        logs = [held.enter_context(tempfile.TemporaryFile()) for _ in range(count)]
        running = [subprocess.Popen(command, stderr=log, cwd=ROOT, env=engine.environment) for log in logs]
        try:
            for process, log in zip(running, logs, strict=True):
                _wait_for_start(process, log)
            yield
        finally:
            for process in running:
                process.send_signal(signal.SIGTERM)
            for process in running:
                process.wait(START)


def _wait_for_start(process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    """Wait until a worker says in its log that it has started."""
    deadline = time.monotonic() + START
    while b"worker_started" not in os.pread(log.fileno(), 65_536, 0):
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"a worker did not start:\n{os.pread(log.fileno(), 65_536, 0).decode()}")
        time.sleep(0.05)


def _said(hand: subprocess.Popen[str]) -> str:
    line = _pipe(hand.stdout).readline()
    if not line:
        raise SystemExit(f"a process that was to be measured ended with {hand.wait()}")
    return line.strip()


def _pipe(found: IO[str] | None) -> IO[str]:
    if found is None:
        raise ValueError("the process was started without this pipe")
    return found
