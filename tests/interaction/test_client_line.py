"""Clients that meet servers in trouble, and what is no server of ours: each ends in the right error, or goes well."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio.from_thread
import pytest

from mnemic import AsyncClient, Client, MnemicError
from mnemic.client.async_line import AsyncStream
from mnemic.errors import (
    BudgetError,
    BusyError,
    ConflictError,
    KeyRefusedError,
    LanguageError,
    NotFoundError,
    RateError,
    UnreachableError,
)
from mnemic.model.answer import Answer
from mnemic.wire.values import plain
from tests.interaction.scripted_http import ScriptedHttp, Step, answering, begun, chunk, event, problem, reply

CUBES = reply(200, {"data": []})
ADDED = {"cube": "c", "session": "s", "message_ids": ["m"], "stored": 1, "skipped": [], "job": None, "notes": []}
ANSWER = plain(Answer("Porto", (), found=True, mode="m"))


class Calling:
    """A client of either kind; `pauses` are those it has made between tries, which take no time here."""

    def __init__(self, client: Client | AsyncClient, portal: anyio.from_thread.BlockingPortal | None) -> None:
        self._client = client
        self._portal = portal
        self.pauses: list[float] = []
        if isinstance(client, AsyncClient):
            client._line.pause = self._paused_async
        else:
            client._line.pause = self.pauses.append

    async def _paused_async(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def __call__(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        """Return what a verb gives; of a stream the list of what came."""
        found: Any = self._client
        for name in verb.split("."):
            found = getattr(found, name)
        if self._portal is None:
            given = found(*args, **kwargs)
            return list(given) if isinstance(given, Iterator) else given
        return self._portal.call(_awaited, found, args, kwargs)

    def heard(self, verb: str, *args: Any, **kwargs: Any) -> tuple[list[Any], MnemicError | None]:
        """Return the pieces of a stream, and the error that it ended in."""
        pieces: list[Any] = []
        try:
            if self._portal is None:
                pieces.extend(getattr(self._client, verb)(*args, **kwargs))
            else:
                self._portal.call(_hear, getattr(self._client, verb)(*args, **kwargs), pieces)
        except MnemicError as error:
            return pieces, error
        return pieces, None


async def _awaited(verb: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    given = verb(*args, **kwargs)
    return [piece async for piece in given] if isinstance(given, AsyncStream) else await given


async def _hear(stream: AsyncStream[Any], pieces: list[Any]) -> None:
    async for piece in stream:
        pieces.append(piece)  # noqa: PERF401 - what came before an error is kept


@contextmanager
def calling(kind: str, url: str, **options: Any) -> Iterator[Calling]:
    given = {"user": "ann", "timeout": 20, **options}
    if kind == "sync":
        with Client(url, **given) as client:
            yield Calling(client, None)
        return
    with anyio.from_thread.start_blocking_portal() as portal:

        async def made() -> AsyncClient:
            return AsyncClient(url, **given)

        async_client = portal.call(made)
        yield Calling(async_client, portal)
        portal.call(async_client.close)


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return what makes a client of a server that follows a script."""

    @contextmanager
    def meeting(*script: Step, **options: Any) -> Iterator[tuple[Calling, ScriptedHttp]]:
        with answering(*script) as server, calling(request.param, server.url, **options) as made:
            yield made, server

    return meeting


def refused(do: Callable[[], object], kind: type[MnemicError]) -> MnemicError:
    with pytest.raises(kind) as told:
        do()
    assert type(told.value) is kind
    return told.value


def cut(server: ScriptedHttp, connection: socket.socket) -> None:
    """Close the connection without a word."""


