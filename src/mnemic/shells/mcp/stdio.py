"""The protocol over the standard streams of a process, for one user: it ends when the client closes stdin.

The client gets its first answer before the memory is open: that goes on beside it, and calls wait for it.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import anyio
from mcp.server.stdio import stdio_server

from mnemic.errors import MnemicError
from mnemic.model.caller import Caller
from mnemic.shells.mcp.place import Place
from mnemic.shells.mcp.server import build
from mnemic.shells.mcp.wire import Conversation, Wire

if TYPE_CHECKING:
    from mnemic.api import Memory, Threads

T = TypeVar("T")

_CALLS: Final = 8  # at one time: there is one client


class Opening:
    """A memory that is being opened on a thread of its own; `opened` has it then, or the error."""

    def __init__(self, open_memory: Callable[[], Memory]) -> None:
        self._open = open_memory
        self.opened: Future[Memory] = Future()
        self._thread = threading.Thread(target=self._run, name="mnemic-mcp-opening", daemon=True)

    def begin(self) -> None:
        """Begin to open it."""
        self._thread.start()

    def memory(self) -> Memory:
        """Return the memory when it is open. Raises what opening it raised."""
        return self.opened.result()

    def close(self) -> None:
        """Close it, when it was opened or is being opened."""
        if self._thread.ident is None:
            return
        self._thread.join()
        if self.opened.exception() is None:
            self.opened.result().close()

    def _run(self) -> None:
        try:
            self.opened.set_result(self._open())
        except MnemicError as error:
            self.opened.set_exception(error)
        except BaseException as error:
            self.opened.set_exception(error)
            raise


class CallsOnceOpen:
    """Makes calls on threads as soon as the memory is open, or cannot be opened."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._threads: Threads | None = None

    async def call(self, do: Callable[[], T], *, who: Caller | None = None) -> T:
        """Return what the call returns."""
        if self._threads is None:
            await asyncio.shield(asyncio.wrap_future(self._opening.opened))
            from mnemic.api import Threads  # noqa: PLC0415 - it came with the memory

            self._threads = Threads(calls=_CALLS)
        return await self._threads.call(do, who=who)


@dataclass(frozen=True, slots=True)
class Session:
    """What a process serves: a place, and which tools."""

    place: Place
    tools: str = "all"


def serve(wire: Wire, open_memory: Callable[[], Memory], session: Session) -> None:
    """Serve until the client closes stdin, or the process is told to end."""
    opening = Opening(open_memory)
    signal.signal(signal.SIGTERM, lambda _number, _frame: signal.raise_signal(signal.SIGINT))
    try:
        anyio.run(_serve, wire, opening, session)
    except KeyboardInterrupt:
        pass
    finally:
        opening.close()


async def _serve(wire: Wire, opening: Opening, session: Session) -> None:
    place = session.place
    server = build(
        opening.memory, CallsOnceOpen(opening), place_of=lambda _request: place,
        whose=repr(place.user), tools=session.tools,
    )  # fmt: skip
    both = cast("Any", Conversation(wire))  # of a file, the SDK asks for its lines, `write` and `flush`
    async with stdio_server(both, both) as (read, write):
        opening.begin()
        await server.run(read, write, server.create_initialization_options())
