"""What a model server may take: time altogether, not counting its listener's, and bytes."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from mnemic.backends.models import bounded_http
from mnemic.backends.models.bounded_http import bounded_client
from mnemic.testing.loopback import Answer
from mnemic.testing.model_says import fails
from mnemic.testing.model_server import ModelServer


class Watch:
    """A clock that moves on by itself only when told to."""

    def __init__(self, step: float = 0.0) -> None:
        self.at = 0.0
        self.step = step

    def __call__(self) -> float:
        self.at += self.step
        return self.at


def body(client: httpx2.Client, server: ModelServer) -> Iterator[bytes]:
    with client.stream("POST", server.url, json={}) as response:
        yield from response.iter_raw()


PIECES = Answer(pieces=[b"one", b"two", b"three"], pause=0.02)


def test_the_time_that_a_listener_takes_between_two_pieces_is_not_the_servers() -> None:
    watch = Watch()
    with ModelServer([PIECES]) as server, bounded_client(5.0, watch) as client:
        heard = []
        for piece in body(client, server):
            heard.append(piece)
            watch.at += 100.0
    assert b"".join(heard) == b"onetwothree"


def test_the_time_that_a_server_takes_for_all_its_pieces_is_added_up() -> None:
    with (
        ModelServer([PIECES]) as server,
        bounded_client(5.0, Watch(2.0)) as client,
        pytest.raises(httpx2.ReadTimeout, match="did not end in time"),
    ):
        list(body(client, server))


def test_an_endless_answer_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_http, "MAX_ANSWER_BYTES", 1_000)
    endless = Answer(pieces=[b"x" * 400] * 1_000)
    with (
        ModelServer([endless]) as server,
        bounded_client(5.0) as client,
        pytest.raises(httpx2.ReadError, match="too long"),
    ):
        list(body(client, server))


@pytest.mark.parametrize("asked, told", [("4", None), ("6", "false")])
def test_a_wait_that_is_longer_than_a_request_is_not_waited_for(asked: str, told: str | None) -> None:
    with ModelServer([fails(429, headers={"retry-after": asked})]) as server, bounded_client(5.0) as client:
        assert client.post(server.url, json={}).headers.get("x-should-retry") == told


def test_a_redirect_is_not_followed() -> None:
    with ModelServer([Answer(status=307, headers={"location": "/v1/elsewhere"})]) as server:
        with bounded_client(5.0) as client:
            assert client.post(server.url, json={}).status_code == 307
        assert len(server.requests) == 1