def reset(server: ScriptedHttp, connection: socket.socket) -> None:
    """Break the connection off in the middle of the answer."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")


def hang(server: ScriptedHttp, connection: socket.socket) -> None:
    """Say nothing."""
    server.hang()


# -- what is sent -----------------------------------------------------------------------------------------------------


def test_a_call_carries_the_key_the_user_and_what_was_given(client: Any) -> None:
    with client(reply(201, ADDED), key="mk_secret") as (call, server):
        call("add", "hello", session="a/b")
        [asked] = server.asked
        assert (asked.method, asked.path) == ("POST", "/v1/messages")
        assert asked.headers["authorization"] == "Bearer mk_secret"
        assert asked.headers["user-agent"].startswith("mnemic/")
        assert asked.json == {"messages": "hello", "user": "ann", "session": "a/b", "wait": False}


def test_without_a_user_the_key_says_who_is_meant(client: Any) -> None:
    with client(CUBES, user=None) as (call, server):
        call("cubes.list")
        call("cubes.list", user="bo")
        assert [asked.path for asked in server.asked] == ["/v1/cubes", "/v1/cubes?user=bo"]


def test_each_write_has_a_key_of_its_own_and_reads_have_none(client: Any) -> None:
    with client(reply(201, ADDED), reply(201, ADDED), CUBES) as (call, server):
        call("add", "one")
        call("add", "one")
        call("cubes.list")
        first, second, third = (asked.headers.get("idempotency-key") for asked in server.asked)
        assert first and second and first != second and third is None


# -- trying again -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failing", [cut, reset, reply(502, b"<html>", "text/html"), reply(503, b"", "text/plain")])
def test_a_read_is_made_again_when_it_was_not_answered(client: Any, failing: Step) -> None:
    with client(failing, failing, CUBES) as (call, server):
        assert call("cubes.list") == ()
        assert len(server.asked) == 3 and len(call.pauses) == 2


def test_a_write_is_made_again_under_the_same_key(client: Any) -> None:
    with client(cut, reset, reply(201, ADDED)) as (call, server):
        assert call("add", "hello").message_ids == ("m",)
        assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 1 and len(server.asked) == 3


def test_a_write_that_is_still_under_way_is_asked_for_again(client: Any) -> None:
    def under_way(server: ScriptedHttp, connection: socket.socket) -> None:
        token = server.asked[-1].headers["idempotency-key"]
        connection.sendall(problem(409, "conflict", "it was begun", token=token))

    with client(cut, under_way, reply(201, ADDED)) as (call, server):
        assert call("add", "hello").message_ids == ("m",) and len(server.asked) == 3
    with client(cut, under_way) as (call, server):
        assert "its reply is lost" in str(refused(lambda: call("add", "hello"), UnreachableError))
    with client(problem(409, "conflict", "taken", token="another")) as (call, server):
        refused(lambda: call("add", "hello"), ConflictError)
        assert len(server.asked) == 1


def test_retries_end_and_the_error_says_what_is_not_known(client: Any) -> None:
    with client(cut, retries=1) as (call, server):
        error = refused(lambda: call("add", "hello"), UnreachableError)
        assert "whether it was carried out is not known" in str(error) and len(server.asked) == 2
        assert server.url in str(error)
    with client(cut, retries=0) as (call, server):
        assert "not known" not in str(refused(lambda: call("cubes.list"), UnreachableError)), "it only reads"
        assert len(server.asked) == 1 and call.pauses == []


def test_what_no_server_knows_again_is_made_once(client: Any) -> None:
    for verb, args in (("load", [["line"]]), ("keys.create", ["a name"])):
        with client(cut) as (call, server):
            refused(lambda: call(verb, *args), UnreachableError)  # noqa: B023 - it is called at once
            assert len(server.asked) == 1


def test_what_costs_money_is_not_made_again_when_it_takes_long(client: Any) -> None:
    with client(hang, reply(200, ANSWER), timeout=0.05) as (call, server):
        refused(lambda: call("ask", "why?"), UnreachableError)
        assert len(server.asked) == 1


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("status, code", [(429, "rate_limited"), (503, "busy")])
def test_a_server_that_is_too_busy_is_asked_again_when_it_says(
    client: Any, status: int, code: str, write: bool
) -> None:
    told = [problem(status, code, after="3"), problem(status, code, retry_after=1.5)]
    with client(*told, reply(201, ADDED) if write else CUBES) as (call, server):
        assert call("add", "hello") if write else call("cubes.list") == ()
        assert call.pauses == [3.0, 1.5] and len(server.asked) == 3


@pytest.mark.parametrize("kind, status, code", [(RateError, 429, "rate_limited"), (BusyError, 503, "busy")])
def test_who_must_wait_for_long_is_told_so_at_once(client: Any, kind: Any, status: int, code: str) -> None:
    with client(problem(status, code, after="3600")) as (call, server):
        assert refused(lambda: call("cubes.list"), kind).fields["retry_after"] == 3_600
        assert call.pauses == [] and len(server.asked) == 1


@pytest.mark.parametrize("kind, status, code", [
    (BudgetError, 429, "budget_spent"), (LanguageError, 502, "language_model_failed"),
    (NotFoundError, 404, "not_found"), (KeyRefusedError, 401, "unauthenticated"), (MnemicError, 500, "error"),
])  # fmt: skip
def test_a_refusal_is_told_and_not_tried_again(client: Any, kind: Any, status: int, code: str) -> None:
    with client(problem(status, code, "so it is", cube="c")) as (call, server):
        error = refused(lambda: call("cubes.list"), kind)
        assert str(error) == "so it is" and error.fields == {"cube": "c"}
        assert len(server.asked) == 1


def test_pauses_grow_and_differ(client: Any) -> None:
    with client(cut, retries=6) as (call, _):
        refused(lambda: call("cubes.list"), UnreachableError)
        assert len(set(call.pauses)) == 6
        assert all(0 <= pause <= 0.25 * 2**number for number, pause in enumerate(call.pauses))


# -- no answer, and strange ones --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_server_that_is_not_there_is_told_with_its_address(kind: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with calling(kind, f"http://127.0.0.1:{port}", retries=1) as call:
        error = refused(lambda: call("add", "hello"), UnreachableError)
        assert f"http://127.0.0.1:{port} cannot be reached" in str(error) and "mnemic serve" in str(error)
        assert "not known" not in str(error), "it never arrived"
        assert len(call.pauses) == 1
        assert error.__cause__ is not None


def test_a_server_that_says_nothing_is_not_waited_for_without_end(client: Any) -> None:
    with client(hang, timeout=0.1, retries=1) as (call, server):
        assert "has not answered within 0.1 s" in str(refused(lambda: call("cubes.list"), UnreachableError))
        assert len(server.asked) == 2
    with client(hang, timeout=0.1, retries=1) as (call, server):
        refused(lambda: call("add", "hello"), UnreachableError)
        assert len(server.asked) == 1, "the first may still be under way"


@pytest.mark.parametrize("strange", [
    reply(200, b"<html>It works!</html>", "text/html"),
    reply(200, b"", "application/json"),
    reply(200, b"{", "application/json"),
    reply(200, b"[" * 200_000, "application/json"),
    reply(200, b"9" * 5_000, "application/json"),
    reply(200, b"\xff\xfe", "application/json"),
    reply(200, []),
    reply(200, {"data": "text"}),
    reply(200, {"data": [{"id": 7}]}),
    reply(200, None, "application/json"),
    reply(204, None, ""),
    reply(404, b"<h1>Not Found</h1>", "text/html"),
    reply(404, {"detail": "Not Found"}),
    reply(418, {"code": "teapot", "detail": "short"}, "application/problem+json"),
    reply(400, [1], "application/problem+json"),
    reply(500, b"not json", "application/problem+json"),
    reply(302, None, "", Location="https://elsewhere.example/v1/cubes"),
    reply(304, None, ""),
    b"SSH-2.0-OpenSSH_9.6\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
])  # fmt: skip
def test_an_answer_that_is_none_of_ours_is_told_as_such(client: Any, strange: bytes) -> None:
    with client(strange, key="mk_secret", retries=0) as (call, _):
        error = refused(lambda: call("cubes.list"), UnreachableError)
        assert "mk_secret" not in str(error) and "mk_secret" not in repr(error)
        assert len(str(error)) < 600


def test_a_key_follows_no_redirect(client: Any) -> None:
    with (
        answering(CUBES) as other,
        client(reply(307, None, "", Location=f"{other.url}/v1/cubes"), key="k") as (call, _),
    ):
        assert other.url in str(refused(lambda: call("cubes.list"), UnreachableError))
        assert other.asked == []


# -- streams ----------------------------------------------------------------------------------------------------------


def test_a_stream_gives_its_pieces_and_the_answer(client: Any) -> None:
    parts = [begun(), chunk(b": still here\n\n"), event("text", {"text": "Por"}), event("text", {"text": "to\u2028"})]
    with client([*parts, event("of a later version", {"x": 1}), event("answer", ANSWER), chunk(b"")]) as (call, _):
        pieces, error = call.heard("ask_stream", "where?")
        assert pieces == ["Por", "to\u2028", Answer("Porto", (), found=True, mode="m")] and error is None


@pytest.mark.parametrize("end", [b"", chunk(b""), chunk(b"event: answer\ndata: {")], ids=["cut", "ended", "half"])
def test_a_stream_that_breaks_off_is_never_taken_for_whole(client: Any, end: bytes) -> None:
    with client([begun(), event("text", {"text": "Por"}), end]) as (call, server):
        pieces, error = call.heard("ask_stream", "where?")
        assert pieces == ["Por"] and type(error) is UnreachableError
        assert len(server.asked) == 1, "what was shown is not asked for again"


def test_an_error_inside_a_stream_is_raised_as_what_it_is(client: Any) -> None:
    told = {"code": "language_model_failed", "status": 502, "detail": "it is gone", "fields": {"status": 503}}
    with client([begun(), event("text", {"text": "Por"}), event("error", told), chunk(b"")]) as (call, _):
        pieces, error = call.heard("chat_stream", "where?")
        assert pieces == ["Por"] and type(error) is LanguageError
        assert str(error) == "it is gone" and error.fields == {"status": 503}


def test_a_stream_that_is_refused_is_refused_when_it_is_asked_for(client: Any) -> None:
    with client(problem(404, "not_found", "no such cube")) as (call, _):
        pieces, error = call.heard("watch", cube="nowhere")
        assert pieces == [] and type(error) is NotFoundError


@pytest.mark.parametrize("strange", [chunk(b"data: \xff\n\n"), event("item", {"id": 1}), event("text", 7)])
def test_a_stream_of_what_is_none_of_ours_is_told_as_such(client: Any, strange: bytes) -> None:
    with client([begun(), strange, chunk(b"")]) as (call, _):
        assert type(call.heard("watch", timeout=1)[1]) is UnreachableError


def test_a_watch_that_is_to_go_on_does_not_end_silently(client: Any) -> None:
    with client([begun(), chunk(b"")]) as (call, _):
        assert type(call.heard("watch")[1]) is UnreachableError
        assert call.heard("watch", timeout=5) == ([], None), "nothing changed for so long"


def test_events_of_jobs_go_on_where_they_were_cut(client: Any) -> None:
    job = {
        "id": "j", "kind": "organize", "state": "done", "attempts": 1, "created_at": "2026-01-01T00:00:00+00:00",
        "not_before": "2026-01-01T00:00:00+00:00",
    }  # fmt: skip
    first = [begun(), event("job", job, "2026-01-01T00:00:00+00:00 j")]
    second = [begun(), event("job", {**job, "id": "k"}, "2026-01-01T00:00:01+00:00 k"), chunk(b"")]
    with client(first, second) as (call, server):
        assert [each.id for each in call("jobs.events", timeout=1)] == ["j", "k"]
        assert [asked.headers.get("last-event-id") for asked in server.asked] == [None, "2026-01-01T00:00:00+00:00 j"]


def test_lines_that_break_off_are_never_taken_for_whole(client: Any) -> None:
    kind = "application/x-ndjson"
    with client([begun(kind), chunk(b'{"a"'), chunk(b':"\xe2\x80\xa8"}\n{"b":1}\n'), chunk(b"")]) as (call, _):
        assert call.heard("export") == (['{"a":"\u2028"}', '{"b":1}'], None)
    for end in (b"", chunk(b'{"c"') + chunk(b"")):
        with client([begun(kind), chunk(b'{"a":1}\n'), end]) as (call, _):
            pieces, error = call.heard("export")
            assert pieces == ['{"a":1}'] and type(error) is UnreachableError


def test_who_leaves_a_stream_ends_the_request() -> None:
    left = threading.Event()

    def endless(server: ScriptedHttp, connection: socket.socket) -> None:
        connection.sendall(begun() + event("text", {"text": "one"}))
        while connection.recv(1):
            pass
        left.set()

    with answering(endless) as server, Client(server.url, user="ann") as client:
        with client.ask_stream("why?") as pieces:
            assert next(pieces) == "one"
        assert left.wait(20)
        assert list(pieces) == [], "what was closed is over"


def test_an_async_stream_that_is_left_ends_the_request() -> None:
    left = threading.Event()

    def endless(server: ScriptedHttp, connection: socket.socket) -> None:
        connection.sendall(begun() + event("text", {"text": "one"}))
        while connection.recv(1):
            pass
        left.set()

    async def listen(url: str) -> None:
        async with AsyncClient(url, user="ann") as client:
            with anyio.move_on_after(20) as patience:
                async with client.ask_stream("why?") as pieces:
                    async for piece in pieces:
                        assert piece == "one"
                        patience.cancel()

    with answering(endless) as server:
        anyio.run(listen, server.url)
        assert left.wait(20)
