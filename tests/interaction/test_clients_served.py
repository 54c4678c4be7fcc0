"""Clients and a true server: keys, writes whose replies are lost, streams that a server ends, limits."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mnemic import AccessError, Client, InputError, Memory, UnreachableError
from mnemic.acting import acting
from mnemic.errors import BusyError, KeyRefusedError, RateError, TooLargeError
from mnemic.model.caller import LOCAL
from mnemic.model.key import NewKey
from mnemic.model.message import StoredMessage
from tests.interaction.http_served import guarded, serving

PATIENCE = 30.0  # seconds


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with guarded(tmp_path, serve_max_megabytes=1) as opened:
        yield opened


@pytest.fixture
def url(memory: Memory) -> Iterator[str]:
    with serving(memory) as (address, _):
        yield address


def key(memory: Memory, **options: object) -> NewKey:
    with acting(LOCAL):
        return memory.keys.create("a key", **options)  # type: ignore[arg-type]


@contextmanager
def losing(url: str, replies: int) -> Iterator[str]:
    """Stand before a server, pass calls on, and lose so many of its replies, after they were made."""
    there = urlsplit(url)
    lost: list[bytes] = []
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)

        def stand() -> None:
            while not over.is_set():
                try:
                    client, _ = listener.accept()
                except TimeoutError:
                    continue
                with client, socket.create_connection((there.hostname or "", there.port or 0), PATIENCE) as server:
                    client.settimeout(PATIENCE)
                    asked = b""
                    while not _whole(asked):
                        asked += client.recv(65_536)
                    server.sendall(asked.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
                    told = b""
                    while part := server.recv(65_536):
                        told += part
                    if len(lost) < replies:
                        lost.append(told)
                    else:
                        client.sendall(told)

        thread = threading.Thread(target=stand)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            assert len(lost) == replies
        finally:
            over.set()
            thread.join(PATIENCE)


def _whole(asked: bytes) -> bool:
    head, found, body = asked.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    return bool(found) and len(body) >= length


def test_a_write_whose_reply_is_lost_is_carried_out_once(url: str) -> None:
    with losing(url, replies=2) as place, Client(place, user="ann") as client:
        added = client.add("the same words, said twice")
        assert added.stored == 1
        assert [item.id for item in client.list(kinds="message")] == list(added.message_ids)
    with losing(url, replies=1) as place, Client(place, user="ann") as client:
        cube = client.cubes.create("work")
        assert cube in client.cubes.list(), "a second try would have found the name taken"


def test_a_key_says_for_whom_calls_are_and_how_far_they_go(memory: Memory, url: str) -> None:
    secret = key(memory, users="ann", powers="read").secret
    with Client(url, secret) as client:
        assert client.list() == ()
        for refused in (lambda: client.add("x"), lambda: client.list(user="bo"), client.keys.list):
            with pytest.raises(AccessError):
                refused()
    with Client(url, key(memory).secret) as client, pytest.raises(InputError) as told:
        client.list()
    assert told.value.field == "user"
    for wrong in (None, "mnk_nobody", secret[:-1] + ("a" if secret[-1] != "a" else "b")):
        with Client(url, wrong) as client, pytest.raises(KeyRefusedError) as error:
            client.list(user="ann")
        assert secret not in str(error.value)


def test_a_key_that_has_made_its_calls_is_told_when_it_may_again(memory: Memory, url: str) -> None:
    with Client(url, key(memory, users="ann", per_minute=2).secret, retries=0) as client:
        client.list()
        client.list()
        with pytest.raises(RateError) as told:
            client.list()
        assert told.value.fields["retry_after"]


def test_too_much_at_once_is_refused_as_such(url: str) -> None:
    with Client(url, user="ann") as client:
        with pytest.raises(TooLargeError) as told:
            client.add("word " * 300_000)
        assert told.value.field == "body"
        assert client.add("less").stored == 1, "the line goes on"


def test_a_server_that_shuts_down_says_so_to_who_watches(memory: Memory) -> None:
    with serving(memory, patience=5) as (url, server), Client(url, user="ann") as client:
        watch = client.watch()
        client.add("hello")
        first = next(watch)
        assert isinstance(first, StoredMessage) and first.text == "hello"
        server.end()
        with pytest.raises((BusyError, UnreachableError)):
            for _ in watch:
                pass


def test_a_watch_that_is_left_frees_its_place(memory: Memory, url: str) -> None:
    with Client(url, user="ann") as client:
        for number in range(memory.settings.serve_streams + 5):
            with client.watch() as watch:
                client.add(f"note {number}")
                assert next(watch).id
