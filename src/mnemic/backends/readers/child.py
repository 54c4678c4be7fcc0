"""The process that one file is read in: a script that `apart.py` starts, or forked (`forking.py`). What is said is in
`asked.py`.

It takes its limits upon itself before it imports what reads, gives up the network where the system lets it, and ends,
with all that it started, when whoever started it is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

_MEGABYTE = 1 << 20
_NEW_USERS, _NEW_NETWORK = 0x10000000, 0x40000000  # CLONE_NEWUSER, CLONE_NEWNET of Linux's sched.h
_WRITTEN = 2 << 30  # bytes of one file that is written: what LibreOffice makes


def confine(megabytes: int, seconds: float) -> None:
    """Bound memory, processor time and files."""
    if sys.platform == "win32":
        return  # time is kept by the parent; the memory of a job object is not reachable from here
    import resource  # noqa: PLC0415 - not on Windows

    wanted = {
        resource.RLIMIT_DATA: megabytes * _MEGABYTE,
        resource.RLIMIT_AS: 4 * megabytes * _MEGABYTE + (2 << 30),  # libraries reserve what they never touch
        resource.RLIMIT_CPU: int(seconds) + 60,
        resource.RLIMIT_FSIZE: _WRITTEN,
        resource.RLIMIT_CORE: 0,
    }
    for which, most in wanted.items():
        hard = resource.getrlimit(which)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(which, (bound, bound))
        except (ValueError, OSError):
            continue  # macOS refuses some of them


def leave_network() -> None:
    """Leave the network, where that is allowed."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - on Linux only

    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None).unshare(_NEW_USERS | _NEW_NETWORK) != 0:
        return  # not allowed here, as in many containers: no reader asks for the network anyway
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        try:
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - a file of the kernel
                file.write(text)
        except OSError:
            return  # without a map it is nobody, which is enough to read


def _watch() -> None:
    while os.read(0, 4096):
        pass
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)  # LibreOffice too
    os._exit(1)


def _request() -> dict[str, Any]:
    line = b""
    while not line.endswith(b"\n"):
        line += (found := os.read(0, 1 << 16))
        if not found:
            os._exit(1)
    asked: dict[str, Any] = json.loads(line)
    return asked


def main() -> None:
    """Read what is asked for, in a process that was started for it."""
    leave_network()
    read_one()


def read_one() -> None:
    """Read what is asked for, and end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells all processes; the parent decides
    asked = _request()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    confine(asked["limits"]["memory_megabytes"], asked["limits"]["seconds"])
    threading.Thread(target=_watch, daemon=True).start()
    sys.path[:] = asked.pop("paths")
    from mnemic.backends.readers.families import answer  # noqa: PLC0415 - only now it is known where that lies

    answer(asked, answers)
    answers.flush()
    os._exit(0)  # libraries need not tidy up: all that they have is gone with the process


if __name__ == "__main__":
    main()
