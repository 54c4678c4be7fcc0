"""Calls of a memory from programs with an event loop: each on a thread, of which there are a bounded number.

The memory blocks, as databases do. What may block for minutes has threads of its own, so that no stream keeps a call
waiting. Who calls, and what the call is part of, goes along (`mnemic.acting`, `mnemic.tracing`).
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

import anyio
import anyio.to_thread

from mnemic.acting import act_for, acting, until
from mnemic.errors import BusyError
from mnemic.model.caller import Caller

T = TypeVar("T")
U = TypeVar("U")

CALLS: Final = 32
"""Calls that run at one time; others wait for their turn."""

STREAMS: Final = 64
"""Streams that are open at one time; one more is refused."""


class Threads:
    """Runs blocking calls beside an event loop. Those beyond `waiting` that would have to wait are refused."""

    def __init__(self, *, calls: int = CALLS, streams: int = STREAMS, waiting: int | None = None) -> None:
        self._calls = anyio.CapacityLimiter(calls)
        self._pieces = anyio.CapacityLimiter(streams)
        self._most = streams
        self._most_calls = None if waiting is None else calls + waiting
        self.open_calls = 0
        self.open_streams = 0
        self._closing: set[asyncio.Task[None]] = set()

    async def call(self, do: Callable[[], T], *, who: Caller | None = None) -> T:
        """Return what the call returns; it is made for `who`, and runs to its end even when nobody waits any more.

        Raises `BusyError` when as many calls wait as are let wait.
        """
        if self._most_calls is not None and self.open_calls >= self._most_calls:
            raise BusyError(f"{self.open_calls} calls are going on or waiting for their turn", retry_after=1)

        def run() -> T:
            with acting(who):
                return do()

        self.open_calls += 1
        try:
            return await anyio.to_thread.run_sync(run, limiter=self._calls)
        finally:
            self.open_calls -= 1

    async def wait(self, do: Callable[[], T], *, who: Caller | None = None, left: threading.Event | None = None) -> T:
        """Return what a call returns that may wait for long; it ends early when `left` says that nobody waits for it.

        It takes the place of a stream. Raises `BusyError` when too many are open.
        """

        def run() -> T:
            with acting(who), until(left):
                return do()

        self._open()
        try:
            return await anyio.to_thread.run_sync(run, limiter=self._pieces)
        finally:
            self.open_streams -= 1

    async def pieces(
        self, begin: Callable[[], Iterator[T]], *, who: Caller | None = None, left: threading.Event | None = None
    ) -> Pieces[T]:
        """Return what comes piece by piece, after the call that begins it has returned: its errors are raised here.

        Raises `BusyError` when too many streams are open. One that waits for what is to come notices by `left` that
        nobody hears it any more.
        """
        self._open()
        context = contextvars.copy_context()
        context.run(act_for, who, left)
        try:
            pieces = await self.within(lambda: context.run(begin))
        except BaseException:
            self.open_streams -= 1
            raise
        return Pieces(self, context, pieces, left)

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Take the place of a stream for as long as the block runs. Raises `BusyError` when too many are open."""
        self._open()
        try:
            yield
        finally:
            self.open_streams -= 1

    def _open(self) -> None:
        if self.open_streams >= self._most:
            raise BusyError(f"{self._most} streams are open, which is all that this server takes on", retry_after=5)
        self.open_streams += 1

    async def within(self, do: Callable[[], T]) -> T:
        """Return what a part of a stream returns."""
        return await anyio.to_thread.run_sync(do, limiter=self._pieces)

    def drop(self, close: Callable[[], None]) -> None:
        """Close a stream that nobody has any more."""
        task = asyncio.get_running_loop().create_task(self.closed(close))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def closed(self, close: Callable[[], None]) -> None:
        """Close a stream; what makes its pieces is told."""
        try:
            with anyio.CancelScope(shield=True):
                await self.within(close)
        finally:
            self.open_streams -= 1


class Pieces(AsyncIterator[T]):
    """A stream that is open. Who has it hears it to its end, or closes it.

    What is dropped closes a moment later. Its parts are done one after the other, in one context: closing waits for a
    piece whose listener was cancelled.
    """

    def __init__(
        self, threads: Threads, context: contextvars.Context, pieces: Iterator[T], left: threading.Event | None
    ) -> None:
        self._threads = threads
        self._context = context
        self._pieces = pieces
        self._left = left
        self._turn = threading.Lock()
        self._is_open = True
        self._loop = asyncio.get_running_loop()

    def __del__(self) -> None:
        if self._is_open and not self._loop.is_closed():
            if self._left is not None:
                self._left.set()
            self._loop.call_soon_threadsafe(self._threads.drop, self._closing())

    async def __anext__(self) -> T:
        if not self._is_open:
            raise StopAsyncIteration
        try:
            found = await self._threads.within(lambda: self._in_turn(lambda: next(self._pieces, _END)))
        except BaseException:
            await self.aclose()
            raise
        if isinstance(found, _End):
            await self.aclose()
            raise StopAsyncIteration
        return found

    async def aclose(self) -> None:
        """Close it; what makes the pieces is told."""
        if not self._is_open:
            return
        self._is_open = False
        if self._left is not None:
            self._left.set()
        await self._threads.closed(self._closing())

    def _closing(self) -> Callable[[], None]:
        """Return what closes what makes the pieces, without holding this stream itself."""
        close, turn, context = getattr(self._pieces, "close", _nothing), self._turn, self._context

        def in_turn() -> None:
            with turn:
                context.run(close)

        return in_turn

    def _in_turn(self, do: Callable[[], U]) -> U:
        with self._turn:
            return self._context.run(do)


def _nothing() -> None:
    """Close what needs no closing."""


class _End:
    """What stands behind the last piece."""


_END: Final = _End()
