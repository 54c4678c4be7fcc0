"""What an `AsyncMemory` stands on: a memory that is opened beside the event loop, and calls of it on threads.

Who calls (`mnemic.acting`) goes along. A stream is begun with its first piece, and closed when it is left. What waits
for work, or for what is to come, ends when the task that waits for it is cancelled.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

import anyio
import anyio.from_thread

from mnemic.acting import caller
from mnemic.api.memory import Memory
from mnemic.api.threads import Pieces, Threads
from mnemic.errors import StoreError

G = TypeVar("G")
P = ParamSpec("P")
T = TypeVar("T")


class Opening:
    """A memory that is opened on a thread when it is first needed, with the threads for its calls."""

    def __init__(self, made: Callable[[], Memory], *, calls: int, streams: int) -> None:
        self._made = made
        self._sizes = {"calls": calls, "streams": streams}
        self._memory: Memory | None = None
        self._threads: Threads | None = None
        self._opening = anyio.Lock()
        self._closed = False

    @property
    def threads(self) -> Threads:
        """The threads, made inside the loop that uses them."""
        if self._threads is None:
            self._threads = Threads(**self._sizes)
        return self._threads

    async def memory(self) -> Memory:
        """Return the memory. Raises `StoreError` when it was closed."""
        if self._memory is None or self._closed:
            async with self._opening:
                if self._closed:
                    raise StoreError("the memory is closed; open it again")
                if self._memory is None:
                    self._memory = await self.threads.call(self._made, who=caller())
        return self._memory

    async def close(self) -> None:
        """Close the memory, when there is one. Closing it again does nothing."""
        with anyio.CancelScope(shield=True):
            async with self._opening:
                closing, self._memory, self._closed = self._memory, None, True
                if closing is not None:
                    await self.threads.call(closing.close)


class Calls(Generic[G]):
    """Calls of a memory or of a group of it, which `part` takes out."""

    def __init__(self, opening: Opening, part: Callable[[Memory], G]) -> None:
        self.opening = opening
        self._part = part

    async def call(self, verb: Callable[Concatenate[G, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what a verb returns."""
        part = self._part(await self.opening.memory())
        return await self.opening.threads.call(partial(verb, part, *args, **kwargs), who=caller())

    async def wait(self, verb: Callable[Concatenate[G, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what a verb returns that may wait for work."""
        if "timeout" not in kwargs and kwargs.get("wait") is not True:
            return await self.call(verb, *args, **kwargs)
        part = self._part(await self.opening.memory())
        do = partial(verb, part, *args, **kwargs)

        async def waited(left: threading.Event) -> T:
            return await self.opening.threads.wait(do, who=caller(), left=left)

        return await _unless_cancelled(waited, threading.Event())

    async def load(
        self,
        verb: Callable[..., T],
        lines: AsyncIterator[str] | Iterator[str] | Sequence[str],
        /,
        **kwargs: Any,
    ) -> T:
        """Return what a verb returns that takes lines, which may come from the event loop."""
        part = self._part(await self.opening.memory())
        given = _pulled(lines) if isinstance(lines, AsyncIterable) else lines
        return await self.opening.threads.call(partial(verb, part, given, **kwargs), who=caller())

    def pieces(
        self, verb: Callable[Concatenate[G, P], Iterator[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> AsyncPieces[T]:
        """Return what a verb gives piece by piece; it is called when the first piece is asked for."""

        async def begun(left: threading.Event) -> Pieces[T]:
            part = self._part(await self.opening.memory())
            do = partial(verb, part, *args, **kwargs)
            return await self.opening.threads.pieces(do, who=caller(), left=left)

        return AsyncPieces(begun)


class AsyncPieces(AsyncIterator[T]):
    """What comes piece by piece, until it ends or is closed.

    Iterate over it, best in an `async with` block, which begins it and closes it however the block is left. Without,
    it begins with the first piece that is asked for.
    """

    def __init__(self, begin: Callable[[threading.Event], Awaitable[Pieces[T]]]) -> None:
        self._begin: Callable[[threading.Event], Awaitable[Pieces[T]]] | None = begin
        self._pieces: Pieces[T] | None = None
        self._left = threading.Event()

    async def __aenter__(self) -> Self:
        await self._begun()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def __anext__(self) -> T:
        pieces = await self._begun()
        if pieces is None:
            raise StopAsyncIteration

        async def heard(_: threading.Event) -> T:
            return await anext(pieces)

        return await _unless_cancelled(heard, self._left)

    async def _begun(self) -> Pieces[T] | None:
        """Return the stream, begun; None when it is over."""
        begin, self._begin = self._begin, None
        if begin is not None:
            self._pieces = await begin(self._left)
        return self._pieces

    async def aclose(self) -> None:
        """End it."""
        self._begin = None
        self._left.set()
        pieces, self._pieces = self._pieces, None
        if pieces is not None:
            await pieces.aclose()


async def _unless_cancelled(do: Callable[[threading.Event], Awaitable[T]], left: threading.Event) -> T:
    """Return what comes of work on a thread; when this task is cancelled, `left` says so to the thread."""
    found: list[T] = []

    async def tell() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            if not found:
                left.set()

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(tell)
            found.append(await do(left))
            group.cancel_scope.cancel()
    except BaseExceptionGroup as several:
        raise (error := several.exceptions[0]) from error.__cause__
    return found[0]


def _pulled(lines: AsyncIterator[str]) -> Iterator[str]:
    """Yield, on a thread, what comes in the event loop that started it."""
    end = object()

    async def pull() -> object:
        return await anext(aiter(lines), end)

    while isinstance(line := anyio.from_thread.run(pull), str):
        yield line
