"""What becomes of the library's log under the command line: nothing, for commands say themselves what went wrong.

Without a handler Python would print warnings and the tracebacks of jobs into the middle of a result. With --debug they
are wanted, each with its fields.
"""

from __future__ import annotations

import logging
import sys
from typing import Final

_OWN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


class _Shown(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Return the event with its fields, and the traceback when it has one."""
        fields = "".join(f" {name}={value!r}" for name, value in vars(record).items() if name not in _OWN)
        first, line, rest = super().format(record).partition("\n")
        return f"{first}{fields}{line}{rest}"


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg] # typeshed's parameter is not there at run time
    """Writes to what stderr is when something is told."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        self.stream = sys.stderr
        super().emit(record)


_SILENT: Final = logging.NullHandler()
_STDERR: Final = _Stderr()
_STDERR.setFormatter(_Shown("%(levelname)s %(name)s %(message)s"))


def route(*, debug: bool) -> None:
    """Send the log to stderr, or nowhere. A handler that the program around it has set gets it all the same."""
    log = logging.getLogger("mnemic")
    wanted, other = (_STDERR, _SILENT) if debug else (_SILENT, _STDERR)
    log.removeHandler(other)
    log.addHandler(wanted)
