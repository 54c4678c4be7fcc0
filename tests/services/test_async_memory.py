"""`AsyncMemory`: a memory beside an event loop, that never blocks it, and ends what nobody waits for any more."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mnemic import AsyncMemory, InputError, StoreError
from mnemic.acting import acting
from mnemic.errors import BusyError, NotFoundError
from mnemic.model.caller import Caller, Power
from mnemic.model.message import StoredMessage
from mnemic.testing.scripted_model import ScriptedModel

PATIENCE = 60.0  # seconds
SETTINGS = {"embedder": "hashing", "worker": False}


def run(do: Callable[[AsyncMemory], Awaitable[object]], folder: Path, **options: Any) -> None:
    """Do something with a memory that is opened and closed around it, in a loop of its own."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE), AsyncMemory(folder, settings=SETTINGS, **options) as memory:
            await do(memory)

    asyncio.run(main())


def test_it_adds_and_finds(tmp_path: Path) -> None:
    async def do(memory: AsyncMemory) -> None:
        await memory.add("I moved to Porto last week.", user="ann", wait=True)
        assert (await memory.search("Where does Ann live?", user="ann"))[0].text
        assert [item async for item in memory.iterate(user="ann")] == list(await memory.list(user="ann"))
        cube = await memory.cubes.create("work", user="ann")
        assert cube in await memory.cubes.list(user="ann")
        assert (await memory.opened()).settings.worker is False

    run(do, tmp_path)


def test_it_opens_with_the_first_call_and_once(tmp_path: Path) -> None:
    async def main() -> None:
        memory = AsyncMemory(tmp_path, settings=SETTINGS)
        await asyncio.gather(*(memory.add(f"note {number}", user="ann") for number in range(8)))
        assert (await memory.stats(user="ann")).messages == 8
        assert await memory.opened() is await memory.opened()
        await memory.close()
        await memory.close()
        with pytest.raises(StoreError, match="closed"):
            await memory.stats(user="ann")

    asyncio.run(main())


def test_a_memory_that_cannot_be_opened_says_so_and_may_be_tried_again(tmp_path: Path) -> None:
    async def main() -> None:
        memory = AsyncMemory(tmp_path, settings={"no such": 1})
        for _ in range(2):
            with pytest.raises(InputError):
                await memory.stats(user="ann")
        await memory.close()

    asyncio.run(main())


def test_a_call_that_takes_long_keeps_neither_the_loop_nor_other_calls(tmp_path: Path) -> None:
    entered, going = threading.Event(), threading.Event()

    def reply(_: object) -> str:
        entered.set()
        assert going.wait(PATIENCE)
        return "Hello."

    async def do(memory: AsyncMemory) -> None:
        chat = asyncio.create_task(memory.chat("Hello", user="ann"))
        await asyncio.to_thread(entered.wait, PATIENCE)
        await memory.add("meanwhile", user="bo")
        assert not chat.done()
        going.set()
        assert (await chat).text == "Hello."

    run(do, tmp_path, llm=ScriptedModel(reply))


def test_errors_are_those_of_the_memory(tmp_path: Path) -> None:
    async def do(memory: AsyncMemory) -> None:
        with pytest.raises(NotFoundError):
            await memory.get("nowhere", user="ann")
        with pytest.raises(NotFoundError):
            async for _ in memory.watch(user="ann", cube="nowhere"):
                pass
        with pytest.raises(InputError):
            [piece async for piece in memory.ask_stream("", user="ann")]

    run(do, tmp_path)


@pytest.mark.parametrize("how", ["timeout", "cancel", "close"])
def test_a_watch_that_nobody_waits_for_ends(tmp_path: Path, how: str) -> None:
    async def do(memory: AsyncMemory) -> None:
        threads = memory._calls.opening.threads
        watch = memory.watch(user="ann")
        if how == "close":
            async with watch:
                await memory.add("hello", user="ann")
                first = await anext(watch)  # it is told from where the block began
                assert isinstance(first, StoredMessage) and first.text == "hello"
                told = asyncio.create_task(anext(watch))
                await memory.add("hello again", user="ann")
                await told
        elif how == "timeout":
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await anext(watch)
        else:
            waiting = asyncio.create_task(anext(watch))
            while not threads.open_streams:  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert threads.open_streams == 0
        with pytest.raises(StopAsyncIteration):
            await anext(watch)
        await memory.add("it goes on", user="ann")

    run(do, tmp_path)


def test_a_wait_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    async def do(memory: AsyncMemory) -> None:
        await memory.add("hello", user="ann")
        parts = (await memory.opened())._parts
        parts.worker.run_once = lambda: False  # type: ignore[method-assign]  # nobody does the work
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await memory.jobs.wait(user="ann", timeout=3_600)
        while memory._calls.opening.threads._pieces.borrowed_tokens:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert time.monotonic() - began < 30

    run(do, tmp_path)


def test_a_call_that_is_cancelled_runs_to_its_end(tmp_path: Path) -> None:
    entered, going = threading.Event(), threading.Event()

    def reply(_: object) -> str:
        entered.set()
        assert going.wait(PATIENCE)
        return "Hello."

    async def do(memory: AsyncMemory) -> None:
        chat = asyncio.create_task(memory.chat("Hello", user="ann", session="s"))
        await asyncio.to_thread(entered.wait, PATIENCE)
        chat.cancel()
        with pytest.raises(asyncio.CancelledError):
            await chat
        going.set()
        while len(await memory.list(user="ann", session="s")) < 2:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.01)

    run(do, tmp_path, llm=ScriptedModel(reply))


def test_one_stream_more_than_are_let_open_is_refused(tmp_path: Path) -> None:
    async def do(memory: AsyncMemory) -> None:
        await memory.add("hello", user="ann")
        lines = memory.export(user="ann")
        await anext(lines)
        with pytest.raises(BusyError):
            await anext(memory.export(user="ann"))
        await lines.aclose()
        assert [line async for line in memory.export(user="ann")]

    run(do, tmp_path, streams=1)


def test_lines_may_come_from_the_loop(tmp_path: Path) -> None:
    async def do(memory: AsyncMemory) -> None:
        await memory.add(["one", "two"], user="ann")
        await memory.load(memory.export(user="ann"), user="bo")
        assert len(await memory.list(user="bo")) == 2

        async def broken() -> AsyncIterator[str]:
            yield next(iter(lines))
            raise OSError("the file is gone")

        lines = [line async for line in memory.export(user="ann")]
        with pytest.raises(OSError, match="gone"):
            await memory.load(broken(), user="cleo")
        assert list(await memory.list(user="cleo")) == []

    run(do, tmp_path)


def test_who_calls_goes_along(tmp_path: Path) -> None:
    async def do(memory: AsyncMemory) -> None:
        with acting(Caller("k", users=("ann",), powers=frozenset({Power.READ}))):
            await memory.list(user="ann")
            with pytest.raises(Exception, match="may"):
                await memory.add("x", user="ann")
            with pytest.raises(Exception, match="bo"):
                [item async for item in memory.watch(user="bo", timeout=0)]

    run(do, tmp_path)
