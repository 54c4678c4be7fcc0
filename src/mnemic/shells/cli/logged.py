"""What becomes of the library's log under the command line: nothing, for commands say themselves what went wrong.

Without a handler Python would print warnings and the tracebacks of jobs into the middle of a result. With --debug they
are wanted, each with its fields. A command that is a service, such as `mnemic worker`, writes its log all the time.
What a line looks like is imported by those who want one, so that help stays quick.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mnemic.config import Settings


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg] # typeshed's parameter is not there at run time
    """Writes to what stderr is when something is told."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        self.stream = sys.stderr
        super().emit(record)


_SILENT: Final = logging.NullHandler()


@cache
def _stderr() -> logging.Handler:
    from mnemic import logs  # noqa: PLC0415 - as the module says

    handler = _Stderr()
    handler.setFormatter(logs.Plain(stamped=False))
    handler.addFilter(logs.Traced())
    return handler


def route(*, debug: bool) -> None:
    """Send the log to stderr, or nowhere. A handler that the program around it has set gets it all the same."""
    log = logging.getLogger("mnemic")
    if debug:
        log.removeHandler(_SILENT)
        log.addHandler(_stderr())
        return
    if _stderr.cache_info().currsize:
        log.removeHandler(_stderr())
    log.addHandler(_SILENT)


def serve(settings: Settings, *, debug: bool) -> Callable[[], None]:
    """Send the log of a service to stderr as the settings say, in the place of `route`; return what ends it."""
    from mnemic import logs  # noqa: PLC0415
    from mnemic.config import secrets_of  # noqa: PLC0415

    route(debug=False)
    return logs.send(settings.log_format, debug=debug, secrets=secrets_of(settings))
