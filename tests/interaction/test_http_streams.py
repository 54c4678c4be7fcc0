"""Answers that come piece by piece, over a real connection: how they begin, go on, and truthfully end."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mnemic import Memory
from mnemic.api import acting
from mnemic.model.caller import LOCAL
from mnemic.model.language import Prompt
from mnemic.shells.http import streaming
from mnemic.testing.scripted_model import Broken, ScriptedModel, outage
from tests.interaction.http_served import PATIENCE, guarded, serving, until

SAID = "You live in Porto [1], and the caf\u00e9 is called \u2028Sol."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with guarded(tmp_path, llm=ScriptedModel(lambda _: SAID), refine=False, worker=False) as opened:
        with acting(LOCAL):
            opened.add("I moved to Porto last week.", user="ann")
        yield opened


def events(response: httpx2.Response) -> Iterator[dict[str, Any]]:
    """Yield events as the standard says that they are read; comments have no name."""
    lines: list[str] = []
    for line in response.iter_lines():
        if line:
            lines.append(line)
            continue
        fields = dict(each.split(": ", 1) for each in lines if not each.startswith(":"))
        yield {"event": fields["event"], "id": fields.get("id"), "data": json.loads(fields["data"])} if fields else {}
        lines = []


def test_an_answer_comes_as_it_is_written_and_then_whole(memory: Memory) -> None:
    body = {"user": "ann", "question": "Where does Ann live?"}
    with (
        serving(memory) as (address, _),
        httpx2.stream("POST", f"{address}/v1/ask/stream", json=body, timeout=PATIENCE) as response,
    ):
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["cache-control"] == "no-store"
        assert "content-encoding" not in response.headers
        found = list(events(response))
    texts, answers = found[:-1], found[-1:]
    assert len(texts) > 1 and {each["event"] for each in texts} == {"text"}
    assert "".join(each["data"]["text"] for each in texts) == SAID
    assert answers[0]["event"] == "answer"
    assert answers[0]["data"]["mode"] == "scripted" and answers[0]["data"]["citations"]


def test_no_character_inside_is_taken_for_the_end_of_a_line(memory: Memory) -> None:
    body = {"user": "ann", "question": "Where does Ann live?"}
    with serving(memory) as (address, _):
        raw = httpx2.post(f"{address}/v1/ask/stream", json=body, timeout=PATIENCE).content
    raw.decode("ascii")
    assert all(line.startswith(("event: ", "data: ")) or not line for line in raw.decode("ascii").splitlines())


def test_a_stream_that_is_refused_has_a_status(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: outage())
    with guarded(tmp_path, llm=model, worker=False) as memory, serving(memory) as (address, _):
        with acting(LOCAL):
            memory.add("I moved to Porto.", user="ann")
        wrong = httpx2.post(f"{address}/v1/ask/stream", json={"user": "ann"}, timeout=PATIENCE)
        assert (wrong.status_code, wrong.json()["field"]) == (422, "question")
        asked = {"user": "ann", "question": "Where does Ann live?", "mode": "model"}
        away = httpx2.post(f"{address}/v1/ask/stream", json=asked, timeout=PATIENCE)
        assert (away.status_code, away.json()["code"]) == (502, "language_model_failed")
        nowhere = httpx2.get(f"{address}/v1/jobs/events?user=ann&cube=none", timeout=PATIENCE)
        assert (nowhere.status_code, nowhere.json()["code"]) == (404, "not_found")


def test_a_stream_that_fails_in_the_middle_ends_with_its_error(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: Broken("You live in ", outage()))
    with guarded(tmp_path, llm=model, worker=False) as memory, serving(memory) as (address, _):
        with acting(LOCAL):
            memory.add("I moved to Porto.", user="ann")
        asked = {"user": "ann", "question": "Where does Ann live?"}
        with httpx2.stream("POST", f"{address}/v1/ask/stream", json=asked, timeout=PATIENCE) as response:
            found = list(events(response))
    assert [each["event"] for each in found[-2:]] == ["text", "error"]
    assert found[-1]["data"]["code"] == "language_model_failed"
    assert found[-1]["data"]["request"] == response.headers["x-request-id"]


def test_events_of_jobs_go_on_behind_the_one_that_was_seen_last(memory: Memory) -> None:
    with serving(memory) as (address, _):
        watched = f"{address}/v1/jobs/events?user=ann&timeout=0"
        with httpx2.stream("GET", watched, timeout=PATIENCE) as response:
            (first,) = events(response)
        assert first["event"] == "job" and first["data"]["kind"] == "organize"
        with acting(LOCAL):
            memory.jobs.cancel(first["data"]["id"], user="ann")
        last = {"Last-Event-ID": first["id"]}
        with httpx2.stream("GET", watched, headers=last, timeout=PATIENCE) as response:
            (second,) = events(response)
        assert second["data"]["state"] == "cancelled"
        last = {"Last-Event-ID": second["id"]}
        with httpx2.stream("GET", watched, headers=last, timeout=PATIENCE) as response:
            assert list(events(response)) == []


def test_what_is_stored_is_told_to_those_who_watch(memory: Memory) -> None:
    with (
        serving(memory) as (address, _),
        httpx2.stream("GET", f"{address}/v1/changes/events?user=ann", timeout=PATIENCE) as response,
    ):
        told = events(response)
        httpx2.post(f"{address}/v1/messages", json={"user": "ann", "messages": "I like chess."}, timeout=PATIENCE)
        found = next(told)
        assert (found["event"], found["data"]["content"]) == ("item", "I like chess.")


def test_silence_is_kept_alive(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "KEEP_ALIVE", 0.05)
    with (
        serving(memory) as (address, _),
        httpx2.stream("GET", f"{address}/v1/changes/events?user=ann", timeout=PATIENCE) as response,
    ):
        lines = response.iter_lines()
        assert [next(lines) for _ in range(4)] == [": still here", "", ": still here", ""]


def test_a_client_that_leaves_ends_the_work_behind_it(tmp_path: Path) -> None:
    with guarded(tmp_path, worker_kinds="embed") as memory, serving(memory) as (address, server):
        threads = server.config.app.state.threads  # type: ignore[union-attr]
        with httpx2.stream("GET", f"{address}/v1/changes/events?user=ann", timeout=PATIENCE):
            until(lambda: threads.open_streams == 1)
        until(lambda: threads.open_streams == 0)
        with acting(LOCAL):
            memory.add("I like tea.", user="ann")
        waiting = {"user": "ann", "timeout": 500}
        with pytest.raises(httpx2.ReadTimeout):  # nobody does this work here: the wait would last
            httpx2.post(f"{address}/v1/jobs/wait", json=waiting, timeout=1)
        until(lambda: threads.open_streams == 0)


def test_streams_leave_room_for_calls_and_one_too_many_is_told_to_come_again(tmp_path: Path) -> None:
    with guarded(tmp_path, serve_streams=2, serve_threads=1, worker=False) as memory, serving(memory) as (address, _):
        watched = f"{address}/v1/changes/events?user=ann"
        with (
            httpx2.stream("GET", watched, timeout=PATIENCE),
            httpx2.stream("GET", watched, timeout=PATIENCE),
        ):
            refused = httpx2.get(watched, timeout=PATIENCE)
            assert (refused.status_code, refused.json()["code"]) == (503, "busy")
            assert int(refused.headers["retry-after"]) >= 1
            added = httpx2.post(f"{address}/v1/messages", json={"user": "ann", "messages": "x"}, timeout=PATIENCE)
            assert added.status_code == 201


def test_an_export_comes_as_lines_and_goes_in_again(memory: Memory) -> None:
    with acting(LOCAL):
        memory.add([f"Sentence number {number} of many." for number in range(300)], user="ann")
    with serving(memory) as (address, _):
        exported = httpx2.get(f"{address}/v1/export?user=ann", timeout=PATIENCE)
        assert exported.headers["content-type"] == "application/x-ndjson"
        lines = exported.content
        with acting(LOCAL):
            assert lines.decode().split("\n")[1:-1] == list(memory.export(user="ann"))[1:]

        def pieces() -> Iterator[bytes]:
            for start in range(0, len(lines), 10_000):
                yield lines[start : start + 10_000]

        headers = {"Content-Type": "application/x-ndjson"}
        loaded = httpx2.post(f"{address}/v1/load?user=bob", content=pieces(), headers=headers, timeout=PATIENCE)
        assert loaded.status_code == 200 and loaded.json()["stored"]["message"] == 301
        again = httpx2.post(f"{address}/v1/load?user=bob", content=lines, headers=headers, timeout=PATIENCE)
        assert again.json()["stored"].get("message", 0) == 0 and again.json()["skipped"] > 300
        broken = httpx2.post(f"{address}/v1/load?user=eve", content=lines[:-40], headers=headers, timeout=PATIENCE)
        assert broken.status_code == 422
        strange = httpx2.post(f"{address}/v1/load?user=eve", content=b"\xff\n", headers=headers, timeout=PATIENCE)
        assert (strange.status_code, strange.json()["field"]) == (422, "lines[0]")
        nobody = httpx2.get(f"{address}/v1/export", timeout=PATIENCE)
        assert (nobody.status_code, nobody.json()["field"]) == (422, "user")


def test_an_export_that_fails_in_the_middle_does_not_look_whole(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mnemic.errors import StoreError  # noqa: PLC0415
    from mnemic.shells.http import calls  # noqa: PLC0415

    def breaking(lines: Iterator[str]) -> Iterator[bytes]:
        yield next(lines).encode() + b"\n"
        raise StoreError("the disk is gone")

    monkeypatch.setattr(calls, "batches", breaking)
    with serving(memory) as (address, _):
        for encoding in ("identity", "gzip"):
            with pytest.raises(httpx2.RemoteProtocolError):
                httpx2.get(f"{address}/v1/export?user=ann", headers={"Accept-Encoding": encoding}, timeout=PATIENCE)


def test_a_server_that_ends_lets_calls_end_tells_streams_and_is_no_longer_ready(tmp_path: Path) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slowly(_: Prompt) -> str:
        asked.set()
        assert go_on.wait(PATIENCE)
        return "Hello."

    replies: list[httpx2.Response] = []
    with guarded(tmp_path, llm=ScriptedModel(slowly), refine=False, worker=False) as memory:
        with serving(memory) as (address, server):
            body = {"user": "ann", "prompt": {"turns": [{"role": "user", "text": "Hi"}]}}

            def call() -> None:
                replies.append(httpx2.post(f"{address}/v1/llm/complete", json=body, timeout=PATIENCE))

            caller = threading.Thread(target=call)
            caller.start()
            assert asked.wait(PATIENCE)
            with httpx2.stream("GET", f"{address}/v1/changes/events?user=ann", timeout=PATIENCE) as stream:
                server.end()
                (last,) = [each for each in events(stream) if each]
                assert (last["event"], last["data"]["code"]) == ("error", "busy")
            ready = httpx2.get(f"{address}/ready", timeout=PATIENCE)
            assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
            assert "drained" in ready.json()["parts"]["process"]
            assert httpx2.get(f"{address}/health", timeout=PATIENCE).status_code == 200
            late = httpx2.get(f"{address}/v1/stats?user=ann", timeout=PATIENCE)
            assert (late.status_code, late.json()["code"]) == (503, "busy") and late.headers["retry-after"]
            assert not replies
            go_on.set()
            caller.join(PATIENCE)
        assert [each.status_code for each in replies] == [200]


def test_a_call_that_does_not_end_is_left_when_patience_is_over(tmp_path: Path) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slowly(_: Prompt) -> str:
        asked.set()
        assert go_on.wait(PATIENCE)
        return "Hello."

    replies: list[httpx2.Response] = []
    with (
        guarded(tmp_path, llm=ScriptedModel(slowly), refine=False, worker=False) as memory,
        serving(memory, patience=0.1) as (address, server),
    ):
        body = {"user": "ann", "prompt": {"turns": [{"role": "user", "text": "Hi"}]}}

        def call() -> None:
            replies.append(httpx2.post(f"{address}/v1/llm/complete", json=body, timeout=PATIENCE))

        caller = threading.Thread(target=call)
        caller.start()
        assert asked.wait(PATIENCE)
        server.end()
        caller.join(PATIENCE)
        assert [(each.status_code, each.json()["code"]) for each in replies] == [(502, "unreachable")]
        go_on.set()
