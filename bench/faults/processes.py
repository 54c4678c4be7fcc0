"""The processes of the campaign as the one who disturbs them sees them: started soon, killed, told things.

They are forked from a server that has loaded the library already, so that a process lives long enough to be killed in
the middle of work, and not of loading.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any, Final

PATIENCE: Final = 120.0
"""Seconds that a process has to open its memory, or to end."""


@dataclass(slots=True)
class Life:
    """One process after another that does the same: `deaths` counts those that were killed."""

    name: str
    does: Callable[..., None]
    given: Sequence[Any]
    deaths: int = 0
    opened: bool = False
    _process: ForkServerProcess | None = None
    _control: Connection | None = None

    def start(self) -> None:
        """Start it."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["bench.faults.lives", "mnemic.api", "mnemic.backends.models.hashing"])
        self._control, theirs = context.Pipe()
        self._process = context.Process(target=self.does, args=(theirs, *self.given), name=self.name, daemon=True)
        self._process.start()
        theirs.close()
        self.opened = False

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.is_alive()

    def is_open(self) -> bool:
        """Tell whether it has opened its memory."""
        if self._control is not None and not self.opened:
            try:
                self.opened = self._control.poll() and self._control.recv() == "open"
            except (EOFError, OSError):
                self.opened = False
        return self.opened

    def wait_until_open(self) -> None:
        """Wait until it has; start it again when it ended instead, as an outage may have hindered it."""
        deadline = time.monotonic() + PATIENCE
        while not self.is_open():
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.name} does not open its memory")
            if not self.alive:
                self.start()
            time.sleep(0.02)

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it at once."""
        process, self._process = self._process, None
        if process is None or process.pid is None:
            return
        os.kill(process.pid, how)
        process.join(PATIENCE)
        self.deaths += 1
        if self._control is not None:
            self._control.close()
            self._control = None

    def tell(self, what: str, value: object) -> None:
        """Have it step its clock or find the disk full."""
        try:
            if self._control is not None and self.opened:
                self._control.send((what, value))
        except OSError:
            return  # it has just ended by itself; `wait_until_open` starts it again
