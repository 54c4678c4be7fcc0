"""Traces: what a call, its jobs and what they ask of other servers are named by."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from mnemic.ids import new_id
from mnemic.tracing import Trace, carried, current, headers, span_of, tracing


def test_a_call_inside_a_call_is_part_of_it() -> None:
    assert current() is None
    with tracing() as outer:
        with tracing() as inner:
            assert inner.id == outer.id
        assert current() == outer
    assert current() is None


def test_a_job_goes_back_to_the_call_that_caused_it_and_not_to_what_is_going_on() -> None:
    with tracing("one-call", job="its-job", span="0" * 15 + "1"), tracing("another-call") as other:
        assert other == Trace("another-call")
    with tracing("one-call"), tracing("one-call", job="its-job") as job:
        assert job == Trace("one-call", "its-job")
        with tracing() as inside:
            assert inside == job
        with tracing(span="00f067aa0ba902b7") as part:
            assert part == Trace("one-call", "its-job", "00f067aa0ba902b7")


def test_each_thread_has_its_own() -> None:
    found: list[Trace | None] = []
    with tracing():
        thread = threading.Thread(target=lambda: found.append(current()))
        thread.start()
        thread.join(5)
    assert found == [None]


def test_what_is_made_piece_by_piece_is_part_of_its_call_and_what_comes_between_is_not() -> None:
    made: list[str | None] = []
    closed: list[str] = []

    def pieces() -> Iterator[int]:
        try:
            for number in range(3):
                trace = current()
                made.append(trace.id if trace else None)
                yield number
        finally:
            closed.append("yes")

    stream = carried(Trace("the-call"), pieces())
    assert next(stream) == 0
    assert current() is None
    with tracing("another-call"):
        assert next(stream) == 1
        trace = current()
        assert trace is not None and trace.id == "another-call"
    stream.close()  # type: ignore[attr-defined]
    assert (made, closed) == (["the-call", "the-call"], ["yes"])


def test_another_server_is_told_the_id_as_it_is_and_as_w3c_has_it() -> None:
    assert headers() == {}
    call, job = new_id(), new_id()
    with tracing(call):
        found = headers()
        assert found["X-Request-Id"] == call
        assert found["traceparent"] == f"00-{call.replace('-', '')}-{call.replace('-', '')[16:]}-01"
        with tracing(call, job=job):
            assert headers()["traceparent"] == f"00-{call.replace('-', '')}-{job.replace('-', '')[16:]}-01"


def test_an_id_that_is_no_uuid_is_told_by_its_hash_and_never_breaks_a_header() -> None:
    with tracing("two\r\nlines: and a header"):
        found = headers()
    assert len(found["X-Request-Id"]) == 32 and found["traceparent"].split("-")[1] == found["X-Request-Id"]
    with tracing("request.4711"):
        assert headers()["X-Request-Id"] == "request.4711"
    assert span_of("0" * 32) != "0" * 16 and len(span_of("anything")) == 16
