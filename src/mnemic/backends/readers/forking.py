"""The process that forks one for each file, a script that `nursery.py` starts: one thread, no network, no file open.

    in   a list of paths; then for each file its folder, with its ends of two pipes and of a line
    out  on the line: the process' number, or minus the fault of the fork; when it has ended, what with

A process is ended, with all that it started, when its line is closed at the other end. Until then nobody else has its
number.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from typing import Final, NoReturn

_LONGEST: Final = 1 << 17  # bytes of a list of paths
_OURS: Final = ("families", "plain", "marked", "jsons", "delimited", "web")
_STANDARD: Final = ("html", "logging", "zipfile")
"""What is loaded ahead, ours and what libraries use of Python: they are imported within the limits of a child."""


class _Children:
    """The processes that were forked, by their lines."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._pids: dict[socket.socket, int] = {}
        self._ended: set[socket.socket] = set()
        self._selector = selectors.DefaultSelector()
        self._bell, ringing = os.pipe()
        os.set_blocking(self._bell, False)
        os.set_blocking(ringing, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # it has to be heard to ring
        signal.set_wakeup_fd(ringing, warn_on_full_buffer=False)
        self._selector.register(control, selectors.EVENT_READ)
        self._selector.register(self._bell, selectors.EVENT_READ)

    def serve(self) -> None:
        """Fork and bury until nobody is there to ask for it."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._control:
                    given, ends, _, _ = socket.recv_fds(self._control, _LONGEST, 3)
                    if not given:
                        return
                    self._fork(os.fsdecode(given), ends)
                elif isinstance(key.fileobj, socket.socket):
                    self.end(key.fileobj)
                else:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._bell, 4096)
                    self._tell()

    def end_all(self) -> None:
        """End all processes."""
        for line in list(self._pids):
            self.end(line)

    def end(self, line: socket.socket) -> None:
        """End a process, with all that it started."""
        pid = self._pids.pop(line)
        for kill in (os.killpg, os.kill):  # it may not lead a group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self._selector.unregister(line)
        if line not in self._ended:
            _say(line, code)
        self._ended.discard(line)
        line.close()

    def _tell(self) -> None:
        for line, pid in self._pids.items():
            if line in self._ended:
                continue
            found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is not None:
                self._ended.add(line)
                _say(line, found.si_status if found.si_code == os.CLD_EXITED else -found.si_status)

    def _fork(self, folder: str, ends: list[int]) -> None:
        line = socket.socket(fileno=ends.pop())
        try:
            pid = os.fork()
        except OSError as error:
            _say(line, -(error.errno or 1))
            line.close()
        else:
            if pid == 0:
                _read(folder, ends)
            self._pids[line] = pid
            self._selector.register(line, selectors.EVENT_READ)
            _say(line, pid)
        for end in ends:
            os.close(end)


def _read(folder: str, ends: list[int]) -> NoReturn:
    """Read a file, as the process that was forked for it."""
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for at, end in enumerate(ends):
            os.dup2(end, at)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.chdir(folder)
        os.environ.update(dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), folder))
        from mnemic.backends.readers.child import read_one  # noqa: PLC0415 - it is loaded by now

        read_one()
    finally:
        os._exit(1)  # whatever went wrong: nothing of the process that forks is run on here


def _say(line: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        line.send(b"%d" % number)


def main() -> None:
    """Load what reads, and fork."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells all processes; who asks decides
    control = socket.socket(fileno=0)
    paths = control.recv(_LONGEST)
    if not paths:
        return
    sys.path[:] = json.loads(paths)
    for module in (*(f"mnemic.backends.readers.{each}" for each in _OURS), *_STANDARD):
        importlib.import_module(module)
    from mnemic.backends.readers.child import leave_network  # noqa: PLC0415 - only now it is known where that lies

    leave_network()
    gc.freeze()  # so that the pages of what is loaded stay shared
    children = _Children(control)
    try:
        children.serve()
    finally:
        children.end_all()


if __name__ == "__main__":
    main()
