"""Calls and streams of a memory from an event loop: bounded, made for who calls, and closed when nobody hears them."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import anyio
import anyio.lowlevel
import pytest

from mnemic import acting
from mnemic.api.threads import Threads
from mnemic.errors import BusyError
from mnemic.model.caller import Caller

WHO = Caller(key="k1")
PATIENCE = 60.0


def test_a_call_is_made_for_its_caller_on_another_thread() -> None:
    async def main() -> None:
        found = await Threads().call(lambda: (acting.caller(), threading.current_thread()), who=WHO)
        assert found == (WHO, found[1]) and found[1] is not threading.current_thread()
        assert acting.caller() is None

    anyio.run(main)


def test_each_piece_of_a_stream_is_made_for_its_caller() -> None:
    def pieces() -> Iterator[Caller | None]:
        yield acting.caller()
        yield acting.caller()

    async def main() -> None:
        threads = Threads()
        stream = await threads.pieces(pieces, who=WHO)
        assert threads.open_streams == 1
        assert [piece async for piece in stream] == [WHO, WHO]
        assert threads.open_streams == 0
        assert acting.caller() is None

    anyio.run(main)


def test_what_is_being_waited_for_is_told_that_its_caller_has_left() -> None:
    def wait() -> bool:
        while not acting.left():
            threading.Event().wait(0.01)
        return True

    async def main() -> None:
        threads, left = Threads(), threading.Event()
        async with anyio.create_task_group() as group:

            async def leave() -> None:
                left.set()

            group.start_soon(leave)
            with anyio.fail_after(PATIENCE):
                assert await threads.wait(wait, who=WHO, left=left)

    anyio.run(main)


@pytest.mark.parametrize("how", ["closed", "dropped", "never heard", "failed"])
def test_a_stream_is_closed_when_nobody_hears_it_any_more(how: str) -> None:
    closed = threading.Event()

    def pieces() -> Iterator[int]:
        try:
            yield 1
            if how == "failed":
                raise ValueError
            yield 2
        finally:
            closed.set()

    async def main() -> None:
        threads = Threads(streams=1)
        stream = await threads.pieces(pieces)
        if how != "never heard":
            assert await anext(stream) == 1
        if how == "closed":
            await stream.aclose()
        if how == "failed":
            with pytest.raises(ValueError):  # noqa: PT011 - it has no words
                await anext(stream)
        if how in ("closed", "failed"):
            assert await anext(stream, None) is None
        del stream
        with anyio.fail_after(PATIENCE):
            while threads.open_streams:
                await anyio.lowlevel.checkpoint()
        assert closed.is_set() or how == "never heard"
        again = await threads.pieces(pieces)
        await again.aclose()

    anyio.run(main)


def test_one_stream_too_many_and_one_call_too_many_are_refused() -> None:
    async def main() -> None:
        threads, go_on = Threads(calls=1, streams=1, waiting=1), threading.Event()
        stream = await threads.pieces(lambda: iter([1]))
        with pytest.raises(BusyError) as refused:
            await threads.pieces(lambda: iter([2]))
        assert refused.value.fields["retry_after"] == 5
        await stream.aclose()
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(threads.call, lambda: go_on.wait(PATIENCE))
            with anyio.fail_after(PATIENCE):
                while threads.open_calls < 2:
                    await anyio.lowlevel.checkpoint()
            with pytest.raises(BusyError):
                await threads.call(int)
            go_on.set()
        assert await threads.call(int) == 0

    anyio.run(main)
