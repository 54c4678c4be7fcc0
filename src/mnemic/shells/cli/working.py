"""`mnemic worker`: does background work until it is told to stop, in one process or in several that it looks after.

SIGTERM and SIGINT drain: each thread ends its present step, and what is left of a job goes back into the queue. A
process that dies is started anew, with growing pauses; those whose parent dies drain, too. Its log goes to stderr as
`log_format` says; with `metrics_port` it is shown to who watches it, of several processes each on a port of its own.
"""

from __future__ import annotations

import logging
import os
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

from mnemic import config
from mnemic.errors import InputError
from mnemic.shells.cli import logged
from mnemic.shells.cli.face import Face, face_of

_log = logging.getLogger(__name__)

_CALM: Final = 30.0  # seconds after which a process counts as having started well
_LONGEST: Final = 30.0  # seconds between two starts at most
_LOOK: Final = 0.2  # seconds between looks at what became of other processes
_DRAIN: Final = 60.0  # seconds that processes have to drain before they are killed


def worker(
    context: typer.Context,
    *,
    threads: Annotated[int | None, typer.Option(help="Threads for each lane (default: the settings').")] = None,
    processes: Annotated[int, typer.Option(help="Processes to start and look after.")] = 1,
    kinds: Annotated[str | None, typer.Option(help="Kinds of jobs, comma-separated (default: all).")] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(help="Port for /metrics, /health, /ready; with more processes, the ports after it too."),
    ] = None,
    parent: Annotated[int | None, typer.Option(help="End with the process of this id.", hidden=True)] = None,
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
    if metrics_port is not None:
        settings["metrics_port"] = metrics_port
    known = config.load(face.home, settings)
    with ExitStack() as last:
        last.callback(logged.serve(known, debug=face.debug))
        if processes == 1:
            _work(face, settings, parent)
        else:
            with face.memory(**{**settings, "worker": False}):
                pass  # what cannot be opened is said once, not by each process again and again
            _look_after(_Plan(face, threads, kinds, known.metrics_port), processes)


def _work(face: Face, settings: dict[str, Any], parent: int | None) -> None:
    over = _until_told()
    with ExitStack() as last:
        with face.memory(**settings) as memory:
            told = memory.settings
            if told.metrics_port:  # it is shown until all is drained
                last.callback(memory.expose(draining=over.is_set).close)
            shown = {"kinds": told.worker_kinds or "all", "threads": told.worker_threads}
            _log.info("worker_started", extra={"pid": os.getpid(), **shown})
            while not over.wait(_LOOK if parent else None):
                if os.getppid() != parent:
                    _log.warning("worker_parent_died", extra={"pid": os.getpid(), "parent": parent})
                    over.set()
            _log.info("worker_draining", extra={"pid": os.getpid()})
        _log.info("worker_ended", extra={"pid": os.getpid()})


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the processes are started with. `port` is that of the first one's figures, 0 for none."""

    face: Face
    threads: int | None
    kinds: str | None
    port: int

    def command(self, number: int) -> list[str]:
        """Return the command of one process; they are numbered from 0."""
        face = self.face
        command = [sys.executable, "-m", "mnemic"]
        if face.home is not None:
            command += ["--home", face.home]
        command += [flag for flag, given in (("--debug", face.debug), ("--quiet", face.quiet)) if given]
        command += ["worker"]
        if self.threads is not None:
            command += ["--threads", str(self.threads)]
        if self.kinds is not None:
            command += ["--kinds", self.kinds]
        command += ["--metrics-port", str(self.port + number if self.port else 0)]
        return [*command, "--parent", str(os.getpid())]


@dataclass
class _Child:
    """One worker process: `begun` by the monotonic clock, `failures` in a row."""

    process: subprocess.Popen[bytes]
    begun: float = field(default_factory=time.monotonic)
    failures: int = 0


def _look_after(plan: _Plan, count: int) -> None:
    """Start processes, start those anew that die, and drain them all at the end."""
    over = _until_told()
    children: list[_Child] = []
    try:
        children += (_started(plan.command(number)) for number in range(count))
        _log.info("workers_started", extra={"pids": [child.process.pid for child in children]})
        while not over.wait(_LOOK):
            for number, child in enumerate(children):
                if child.process.poll() is not None:
                    children[number] = _again(plan.command(number), child, over)
    finally:
        _drain(children)


def _again(command: Sequence[str], child: _Child, over: threading.Event) -> _Child:
    lived = time.monotonic() - child.begun
    failures = 0 if lived > _CALM else child.failures + 1
    pause = min(_LONGEST, 2.0**failures - 1)
    told = {"pid": child.process.pid, "code": child.process.returncode, "pause": pause}
    _log.warning("worker_died", extra=told)
    return child if over.wait(pause) else _started(command, failures)


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


def _until_told() -> threading.Event:
    """Return what is set when the process is told to end."""
    over = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        over.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    return over
