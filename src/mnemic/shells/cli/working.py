"""`mnemic worker`: does background work until it is told to stop, in one process or in several that it looks after.

SIGTERM and SIGINT drain: each thread ends its present step, and what is left of a job goes back into the queue. A
process that dies is started anew, with growing pauses.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import FrameType
from typing import Annotated, Any, Final

import typer

from mnemic.errors import InputError
from mnemic.shells.cli import logged
from mnemic.shells.cli.face import Face, face_of

_CALM: Final = 30.0  # seconds after which a process counts as having started well
_LONGEST: Final = 30.0  # seconds between two starts at most
_DRAIN: Final = 60.0  # seconds that processes have to drain before they are killed


def worker(
    context: typer.Context,
    *,
    threads: Annotated[int | None, typer.Option(help="Threads for each lane (default: the settings').")] = None,
    processes: Annotated[int, typer.Option(help="Processes to start and look after.")] = 1,
    kinds: Annotated[str | None, typer.Option(help="Kinds of jobs, comma-separated (default: all).")] = None,
) -> None:
    """Do background work until SIGTERM or Ctrl-C, which drain: nothing is lost, what runs ends its present step."""
    face = face_of(context)
    if processes < 1:
        raise InputError("processes", "must be 1 or more")
    settings: dict[str, Any] = {"worker": True}
    if threads is not None:
        settings["worker_threads"] = threads
    if kinds is not None:
        settings["worker_kinds"] = kinds
    if processes == 1:
        _work(face, settings)
    else:
        _look_after(face, processes, threads, kinds)


def _work(face: Face, settings: dict[str, Any]) -> None:
    over = _until_told()
    with ExitStack() as open_things:
        memory = open_things.enter_context(face.memory(**settings))
        told = memory.settings
        open_things.callback(logged.serve(told, debug=face.debug))
        shown = f"working on {told.worker_kinds or 'all kinds'}, {told.worker_threads} thread(s) a lane"
        if told.metrics_port:
            shown += f", figures at {open_things.enter_context(memory.expose(draining=over.is_set))}/metrics"
        face.note(f"{shown}; Ctrl-C drains and ends")
        over.wait()
        face.note("draining")


@dataclass
class _Child:
    """One worker process: `begun` by the monotonic clock, `failures` in a row."""

    process: subprocess.Popen[bytes]
    begun: float = field(default_factory=time.monotonic)
    failures: int = 0


def _look_after(face: Face, count: int, threads: int | None, kinds: str | None) -> None:
    """Start processes, start those anew that die, and drain them all at the end."""
    command = _command(face, threads, kinds)
    over = _until_told()
    children = [_started(command) for _ in range(count)]
    face.note(f"{count} worker processes: {', '.join(str(child.process.pid) for child in children)}")
    try:
        while not over.wait(0.2):
            for number, child in enumerate(children):
                if child.process.poll() is not None:
                    children[number] = _again(face, command, child, over)
    finally:
        _drain(children)


def _again(face: Face, command: Sequence[str], child: _Child, over: threading.Event) -> _Child:
    lived = time.monotonic() - child.begun
    failures = 0 if lived > _CALM else child.failures + 1
    pause = min(_LONGEST, 2.0**failures - 1)
    face.err.print(f"worker {child.process.pid} ended with {child.process.returncode}; another in {pause:g} s")
    over.wait(pause)
    return _started(command, failures)


def _started(command: Sequence[str], failures: int = 0) -> _Child:
    return _Child(subprocess.Popen(command), failures=failures)  # noqa: S603 - this program again


def _drain(children: Sequence[_Child]) -> None:
    for child in children:
        if child.process.poll() is None:
            child.process.terminate()
    deadline = time.monotonic() + _DRAIN
    for child in children:
        try:
            child.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.process.kill()  # its jobs are taken over when their leases are over
            child.process.wait()


def _command(face: Face, threads: int | None, kinds: str | None) -> list[str]:
    command = [sys.executable, "-m", "mnemic"]
    if face.home is not None:
        command += ["--home", face.home]
    command += [flag for flag, given in (("--debug", face.debug), ("--quiet", face.quiet)) if given]
    command += ["worker"]
    if threads is not None:
        command += ["--threads", str(threads)]
    return command if kinds is None else [*command, "--kinds", kinds]


def _until_told() -> threading.Event:
    """Return what is set when the process is told to end."""
    over = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        over.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    return over
