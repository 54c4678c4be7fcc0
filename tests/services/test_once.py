"""Calls that are carried out once: whenever they come again, at whatever moment the first was cut off."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest

from mnemic import ConflictError, InputError, Memory
from mnemic.api import acting, once
from mnemic.model.caller import Caller
from tests.services.opened import Clock, bytes_of, open_memory

pytestmark = pytest.mark.usefixtures("engine")

KEY = Caller("k1")
WORD = "plover in a reply"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with open_memory(tmp_path, clock=clock) as opened:
        yield opened


def add(memory: Memory, token: str = "t1", digest: str = "d1", caller: Caller = KEY) -> tuple[int, bytes]:
    """Add a message as a server does for a call with an idempotency key; return what it replies."""
    with acting(caller), once(memory, token, digest) as attempt:
        if attempt.reply is not None:
            return attempt.reply
        added = memory.add("I like tea.", user="ann", session=f"of {caller.key}")
        body = added.message_ids[0].encode()
        attempt.keep(201, body)
        return 201, body


def holds(folder: Path, words: str) -> bool:
    """Tell whether a store holds these words, as text or as bytes, which PostgreSQL shows as digits."""
    found = bytes_of(folder)
    return words.encode() in found or words.encode().hex().encode() in found


def stored(memory: Memory) -> int:
    return memory.stats(user="ann").messages


def test_a_call_that_comes_again_gets_the_reply_of_the_first(memory: Memory, tmp_path: Path) -> None:
    first = add(memory)
    assert add(memory) == first
    with open_memory(tmp_path) as other:
        assert add(other) == first
    assert stored(memory) == 1


def test_a_token_is_of_one_key_and_of_one_request(memory: Memory) -> None:
    add(memory)
    assert add(memory, caller=Caller("k2")) != add(memory)
    with pytest.raises(ConflictError, match="another request") as caught:
        add(memory, digest="d2")
    assert caught.value.fields == {"token": "t1"}
    assert stored(memory) == 2


def test_a_call_that_was_cut_off_after_it_wrote_is_not_carried_out_again(memory: Memory) -> None:
    with acting(KEY), once(memory, "t1", "d1") as attempt:
        memory.add("I like tea.", user="ann")
        assert attempt.begun  # and nothing is replied
    with pytest.raises(ConflictError, match="what it stored is stored"):
        add(memory)
    assert stored(memory) == 1


def test_a_call_that_failed_before_it_wrote_may_come_again(memory: Memory) -> None:
    with pytest.raises(InputError), acting(KEY), once(memory, "t1", "d1") as attempt:
        memory.add(7, user="ann")  # type: ignore[arg-type]  # what callers give
    assert not attempt.begun
    assert add(memory)[0] == 201
    assert stored(memory) == 1


def test_an_error_after_something_was_stored_is_a_reply_as_any_other(memory: Memory) -> None:
    with acting(KEY), once(memory, "t1", "d1") as attempt:
        memory.add("I like tea.", user="ann")
        attempt.keep(502, b"no model")
    assert add(memory) == (502, b"no model")


def test_a_call_that_writes_nothing_has_its_reply_kept_too(memory: Memory) -> None:
    with acting(KEY), once(memory, "t1", "d1") as attempt:
        memory.search("tea", user="ann")
        attempt.keep(200, b"nothing")
        assert not attempt.begun
    assert add(memory) == (200, b"nothing")
    assert stored(memory) == 0


def test_of_calls_that_come_at_the_same_moment_one_is_carried_out(memory: Memory) -> None:
    start = Barrier(6)

    def come(_: int) -> tuple[int, bytes] | str:
        start.wait(30)
        try:
            return add(memory)
        except ConflictError as error:
            return error.code

    with ThreadPoolExecutor(6) as pool:
        replies = list(pool.map(come, range(6), timeout=60))
    assert len({reply for reply in replies if reply != "conflict"}) == 1
    assert stored(memory) == 1
    assert add(memory) in replies


def test_a_token_is_forgotten_after_a_day(memory: Memory, clock: Clock) -> None:
    first = add(memory)
    clock.at += timedelta(hours=23)
    assert add(memory) == first
    with pytest.raises(ConflictError):
        add(memory, digest="d2")
    clock.at += timedelta(hours=1)
    second = add(memory, digest="d2")
    assert add(memory, digest="d2") == second
    clock.at += timedelta(hours=25)
    assert memory._parts.access.audit.prune() >= 1
    assert add(memory, digest="d3")[0] == 201


@pytest.mark.parametrize("way", ["about", "everything", "delete"])
def test_a_reply_is_forgotten_with_what_it_may_quote(memory: Memory, tmp_path: Path, way: str) -> None:
    cube = memory.cubes.create("trip", user="ann").id
    memory.add("I like marmalade.", user="ann", cube=cube)
    with acting(KEY), once(memory, "t1", "d1") as attempt:
        given = memory.chat("What do I like?", user="ann", cube=cube)
        assert "marmalade" in given.text
        attempt.keep(200, f"{given.text} {WORD}".encode())
    assert holds(tmp_path, WORD)
    if way == "delete":
        receipt = memory.cubes.delete(cube, user="ann")
    elif way == "everything":
        receipt = memory.forget(everything=True, user="ann", cube=cube)
    else:
        receipt = memory.forget(about="marmalade", user="ann", cube=cube)
    assert receipt.removed["reply"] == 1
    assert not holds(tmp_path, WORD)
    with pytest.raises(ConflictError, match="forgotten"):
        add(memory)


def test_forgetting_is_carried_out_once_too(memory: Memory) -> None:
    memory.add("I like marmalade.", user="ann")
    replies = []
    for _ in range(2):
        with acting(KEY), once(memory, "t1", "d1") as attempt:
            replies.append(attempt.reply)
            if attempt.reply is None:
                memory.forget(about="marmalade", user="ann")
                attempt.keep(200, b"done")
    assert replies == [None, (200, b"done")]


def test_what_is_no_part_of_the_call_is_not_bound_to_its_token(memory: Memory) -> None:
    memory.add("I live in Porto.", user="bob")
    with acting(KEY), once(memory, "t1", "d1") as attempt:
        memory.jobs.wait(user="bob")  # others' work, done in this call
        begun = attempt.begun
        memory.add("I like tea.", user="ann", wait=True)
        assert (begun, attempt.begun) == (False, True)
        attempt.keep(201, b"")
    assert add(memory) == (201, b"")


@pytest.mark.parametrize("token", ["", " ", "t" * 256, "\0", None, 1.5])
def test_a_token_is_an_id(memory: Memory, token: object) -> None:
    with pytest.raises(InputError, match="idempotency_key"):
        once(memory, token, "d").__enter__()  # type: ignore[arg-type]  # what callers give
