"""Spans for OpenTelemetry: the same ids as in the log, linked over processes, without anything that is somebody's."""

from __future__ import annotations

import gzip
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode, get_current_span, get_tracer_provider

from mnemic import Memory
from mnemic.api import memory as face
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.telemetry.otlp import OtlpSpans
from mnemic.config import Settings
from mnemic.errors import InputError
from mnemic.ids import new_id
from mnemic.model.job import ORGANIZE, REFINE, queued
from mnemic.ports.spans import NO_SPAN, Watch
from mnemic.runtime.metered import MeteredStore
from mnemic.runtime.metrics import Kept
from mnemic.runtime.watching import JobWatch
from mnemic.testing.scripted_model import ScriptedModel
from mnemic.tracing import current, headers, span_of, tracing
from mnemic.wiring import parts as wired
from tests.services.opened import Clock, SteppedClock
from tests.services.scripted import reply, statement


class Collected:
    """Spans as they would be sent."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.spans = OtlpSpans("http://127.0.0.1:9/v1/traces", exporter=lambda: self._exporter)

    def closed(self) -> dict[str, ReadableSpan]:
        """Close, and return the spans by name; of one name, the last."""
        return {span.name: span for span in self.all()}

    def all(self) -> list[ReadableSpan]:
        self.spans.close()
        return list(self._exporter.get_finished_spans())


def ids(span: ReadableSpan) -> tuple[str, str, str]:
    """Return a span's trace, its own id, and its parent's."""
    assert span.context is not None
    parent = "" if span.parent is None else f"{span.parent.span_id:016x}"
    return f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}", parent


@contextmanager
def watched(folder: Path, collected: Collected, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setattr(wired, "watch_of", lambda _: Watch(Kept(), collected.spans))
    said = reply(statement("m1", "I live in Porto"))
    settings = Settings(home=str(folder), worker=False)
    with Memory(
        settings=settings, embedder=HashingEmbedder(64), llm=ScriptedModel(lambda _: said), clock=Clock()
    ) as memory:
        yield memory


def test_a_call_its_jobs_and_their_model_calls_are_one_trace_under_the_id_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected = Collected()
    with watched(tmp_path, collected, monkeypatch) as memory:
        memory.add("I live in Porto.", user="ann")
        memory.jobs.wait(user="ann")
        jobs = {job.kind: job for job in memory.jobs.list(user="ann")}
        trace = jobs[ORGANIZE].trace
    spans = collected.closed()
    digits = trace.replace("-", "")
    assert ids(spans["add"]) == (digits, span_of(trace), "")
    assert ids(spans["job organize"]) == (digits, span_of(jobs[ORGANIZE].id), span_of(trace))
    assert ids(spans["job refine"]) == (digits, span_of(jobs[REFINE].id), span_of(jobs[ORGANIZE].id))
    found = ids(spans["model call"])
    assert (found[0], found[2]) == (digits, span_of(jobs[REFINE].id))
    waiting = spans["jobs.wait"]
    assert ids(waiting)[0] != digits and waiting.status.status_code is StatusCode.UNSET
    assert dict(spans["job organize"].attributes or {}).keys() == {"kind", "lane", "attempt", "job", "waited"}


def test_no_attribute_holds_what_is_somebodys_and_an_error_is_told_by_its_code_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected = Collected()
    with watched(tmp_path, collected, monkeypatch) as memory:
        memory.add("My quokka lives in zanzibar.", user="the-user-eve", session="the-session-of-eve")
        memory.jobs.wait(user="the-user-eve")
        with pytest.raises(InputError):
            memory.search("zanzibar", user="the-user-eve", kinds="quokka")
    spans = collected.all()
    shown = "".join(span.to_json() for span in spans)
    assert not [word for word in ("quokka", "zanzibar", "the-user-eve", "the-session-of-eve") if word in shown]
    (failed,) = [span for span in spans if span.name == "search"]
    assert failed.status.status_code is StatusCode.ERROR and failed.status.description is None
    assert dict(failed.attributes or {}) == {"error.type": "invalid_input"}
    assert not failed.events


def test_a_second_try_of_a_job_has_a_span_of_its_own_under_the_same_cause() -> None:
    collected = Collected()
    watch = JobWatch(Watch(Kept(), collected.spans))
    call, cause = new_id(), new_id()
    for attempt in (1, 2):
        job = queued(new_id(), 1, ORGANIZE, SteppedClock().now(), parent=cause)
        job = replace(job, trace=call, attempts=attempt)
        with watch.job(job) as ending:
            trace = current()
            assert trace is not None and trace.job == job.id
            assert headers()["traceparent"].split("-")[2] == trace.span
            ending.stored(job)
    first, second = map(ids, collected.all())
    assert first[0] == second[0] == call.replace("-", "")
    assert first[2] == second[2] == span_of(cause)
    assert first[1] != second[1]


def test_calls_inside_a_trace_of_the_program_are_parts_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collected = Collected()
    with watched(tmp_path, collected, monkeypatch) as memory, tracing() as trace:
        memory.add("I live in Porto.", user="ann")
        memory.search("Where?", user="ann")
    spans = collected.closed()
    added, searched = ids(spans["add"]), ids(spans["search"])
    assert added[0] == searched[0] == trace.digits
    assert added[2] == searched[2] == trace.parent
    assert added[1] != searched[1]


class Anywhere:
    """A store whose transactions do nothing."""

    def write(self) -> AbstractContextManager[None]:
        return nullcontext()


def test_only_transactions_that_take_long_are_told() -> None:
    collected = Collected()
    moments = iter([0.0, 0.01, 1.0, 1.5])
    store = MeteredStore(Anywhere(), Watch(Kept(), collected.spans), timer=lambda: next(moments))  # type: ignore[arg-type]
    with tracing() as trace:
        for _ in range(2):
            with store.write():
                pass
    (told,) = collected.all()
    assert told.name == "store write"
    assert (told.end_time or 0) - (told.start_time or 0) == 500_000_000
    assert ids(told)[0] == trace.digits


def test_outside_of_a_call_there_are_no_spans_and_nothing_global_is_set() -> None:
    collected = Collected()
    assert collected.spans.start("nothing") is NO_SPAN
    with tracing():
        span = collected.spans.start("something")
        assert not get_current_span().get_span_context().is_valid
        span.end()
        span.end("twice")
    assert get_tracer_provider().__class__.__name__ == "ProxyTracerProvider"
    assert [span.name for span in collected.all()] == ["something"]


class _Collector(BaseHTTPRequestHandler):
    got: ClassVar[list[ExportTraceServiceRequest]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        type(self).got.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's name for it
        pass


@contextmanager
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    got: list[ExportTraceServiceRequest] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("_Bound", (_Collector,), {"got": got}))
    server.daemon_threads = False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", got
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def test_spans_reach_a_collector_at_the_latest_when_the_memory_is_closed(tmp_path: Path) -> None:
    with collector() as (endpoint, got):
        settings = Settings(home=str(tmp_path), worker=False, trace_endpoint=endpoint)
        with face.Memory(settings=settings, embedder=HashingEmbedder(64)) as memory, tracing() as trace:
            memory.add("I live in Porto.", user="ann")
        (sent,) = [
            span
            for request in got
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
            if span.name == "add"
        ]
        assert sent.trace_id.hex() == trace.digits
        names = {each.key: each.value.string_value for each in got[0].resource_spans[0].resource.attributes}
        assert names["service.name"] == "mnemic"


def test_a_collector_that_is_gone_keeps_nobody_from_working_or_closing(tmp_path: Path) -> None:
    with collector() as (endpoint, _):
        pass
    settings = Settings(home=str(tmp_path), worker=False, trace_endpoint=endpoint)
    with Memory(settings=settings, embedder=HashingEmbedder(64)) as memory:
        assert memory.add("I live in Porto.", user="ann").stored == 1


def test_a_bad_address_and_missing_packages_are_told_by_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="trace_endpoint: must begin with http"):
        Memory(tmp_path, settings={"trace_endpoint": "127.0.0.1:4318", "embedder": "hashing"})
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(InputError, match=r"mnemic\[otel\]"):
        Memory(tmp_path, settings={"trace_endpoint": "http://127.0.0.1:4318/v1/traces", "embedder": "hashing"})
