"""What whoever runs Mnemic sees of it: figures without anything that is somebody's, and one id through all logs."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from mnemic import Memory
from mnemic.api import calls
from mnemic.api.attachments import Attachments
from mnemic.api.groups import Cubes, Jobs, LanguageModels
from mnemic.api.keys import Keys
from mnemic.api.knowledge import Knowledge
from mnemic.api.relaying import Relay
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.config import Settings
from mnemic.errors import InputError, LanguageError, StoreError
from mnemic.ids import new_id
from mnemic.logs import send
from mnemic.model import figure as f
from mnemic.model.answer import Answer
from mnemic.model.figure import Figure
from mnemic.model.job import ORGANIZE, REFINE, queued
from mnemic.model.language import Prompt, Turn
from mnemic.ports.spans import Watch
from mnemic.runtime.metered import MeteredStore
from mnemic.runtime.metrics import Kept, Labels
from mnemic.runtime.watching import JobWatch
from mnemic.testing.model_server import ModelServer
from mnemic.testing.scripted_model import Scripted, outage
from mnemic.tracing import current, tracing
from tests.services.opened import SteppedClock, open_memory
from tests.services.scripted import citing, opened, reply, statement

SECRET_WORDS = ("zanzibar", "quokka", "the-user-eve", "the-session-of-eve", "purpose-of-eve", "model-of-eve")


def kept(memory: Memory) -> Kept:
    meter = memory._parts.watch.meter
    assert isinstance(meter, Kept)
    return meter


def numbers(memory: Memory, figure: Figure) -> dict[Labels, float]:
    return dict(kept(memory).numbers(figure))


def samples(memory: Memory, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    return {
        tuple(sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(memory.metrics())
        for sample in family.samples
        if sample.name == name
    }


@contextmanager
def logged(*, debug: bool = False) -> Iterator[io.StringIO]:
    stream = io.StringIO()
    end = send("json", stream=stream, debug=debug)
    try:
        yield stream
    finally:
        end()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_every_public_verb_is_a_call_and_those_that_write_are_known() -> None:
    faces = {"": Memory, "cubes.": Cubes, "llm.": LanguageModels, "jobs.": Jobs, "keys.": Keys, "relay.": Relay,
             "knowledge.": Knowledge, "attachments.": Attachments}  # fmt: skip
    verbs = {
        prefix + name
        for prefix, face in faces.items()
        for name, method in vars(face).items()
        if not name.startswith("_") and callable(method) and name not in calls.UNWATCHED
    }
    unwatched = [
        verb for verb in verbs if not hasattr(vars(faces[_group(verb)])[verb.rpartition(".")[2]], "__wrapped__")
    ]
    assert not unwatched
    assert verbs >= calls.WRITES


def _group(verb: str) -> str:
    return verb[: verb.index(".") + 1] if "." in verb else ""


def test_calls_are_counted_by_verb_and_outcome_and_timed(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.add("I live in Porto.", user="ann")
        memory.search("Where does Ann live?", user="ann")
        memory.jobs.wait(user="ann")
        with pytest.raises(InputError):
            memory.search(" ", user="ann")
        found = {labels: spread.count for labels, spread in kept(memory).spreads(f.CALL_SECONDS).items()}
        assert found["add", "ok"] == found["search", "ok"] == found["jobs.wait", "ok"] == 1
        assert found["search", "invalid_input"] == 1


def test_a_search_tells_what_its_parts_took(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.add(["I live in Porto.", "I have a dog named Rex."], user="ann")
        memory.search("Where does Ann live?", user="ann")
        parts = kept(memory).spreads(f.SEARCH_SECONDS)
        assert {labels[0] for labels in parts} == {"view", "embed", "filter", "words", "vectors", "ranking", "reading"}
        whole = kept(memory).spreads(f.CALL_SECONDS)["search", "ok"].total
        assert 0 < sum(spread.total for spread in parts.values()) <= whole


def test_a_stream_is_a_call_until_its_last_piece_and_one_that_is_left_is_told_as_left(tmp_path: Path) -> None:
    said: list[Callable[[Prompt], Scripted]] = [lambda _: outage(), citing("Porto"), citing("Porto")]

    def says(prompt: Prompt) -> Scripted:
        return said.pop()(prompt)

    with opened(tmp_path, says) as memory:
        assert isinstance(list(memory.ask_stream("Where does Ann live?", user="ann"))[-1], Answer)
        stream = memory.ask_stream("Where does Ann live?", user="ann")
        next(stream)
        assert current() is None, "what a listener does is no part of the call"
        stream.close()  # type: ignore[attr-defined] # it is a generator
        with pytest.raises(LanguageError):
            list(memory.ask_stream("Where does Ann live?", user="ann", mode="model"))
        found = {labels: spread.count for labels, spread in kept(memory).spreads(f.CALL_SECONDS).items()}
        assert (found["ask_stream", "ok"], found["ask_stream", "left"]) == (1, 1)
        assert found["ask_stream", LanguageError.code] == 1
        assert numbers(memory, f.MODEL_CALLS)["ask", "scripted", "left"] == 1


def test_model_calls_and_tokens_are_told_by_our_words_for_purposes_and_models(tmp_path: Path) -> None:
    with opened(tmp_path, ["Porto.", "Leeds."], llm_daily_calls=2) as memory:
        prompt = Prompt((Turn("user", "Where?"),), max_tokens=8)
        memory.llm.complete(prompt, user="ann", purpose="purpose-of-eve")
        memory.llm.complete(Prompt(prompt.turns, max_tokens=8, model="model-of-eve"), user="ann")
        memory.ask("Where does Ann live?", user="ann")
        assert numbers(memory, f.MODEL_CALLS) == {
            ("caller", "scripted", "ok"): 1, ("caller", "other", "ok"): 1, ("ask", "scripted", "refused"): 1,
        }  # fmt: skip
        calls_made = memory.llm.calls(user="ann")
        tokens = numbers(memory, f.MODEL_TOKENS)
        assert tokens["caller", "scripted", "in"] == calls_made[-1].tokens_in > 0
        assert {call.purpose for call in calls_made} == {"purpose-of-eve", "caller"}, (
            "the books keep a caller's own word"
        )


def test_jobs_are_counted_by_how_they_ended_with_their_wait_and_what_is_still_to_do(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.add("I live in Porto.", user="ann")
        assert samples(memory, "mnemic_jobs")[("kind", ORGANIZE), ("state", "queued")] == 1
        memory.jobs.wait(user="ann")
        assert numbers(memory, f.JOBS_RUN)[ORGANIZE, "done"] == 1
        assert kept(memory).spreads(f.QUEUE_WAIT)[("quick",)].count == 1
        assert kept(memory).spreads(f.JOB_SECONDS)[(ORGANIZE,)].count == 1
        assert numbers(memory, f.BUSY)[("quick",)] == 0
        assert samples(memory, "mnemic_index_entries")[()] >= 1
        assert samples(memory, "mnemic_database_bytes")[()] > 4_096
        memory.search("Porto", user="ann")
        assert samples(memory, "mnemic_call_seconds_count")[("outcome", "ok"), ("verb", "search")] == 1


def test_the_oldest_due_job_of_a_lane_tells_how_long_nobody_has_done_it(tmp_path: Path) -> None:
    clock = SteppedClock()
    with Memory(
        settings=Settings(home=str(tmp_path), worker=False), embedder=HashingEmbedder(64), clock=clock
    ) as memory:
        memory.add("I live in Porto.", user="ann")
        clock.forward(timedelta(minutes=5))
        found = samples(memory, "mnemic_job_oldest_due_seconds")
        assert found == {(("lane", "quick"),): 300.0, (("lane", "slow"),): 0.0}


def test_a_job_that_fails_or_is_lost_is_told_as_such() -> None:
    meter = Kept()
    watch = JobWatch(Watch(meter))
    job = queued(new_id(), 1, ORGANIZE, SteppedClock().now())
    with pytest.raises(RuntimeError), watch.job(job):
        raise RuntimeError("the store went away before the end was stored")
    assert meter.numbers(f.JOBS_RUN) == {(ORGANIZE, "lost"): 1}
    assert meter.numbers(f.BUSY) == {("quick",): 0}


def test_threads_of_a_worker_are_counted_while_they_live(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path), worker_threads=2)
    memory = Memory(settings=settings, embedder=HashingEmbedder(64))
    memory.add("I live in Porto.", user="ann", wait=True)
    meter = kept(memory)
    assert meter.numbers(f.THREADS)[("quick",)] == 2
    memory.close()
    assert set(meter.numbers(f.THREADS).values()) == {0}
    assert not [each for each in threading.enumerate() if each.name.startswith("mnemic-worker-quick")]


def test_transactions_that_the_store_fails_are_counted_once_by_code(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        meter = Kept()
        inner = memory._parts.store
        assert isinstance(inner, MeteredStore)
        store = MeteredStore(inner._store, Watch(meter))
        with pytest.raises(KeyError), store.write():
            raise KeyError("a fault of ours is none of the store's")
        with pytest.raises(StoreError), store.read():
            raise StoreError("told by a transaction inside")
        assert meter.numbers(f.STORE_ERRORS) == {}
    with pytest.raises(StoreError), store.read():
        pass
    assert meter.numbers(f.STORE_ERRORS) == {("read", "store_failed"): 1}
    assert meter.spreads(f.STORE_SECONDS)[("write",)].count == 1


def test_no_figure_and_no_line_of_the_log_holds_what_is_somebodys(tmp_path: Path) -> None:
    told = reply(statement("1", "quokka in zanzibar"))
    with logged() as stream, opened(tmp_path, lambda _: told) as memory:
        memory.add("My quokka lives in zanzibar.", user="the-user-eve", session="the-session-of-eve")
        cube = memory.cubes.create("zanzibar", user="the-user-eve")
        memory.jobs.wait(user="the-user-eve")
        memory.search("quokka in zanzibar", user="the-user-eve", where={"session": "the-session-of-eve"})
        memory.ask("Where does the quokka live?", user="the-user-eve", mode="auto")
        memory.llm.complete(
            Prompt((Turn("user", "zanzibar?"),), max_tokens=8, model="model-of-eve"),
            user="the-user-eve", purpose="purpose-of-eve",
        )  # fmt: skip
        memory.feedback("forget the quokka", user="the-user-eve", mode="rules")
        with pytest.raises(InputError):
            memory.search("zanzibar", user="the-user-eve", kinds="quokka")
        shown = memory.metrics() + stream.getvalue()
        found = [word for word in (*SECRET_WORDS, cube.id) if word in shown]
    assert not found
    assert '"event": "called"' in shown and "mnemic_call_seconds_count" in shown


def test_one_id_finds_the_log_of_an_add_its_jobs_and_their_model_calls(tmp_path: Path) -> None:
    said = reply(statement("m1", "I live in Porto"))
    with ModelServer(default=said) as server:
        settings = Settings(
            home=str(tmp_path), worker=False, llm="openai", llm_base_url=server.url, llm_model="some", llm_tries=1,
        )  # fmt: skip
        with logged() as stream, Memory(settings=settings, embedder=HashingEmbedder(64)) as memory:
            with tracing() as trace:
                memory.add("I live in Porto.", user="ann")
            memory.add("Bo likes tea.", user="bo")
            memory.jobs.wait(user="ann")
            memory.jobs.wait(user="bo")
            jobs = {job.id: job for job in memory.jobs.list(user="ann")}
    mine = [line for line in lines(stream) if line.get("trace") == trace.id]
    events = [line["event"] for line in mine]
    assert events[0] == "called" and mine[0]["fields"]["verb"] == "add"
    ended = {line["job"]: line["fields"]["kind"] for line in mine if line["event"] == "job_ended"}
    assert {ORGANIZE, REFINE} <= set(ended.values())
    assert ended == {job_id: jobs[job_id].kind for job_id in ended}
    (called,) = [line for line in mine if line["event"] == "model_called"]
    assert jobs[called["job"]].kind == REFINE
    assert called["fields"]["tokens_in"] > 0 and called["fields"]["outcome"] == "ok"
    heads = [asked.headers for asked in server.requests if asked.headers.get("x-request-id") == trace.id]
    assert len(heads) == 1
    assert heads[0]["traceparent"].split("-")[1] == trace.id.replace("-", "")
    assert {line.get("trace") for line in lines(stream) if line["event"] == "called"} > {trace.id}


def test_reading_is_told_at_debug_only(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for debug in (False, True):
            with logged(debug=debug) as stream:
                memory.search("anything", user="ann")
            assert [line["event"] for line in lines(stream)] == (["called"] if debug else [])
    assert logging.getLogger("mnemic").level == logging.NOTSET
