"""Starts the processes that files are read in from one that waits with what reads small files already loaded.

Loading it takes most of the time that a small file needs; forking a process that has it, a few milliseconds. The one
that forks (`forking.py`) opens no file, runs no library, and ends when whoever started it is gone or lets go of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Final

SCRIPT: Final = Path(__file__).with_name("forking.py")
AT_HAND: Final = sys.platform == "linux"
"""Whether there is one: the frameworks of macOS do not bear to be forked, and Windows has no fork."""
_LOADING: Final = 60.0
"""Seconds in which a process is forked, where the one that forks may have to be started first."""
_ENDING: Final = 10.0
"""Seconds in which a process that is told to end has ended."""
_ANSWER: Final = 64  # bytes that hold a number


class Forked:
    """A process that was forked for one file, with the few things of `subprocess.Popen` that `apart.py` needs."""

    def __init__(self, pid: int, line: socket.socket, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self._pid = pid
        self._line = line
        self._code: int | None = None
        self._killed = False

    def wait(self, timeout: float) -> int:
        """Return what it ended with, as `Popen` does. Raises `TimeoutExpired`, `ConnectionError` when nobody knows."""
        self._line.settimeout(timeout)
        if self._code is None:
            try:
                told = self._line.recv(_ANSWER)
            except TimeoutError as error:
                raise subprocess.TimeoutExpired(SCRIPT.name, timeout) from error
            if not told:
                raise ConnectionError("what forked the process is gone")
            self._code = int(told)
        return self._code

    def kill(self) -> None:
        """Let it be ended, with all that it started."""
        if self._killed:
            return
        self._killed = True
        try:
            forsaken = not self._line.recv(_ANSWER, socket.MSG_PEEK)  # nobody else closes it before it is told to
        except OSError:
            forsaken = False  # nothing is said yet
        with contextlib.suppress(OSError):  # it was closed at the end of reading
            self._line.shutdown(socket.SHUT_WR)
        if forsaken:
            self._end()

    def _end(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it is gone as well
            os.killpg(self._pid, signal.SIGKILL)

    def close(self) -> None:
        """End it, wait for that, and let go of it."""
        self.kill()
        try:
            self.wait(_ENDING)
            self._line.recv(_ANSWER)  # it closes the line when all of it is gone
        except (OSError, subprocess.TimeoutExpired):
            self._end()
        self._line.close()


class Nursery:
    """Forks processes, from one that it starts when there is need, and again when that one has died.

    Threads may share it. `environment` is all that the processes find in their own.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._lock = threading.Lock()
        self._running: _Running | None = None

    def fork(self, folder: Path) -> Forked:
        """Return a new process that works in a folder. Raises `OSError`."""
        with self._lock:
            running = self._running
        if running is not None and running.owner == os.getpid():
            with contextlib.suppress(ConnectionError):  # it died: another is started
                return running.fork(folder)
        with self._lock:
            if self._running is running:
                self._running = _Running(self._environment)
            running = self._running
        assert running is not None  # noqa: S101 - it was just started, by this thread or another
        return running.fork(folder)


class _Running:
    """The process that forks. It ends when nothing refers to this any more."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.owner = os.getpid()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                process = subprocess.Popen(  # noqa: S603 - our own script, by this Python
                    [sys.executable, "-I", "-S", "-X", "utf8", str(SCRIPT)],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env=environment,
                    start_new_session=True,
                )
            except OSError:
                self._control.close()
                raise
        self.process = process
        weakref.finalize(self, _end, process, self._control, self.owner)
        with contextlib.suppress(ConnectionError):  # it is gone already: forking will say so
            self._control.send(json.dumps([each for each in sys.path if Path(each).is_absolute()]).encode())

    def fork(self, folder: Path) -> Forked:
        """Return a new process. Raises `OSError`, a `ConnectionError` when the one that forks is gone."""
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            to_read, written = (os.fdopen(each, mode) for each, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
            theirs.enter_context(to_read)
            ours.enter_context(written)
            read, to_write = (os.fdopen(each, mode) for each, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
            ours.enter_context(read)
            theirs.enter_context(to_write)
            line, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.enter_context(line)
            theirs.enter_context(far)
            given = [to_read.fileno(), to_write.fileno(), far.fileno()]
            socket.send_fds(self._control, [os.fsencode(folder)], given)
            theirs.close()
            line.settimeout(_LOADING)
            pid = int(line.recv(_ANSWER) or b"0")
            if pid == 0:
                raise ConnectionResetError("what forks processes is gone")
            if pid < 0:
                raise OSError(-pid, os.strerror(-pid))
            line.settimeout(0)
            ours.pop_all()
            return Forked(pid, line, written, read)


def _end(process: subprocess.Popen[bytes], control: socket.socket, owner: int) -> None:
    control.close()
    if os.getpid() != owner:
        process.returncode = 0  # it is the child of another process, from which this one was forked
        return
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
