"""Lines of the log: what a record becomes, what goes back to a call, and what must never be shown."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from mnemic.config import Settings, secrets_of
from mnemic.hiding import HIDDEN, is_secret_name, without_secrets
from mnemic.logs import FORMATS, send
from mnemic.tracing import tracing

_log = logging.getLogger("mnemic.tests.logs")

SETTINGS = Settings(
    database_url="postgresql://ann:p%40ss-w0rd@db.example:5432/mnemic",
    redis_url="redis://:hunter2hunter2@cache.example:6379/0",
    llm_api_key="sk-of-ours",
    embed_api_key="embedding-key-1",
    judge_api_key="judging-key-1",
    rerank_api_key="reranking-key-1",
)
SECRETS = (
    "p%40ss-w0rd",
    "p@ss-w0rd",
    "hunter2hunter2",
    "sk-of-ours",
    "embedding-key-1",
    "judging-key-1",
    "reranking-key-1",
)


@contextmanager
def sent(log_format: str = "json", **how: Any) -> Iterator[io.StringIO]:
    stream = io.StringIO()
    end = send(log_format, stream=stream, secrets=secrets_of(SETTINGS), **how)
    try:
        yield stream
    finally:
        end()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def _fail(error: Exception, event: str, **fields: Any) -> None:
    try:
        raise error
    except type(error):
        _log.exception(event, extra=fields)


def test_a_json_line_has_time_level_event_logger_fields_trace_and_job() -> None:
    with sent() as stream, tracing("the-call", job="the-job"):
        _log.warning("job_failed", extra={"kind": "organize", "attempt": 2, "seconds": 0.25})
    (line,) = lines(stream)
    assert datetime.fromisoformat(line.pop("time")).tzinfo == UTC
    assert line == {
        "level": "warning", "event": "job_failed", "logger": "mnemic.tests.logs", "trace": "the-call", "job": "the-job",
        "fields": {"kind": "organize", "attempt": 2, "seconds": 0.25},
    }  # fmt: skip


def test_outside_of_a_call_there_is_no_trace_and_what_a_record_says_itself_wins() -> None:
    with sent() as stream:
        _log.info("store_migrating")
        with tracing("the-call", job="the-job"):
            _log.info("job_lost", extra={"job": "another"})
    first, second = lines(stream)
    assert set(first) == {"time", "level", "event", "logger"}
    assert (second["trace"], second["job"]) == ("the-call", "another")


def test_a_json_line_is_one_line_of_ascii_whatever_is_in_it() -> None:
    odd = {"text": "two\nlines \u2028 \ud800 \x00", "number": float("nan"), "at": datetime(2026, 3, 1, tzinfo=UTC)}
    with sent() as stream:
        _log.info(
            "odd", extra={**odd, "deep": {"a": [1, {"b": {"c": {"d": {"e": "f"}}}}]}, "some": {3}, "thing": object()}
        )
    assert stream.getvalue().isascii()
    (line,) = lines(stream)
    assert line["fields"]["text"] == odd["text"]
    assert line["fields"]["number"] == "nan"
    assert line["fields"]["at"] == "2026-03-01T00:00:00+00:00"
    assert line["fields"]["some"] == [3]


def test_an_exception_is_a_field_and_in_plain_lines_stands_below() -> None:
    for log_format in FORMATS:
        with sent(log_format) as stream:
            _fail(RuntimeError("the disk of the moon is full"), "job_failed", kind="organize")
        told = stream.getvalue()
        if log_format == "json":
            (line,) = lines(stream)
            assert line["exception"].startswith("Traceback") and line["exception"].endswith("the moon is full")
        else:
            first, *rest = told.splitlines()
            assert first.endswith("ERROR mnemic.tests.logs job_failed kind='organize'")
            assert rest[0].startswith("Traceback") and rest[-1].endswith("the moon is full")


def test_a_plain_line_tells_trace_and_job_last() -> None:
    with sent("plain") as stream, tracing("the-call", job="the-job"):
        _log.info("job_done", extra={"kind": "organize"})
    assert stream.getvalue().endswith(
        " INFO mnemic.tests.logs job_done kind='organize' trace='the-call' job='the-job'\n"
    )


@pytest.mark.parametrize("log_format", FORMATS)
def test_secrets_of_the_settings_are_hidden_wherever_they_stand(log_format: str) -> None:
    told = [SETTINGS.database_url, SETTINGS.redis_url, *SECRETS]
    with sent(log_format) as stream:
        for each in told:
            _log.warning("could not reach %s", each, extra={"reason": f"refused: {each}", "deep": [{"a": each}]})
        failure = ConnectionError(f"{SETTINGS.database_url} said no to {SETTINGS.llm_api_key}")
        _fail(failure, "lost", settings=SETTINGS, api_key="short", headers={"Authorization": "x y"})
    found = [secret for secret in (*SECRETS, "'short'", '"short"', "x y") if secret in stream.getvalue()]
    assert not found
    assert HIDDEN in stream.getvalue() and "db.example" in stream.getvalue()


@pytest.mark.parametrize(
    "text, shown",
    [
        (
            "postgresql://ann:p@ss/w0rd@db.example:5432/mnemic is down",
            "postgresql://[hidden]@db.example:5432/mnemic is down",
        ),
        ("redis://:hunter2@127.0.0.1:6379/0", "redis://[hidden]@127.0.0.1:6379/0"),
        ("host=db user=ann password=geheim dbname=x", "host=db user=ann password=[hidden] dbname=x"),
        ("Authorization: Bearer abcdefgh12345678", "Authorization: [hidden]"),
        ("{'x-api-key': 'abc def'}", "{'x-api-key': [hidden]}"),
        ("GET /v1?api_key=abc&model=x", "GET /v1?api_key=[hidden]&model=x"),
        ("sk-proj-abcdefghijklmnopqrstuv is wrong", "[hidden] is wrong"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----.", "[hidden]."),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "redis://127.0.0.1:6379/0 answers",
        "see https://example.org/people/ann@example.org for more",
        "tokens_in=12 max_tokens=24, a token of love",
        "ann@example.org wrote at 12:30",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_names_of_secrets_are_known() -> None:
    assert all(map(is_secret_name, ("api_key", "llm_api_key", "PGPASSWORD", "Authorization", "secret", "token")))
    assert not any(map(is_secret_name, ("tokens_in", "key", "kind", "cube_key", "redis_url")))


def test_other_libraries_tell_warnings_only_and_all_is_as_before_when_it_ends() -> None:
    root, own = logging.getLogger(), logging.getLogger("mnemic")
    before = root.level, own.level, list(root.handlers)
    with sent() as stream:
        logging.getLogger("sqlalchemy.engine").info("INSERT INTO message VALUES ('what somebody said')")
        logging.getLogger("redis").warning("reconnecting")
        _log.debug("item_void", extra={"said": "what somebody said"})
    assert [line["event"] for line in lines(stream)] == ["reconnecting"]
    assert (root.level, own.level, list(root.handlers)) == before
    with sent(debug=True) as stream:
        _log.debug("item_void")
    assert [line["event"] for line in lines(stream)] == ["item_void"]
