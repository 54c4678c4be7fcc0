"""What an `AsyncMemory` stands on: a memory that is opened beside the event loop, and calls of it on threads.

Who calls (`mnemic.acting`) goes along. A stream is begun with its first piece, and closed when it is left.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

import anyio
import anyio.from_thread

from mnemic.acting import caller
from mnemic.api.memory import Memory
from mnemic.api.threads import Threads
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

    async def load(
        self,
        verb: Callable[[G, Iterator[str] | Sequence[str]], T] | Callable[..., T],
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

        async def begun() -> AsyncIterator[T]:
            part = self._part(await self.opening.memory())
            return await self.opening.threads.pieces(partial(verb, part, *args, **kwargs), who=caller())

        return AsyncPieces(begun)


class AsyncPieces(AsyncIterator[T]):
    """What comes piece by piece, until it ends or is closed.

    Iterate over it, best in an `async with` block, which closes it however the block is left.
    """

    def __init__(self, begin: Callable[[], Any]) -> None:
        self._begin: Callable[[], Any] | None = begin
        self._pieces: Any = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def __anext__(self) -> T:
        begin, self._begin = self._begin, None
        if begin is not None:
            self._pieces = await begin()
        if self._pieces is None:
            raise StopAsyncIteration
        piece: T = await anext(self._pieces)
        return piece

    async def aclose(self) -> None:
        """End it."""
        self._begin = None
        pieces, self._pieces = self._pieces, None
        if pieces is not None:
            await pieces.aclose()


def _pulled(lines: AsyncIterator[str]) -> Iterator[str]:
    """Yield, on a thread, what comes in the event loop that started it."""
    end = object()

    async def pull() -> object:
        return await anext(aiter(lines), end)

    while isinstance(line := anyio.from_thread.run(pull), str):
        yield line
