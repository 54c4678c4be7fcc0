"""Calls of a memory from programs with an event loop: each on a thread, of which there are a bounded number.

The memory blocks, as databases do. What comes piece by piece may block for minutes: it has threads of its own, so that
no stream keeps a call waiting. Who calls, and what the call is part of, goes along (`mnemic.acting`, `mnemic.tracing`).
"""

from __future__ import annotations

import contextvars
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from mnemic.acting import acting
from mnemic.errors import BusyError
from mnemic.model.caller import Caller

T = TypeVar("T")

CALLS: Final = 32
"""Calls that run at one time; others wait for their turn."""

STREAMS: Final = 64
"""Streams that are open at one time; one more is refused."""


class Threads:
    """Runs blocking calls beside an event loop. Make it inside the loop that uses it."""

    def __init__(self, *, calls: int = CALLS, streams: int = STREAMS) -> None:
        self._calls = anyio.CapacityLimiter(calls)
        self._pieces = anyio.CapacityLimiter(streams)
        self._most = streams
        self.open_streams = 0

    async def call(self, do: Callable[[], T], *, who: Caller | None = None) -> T:
        """Return what the call returns; it is made for `who`, and runs to its end even when nobody waits any more."""

        def run() -> T:
            with acting(who):
                return do()

        return await anyio.to_thread.run_sync(run, limiter=self._calls)

    async def pieces(self, begin: Callable[[], Iterator[T]], *, who: Caller | None = None) -> AsyncIterator[T]:
        """Return what comes piece by piece, after the call that begins it has returned: its errors are raised here.

        Raises `BusyError` when too many streams are open. A stream that is left is closed.
        """
        if self.open_streams >= self._most:
            raise BusyError(f"{self._most} streams are open, which is all that this server takes on", retry_after=5)
        self.open_streams += 1
        context = contextvars.copy_context()
        context.run(_set, who)
        try:
            pieces = await self._in(context, begin)
        except BaseException:
            self.open_streams -= 1
            raise
        return self._each(context, pieces)

    async def _each(self, context: contextvars.Context, pieces: Iterator[T]) -> AsyncIterator[T]:
        end = object()
        try:
            while (piece := await self._in(context, lambda: next(pieces, end))) is not end:
                yield piece  # type: ignore[misc]  # it is no end
        finally:
            self.open_streams -= 1
            close = getattr(pieces, "close", None)
            if close is not None:
                with anyio.CancelScope(shield=True):
                    await self._in(context, close)

    async def _in(self, context: contextvars.Context, do: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(lambda: context.run(do), limiter=self._pieces)


def _set(who: Caller | None) -> None:
    """Name the caller for all that runs in this context."""
    acting(who).__enter__()
