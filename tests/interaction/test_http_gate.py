"""Who is let in: this machine without a key, nobody's page, and whoever has a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import httpx2
import pytest

from mnemic import Memory
from mnemic.api import acting
from mnemic.model.caller import LOCAL
from mnemic.shells.http.app import build
from tests.interaction.http_served import asking, guarded

PATH = "/v1/stats?user=ann"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with guarded(tmp_path_factory.mktemp("gate"), worker=False, serve_origins="https://app.example.com") as opened:
        yield opened


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with guarded(tmp_path_factory.mktemp("keyed"), worker=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def secrets(keyed: Memory) -> dict[str, str]:
    with acting(LOCAL):
        made = {
            "admin": keyed.keys.create("root", powers=["read", "write", "admin"]),
            "ann": keyed.keys.create("ann's", users=["ann"]),
            "reader": keyed.keys.create("reads", users=["ann"], powers=["read"]),
            "slow": keyed.keys.create("slow", users=["ann"], per_minute=1),
            "gone": keyed.keys.create("gone"),
        }
        keyed.keys.revoke(made["gone"].key.id)
    return {name: each.secret for name, each in made.items()}


def ask(memory: Memory, path: str = PATH, method: str = "GET", client: Any = None, **given: Any) -> httpx2.Response:
    async def one() -> httpx2.Response:
        options = {} if client is None else {"client": client}
        async with asking(build(memory), **options) as asked:
            return await asked.request(method, path, **given)

    return anyio.run(one)


@pytest.mark.parametrize("host", [
    "localhost", "localhost:8765", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8765", "127.8.9.1", "[::1]", "[::1]:8765",
])  # fmt: skip
def test_without_a_key_this_machine_is_served(memory: Memory, host: str) -> None:
    assert ask(memory, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", [
    "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "0.0.0.0", "[::]", "", "2130706433",
    "evil.example:127", "localhost@evil.example",
])  # fmt: skip
def test_a_name_that_was_bent_to_this_machine_is_refused(memory: Memory, host: str) -> None:
    response = ask(memory, headers={"Host": host})
    assert (response.status_code, response.json()["code"]) == (421, "forbidden")


@pytest.mark.parametrize("headers", [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},
    {"Origin": "http://localhost:8765.evil.example"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "https://app.example.com.evil.example"},
    {"Forwarded": "for=10.0.0.1"},
    {"X-Forwarded-For": "10.0.0.1"},
])  # fmt: skip
def test_pages_of_other_origins_and_requests_from_elsewhere_are_refused(
    memory: Memory, headers: dict[str, str]
) -> None:
    response = ask(memory, headers=headers)
    assert (response.status_code, response.json()["code"]) == (403, "forbidden")
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("headers", [
    {"Origin": "http://localhost:8765"},
    {"Origin": "http://localhost:8765", "Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
])  # fmt: skip
def test_a_page_of_the_server_itself_may_call(memory: Memory, headers: dict[str, str]) -> None:
    assert ask(memory, headers=headers).status_code == 200


def test_another_machine_is_not_served_without_a_key_whatever_host_it_names(memory: Memory) -> None:
    response = ask(memory, client=("10.0.0.7", 1234))
    assert (response.status_code, response.json()["code"]) == (403, "forbidden")
    assert "mnemic keys create" in response.json()["detail"]
    assert ask(memory, client=("::ffff:127.0.0.1", 1234)).status_code == 200


def test_what_tells_nothing_of_anybody_is_open_to_all(memory: Memory) -> None:
    for path in ("/health", "/ready", "/openapi.json", "/"):
        assert ask(memory, path, client=("10.0.0.7", 1), headers={"Host": "mnemic.example"}).status_code == 200
    assert ask(memory, "/metrics", client=("10.0.0.7", 1)).status_code == 403


def test_pages_of_an_origin_that_the_settings_name_may_call(memory: Memory) -> None:
    origin = {"Origin": "https://app.example.com", "Sec-Fetch-Site": "cross-site"}
    response = ask(memory, headers=origin)
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://app.example.com"
    assert "Origin" in response.headers["vary"]
    wish = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    response = ask(memory, "/v1/search", "OPTIONS", headers={**origin, **wish})
    assert response.status_code == 204
    assert "Authorization" in response.headers["access-control-allow-headers"]
    response = ask(memory, "/v1/search", "OPTIONS", headers={"Origin": "https://evil.example", **wish})
    assert response.status_code == 403
    assert not any(name.startswith("access-control") for name in response.headers)


@pytest.mark.parametrize("headers", [
    "Bearer {}", "bearer {}", "Token {}", "Bearer   {}",
])  # fmt: skip
def test_a_key_is_taken_in_each_of_its_forms(keyed: Memory, secrets: dict[str, str], headers: str) -> None:
    given = {"Authorization": headers.format(secrets["ann"])}
    elsewhere = {"Host": "mnemic.example", "X-Forwarded-For": "10.0.0.1"}
    assert ask(keyed, headers=given).status_code == 200
    assert ask(keyed, "/v1/stats", headers=given).status_code == 200  # the key says whose it is
    assert ask(keyed, headers={**given, **elsewhere}, client=("10.0.0.7", 1)).status_code == 200
    assert ask(keyed, headers={"X-API-Key": secrets["ann"]}).status_code == 200


@pytest.mark.parametrize("headers", [
    {}, {"Authorization": ""}, {"Authorization": "Bearer"}, {"Authorization": "Bearer "},
    {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer mnk_wrong"}, {"X-API-Key": ""},
    {"X-API-Key": "x" * 10_000}, {"Authorization": "Bearer \u00e9"},
])  # fmt: skip
def test_from_the_first_key_on_each_call_needs_one(
    keyed: Memory, secrets: dict[str, str], headers: dict[str, str]
) -> None:
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    response = ask(keyed, headers=encoded)
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")
    assert response.headers["www-authenticate"].startswith("Bearer")


def test_a_revoked_key_looks_like_one_that_never_was(keyed: Memory, secrets: dict[str, str]) -> None:
    gone = ask(keyed, headers={"X-API-Key": secrets["gone"]})
    never = ask(keyed, headers={"X-API-Key": secrets["gone"][:-1] + "x"})
    assert gone.status_code == never.status_code == 401
    assert gone.json()["detail"] == never.json()["detail"]


def test_a_key_reaches_as_far_as_it_says(keyed: Memory, secrets: dict[str, str]) -> None:
    as_ann, reads = {"X-API-Key": secrets["ann"]}, {"X-API-Key": secrets["reader"]}
    assert ask(keyed, "/v1/stats?user=bob", headers=as_ann).status_code == 403
    assert ask(keyed, headers=reads).status_code == 200
    body = {"user": "ann", "messages": "x"}
    assert ask(keyed, "/v1/messages", "POST", json=body, headers=reads).status_code == 403
    assert ask(keyed, "/metrics", headers=as_ann).status_code == 403
    assert ask(keyed, "/metrics", headers={"X-API-Key": secrets["admin"]}).status_code == 200


def test_a_key_that_calls_too_often_is_told_when_to_come_again(keyed: Memory, secrets: dict[str, str]) -> None:
    slow = {"X-API-Key": secrets["slow"]}
    found = [ask(keyed, headers=slow) for _ in range(3)]
    assert found[-1].status_code == 429
    assert found[-1].json()["code"] == "rate_limited"
    assert 1 <= int(found[-1].headers["retry-after"]) <= 60


def test_a_secret_is_in_no_log(keyed: Memory, secrets: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    ask(keyed, headers={"X-API-Key": secrets["ann"]})
    ask(keyed, headers={"Authorization": f"Bearer {secrets['ann'][:-2]}zz"})
    assert secrets["ann"][:-2] not in "\n".join(str(vars(each)) for each in caplog.records)


def test_each_reply_has_the_id_of_its_request(memory: Memory) -> None:
    assert ask(memory, headers={"X-Request-Id": "mine-1"}).headers["x-request-id"] == "mine-1"
    made = ask(memory, headers={"X-Request-Id": "not plain; at all"}).headers["x-request-id"]
    assert made != "not plain; at all" and len(made) > 20
    added = ask(
        memory, "/v1/messages", "POST", json={"user": "ann", "messages": "x"}, headers={"X-Request-Id": "mine-2"}
    )
    job = ask(memory, f"/v1/jobs/{added.json()['job']}?user=ann").json()
    assert job["trace"] == "mine-2"


def test_a_reply_cannot_be_taken_for_something_else(memory: Memory) -> None:
    for path in (PATH, "/", "/health", "/v1/nothing"):
        headers = ask(memory, path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["server"] == "mnemic"


def test_a_large_reply_is_packed_for_those_who_take_it(memory: Memory) -> None:
    ask(memory, "/v1/messages", "POST", json={"user": "long", "messages": "the same words again " * 500})
    plain = ask(memory, "/v1/items?user=long", headers={"Accept-Encoding": "identity"})
    packed = ask(memory, "/v1/items?user=long", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip" and "Accept-Encoding" in packed.headers["vary"]
    assert packed.json() == plain.json()
    assert int(packed.headers["content-length"]) < len(plain.content) / 5
    small = ask(memory, "/health", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in small.headers


def test_the_first_page_says_what_to_try_and_asks_nobody_else(memory: Memory) -> None:
    page = ask(memory, "/").text
    assert "http://localhost:8765/v1/messages" in page and "/openapi.json" in page
    assert "src=" not in page and "https://" not in page
    escaped = ask(memory, "/", headers={"Host": "<script>"}).text
    assert "<script>" not in escaped
