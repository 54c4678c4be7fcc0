"""Making a client: addresses, keys and the environment; what it is made with is checked, and a key is never shown."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from mnemic import AsyncClient, Client, InputError
from mnemic.errors import UnreachableError
from tests.interaction.scripted_http import answering, reply

CUBES = reply(200, {"data": []})


@pytest.mark.parametrize("given", [
    "ftp://here", "here:8765", " ", "http://", "http://ann:secret@here", "http://here?x=1", "http://here/#x", "http://h:0",
    "http://h:99999", "http://a\nb", "http://[::1", 7,
])  # fmt: skip
def test_what_is_no_address_is_refused(given: Any) -> None:
    with pytest.raises(InputError) as told:
        Client(given)
    assert told.value.field == "url" and "secret" not in str(told.value)


@pytest.mark.parametrize("given", ["", "two words", "new\nline", "naïve", "nul\0", 7])
def test_what_is_no_key_is_refused_and_not_shown(given: Any) -> None:
    with pytest.raises(InputError) as told:
        AsyncClient(key=given)
    assert told.value.field == "key" and (not given or str(given) not in str(told.value))


@pytest.mark.parametrize("given", [
    {"timeout": 0}, {"timeout": -1}, {"timeout": float("nan")}, {"timeout": float("inf")}, {"timeout": True},
    {"retries": -1}, {"retries": 1.5}, {"user": ""}, {"user": True},
])  # fmt: skip
def test_what_a_client_cannot_do_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError) as told:
        Client(**given)
    assert [told.value.field] == list(given)


def test_a_key_goes_in_the_clear_only_where_that_is_asked_for() -> None:
    for place in (
        "http://memory.example.org",
        "http://10.0.0.5:8765",
        "http://localhost.evil.example",
        "http://0.0.0.0",
    ):
        with pytest.raises(InputError, match="in the clear"):
            Client(place, "mk_secret")
        Client(place, "mk_secret", allow_http=True).close()
        Client(place).close()
    for place in (
        "https://memory.example.org",
        "http://127.0.0.1:1",
        "http://[::1]:1",
        "http://localhost",
        "http://127.9.9.9",
    ):
        Client(place, "mk_secret").close()


def test_a_client_never_shows_its_key() -> None:
    with Client("http://127.0.0.1:8765/", "mk_secret") as client:
        assert repr(client) == "<Client http://127.0.0.1:8765>"
        assert "mk_secret" not in repr(client._line.address) + repr(vars(client))


def test_the_environment_says_where_the_server_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(CUBES) as server:
        monkeypatch.setenv("MNEMIC_URL", server.url)
        monkeypatch.setenv("MNEMIC_KEY", "mk_secret")
        with Client() as client:
            client.cubes.list(user="ann")
        assert server.asked[0].headers["authorization"] == "Bearer mk_secret"
        with Client(key="mk_other") as client:
            client.cubes.list(user="ann")
        assert server.asked[1].headers["authorization"] == "Bearer mk_other"


def test_a_closed_client_says_so() -> None:
    client = Client()
    client.close()
    client.close()
    with pytest.raises(UnreachableError, match="closed"):
        client.cubes.list(user="ann")


def test_threads_share_a_client() -> None:
    with answering(CUBES) as server, Client(server.url, user="ann") as client:
        found: list[object] = []
        threads = [threading.Thread(target=lambda: found.append(client.cubes.list())) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert found == [()] * 16


@pytest.mark.parametrize("given", [
    {"where": {"a": float("nan")}}, {"where": {"a": [1, {"b": object()}]}}, {"where": {"a": b"bytes"}},
])  # fmt: skip
def test_what_json_cannot_hold_is_refused_with_its_place(given: dict[str, Any]) -> None:
    with Client() as client, pytest.raises(InputError) as told:
        client.search("x", user="ann", **given)
    assert told.value.field.startswith("where.a")
