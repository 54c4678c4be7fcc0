"""Background work as its owner sees it: looked at, waited for, cancelled, tried again, dropped, shared, and watched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from mnemic import Memory
from mnemic.errors import AccessError, ConflictError, InputError, JobError, NotFoundError, WaitTimeoutError
from mnemic.ids import new_id
from mnemic.model.job import EMBED, KINDS, ORGANIZE, REFINE, RETEXT, Job, JobState, Share, queued
from mnemic.model.scope import Role
from mnemic.services import jobdesk
from mnemic.services.dispatching import LEASE
from mnemic.testing.scripted_model import ScriptedModel
from tests.services.opened import SteppedClock, new_store, open_memory
from tests.services.scripted import reply
from tests.services.taking import claim, dispatching

pytestmark = pytest.mark.usefixtures("engine")

PATIENCE = 60
HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def memory(tmp_path: Path, clock: SteppedClock) -> Iterator[Memory]:
    with open_memory(tmp_path, clock=clock) as opened:  # type: ignore[arg-type]  # a clock is a clock
        yield opened


def put(memory: Memory, kind: str = EMBED, **changed: Any) -> str:
    """Queue a job of ann's that does not merge, in a state if one is given."""
    parts = memory._parts
    with parts.store.write() as tx:
        key = parts.scoping.for_write(tx, "ann", None).key
        job = queued(new_id(), key, kind, parts.clock.now())
        job = replace(job, merge=job.id)
        tx.jobs.put(job)
        if changed:
            tx.turns.wait_for(key)
            tx.jobs.save(replace(job, **changed))
    return job.id


def fail_for_good(memory: Memory, job_id: str) -> Job:
    """Let a job be begun and end dead."""
    rows = dispatching(memory._parts)
    [job] = claim(rows)
    assert job.id == job_id
    failed = replace(
        rows.failed(job, RuntimeError("no"), "Traceback: it\nRuntimeError: no luck", 3), state=JobState.DEAD
    )
    assert rows.end(replace(failed, finished_at=memory._parts.clock.now()), "w")
    return memory.jobs.get(job_id, user="ann")


def grant(memory: Memory, cube_key: int, principal: str, role: Role) -> None:
    with memory._parts.store.write() as tx:
        tx.enter_all()
        tx.connection.execute(  # type: ignore[attr-defined]
            text("INSERT INTO cube_grant (cube_key, principal, role) VALUES (:cube, :principal, :role)"),
            {"cube": cube_key, "principal": principal, "role": role.value},
        )


def looked_at(memory: Memory) -> list[object]:
    """Return all that can be seen of ann's jobs."""
    ask = memory.jobs
    return [
        ask.list(user="ann"),
        [ask.get(job.id, user="ann") for job in ask.list(user="ann")],
        ask.counts(user="ann"),
        ask.task("import 1", user="ann"),
        ask.share(user="ann"),
        list(ask.events(user="ann", timeout=0)),
    ]


def test_jobs_are_listed_newest_first_by_state_and_kind_and_in_pages(memory: Memory) -> None:
    memory.add("I live in Porto.", user="ann")
    memory.jobs.wait(user="ann")
    made = [put(memory, EMBED), put(memory, RETEXT), put(memory, EMBED, state=JobState.DEAD)]
    everything = memory.jobs.list(user="ann")
    assert [job.id for job in everything[:3]] == made[::-1]
    assert [job.kind for job in everything[3:]] == [ORGANIZE]
    assert [job.id for job in memory.jobs.list(user="ann", kinds=EMBED)] == [made[2], made[0]]
    assert [job.id for job in memory.jobs.list(user="ann", kinds=[RETEXT, ORGANIZE])] == [made[1], everything[3].id]
    assert [job.id for job in memory.jobs.list(user="ann", states="dead")] == [made[2]]
    assert [job.state for job in memory.jobs.list(user="ann", states=("done", "dead"))] == ["dead", "done"]
    assert [job.id for job in memory.jobs.list(user="ann", open_only=True)] == [made[1], made[0]]
    pages = [memory.jobs.list(user="ann", limit=3)]
    while pages[-1]:
        pages.append(memory.jobs.list(user="ann", limit=3, after=pages[-1][-1].id))
    assert [job for page in pages for job in page] == list(everything)
    assert [len(page) for page in pages] == [3, 1, 0]


def test_a_job_tells_when_it_began_and_ended_and_why_it_failed(memory: Memory, clock: SteppedClock) -> None:
    added = memory.add("I live in Porto.", user="ann")
    assert added.job is not None
    began = clock.now()
    clock.forward(HOUR)
    waiting = memory.jobs.get(added.job, user="ann")
    assert (waiting.state, waiting.created_at, waiting.started_at) == (JobState.QUEUED, began, None)
    memory.jobs.wait(user="ann")
    done = memory.jobs.get(added.job, user="ann")
    assert (done.state, done.attempts, done.done) == (JobState.DONE, 1, 1)
    assert (done.started_at, done.finished_at, done.lease_until, done.error) == (began + HOUR, began + HOUR, None, None)
    dead = fail_for_good(memory, put(memory))
    assert (dead.state, dead.reason, dead.done) == (JobState.DEAD, "RuntimeError: no luck", 3)
    counts = {each.state: (each.count, each.oldest) for each in memory.jobs.counts(user="ann")}
    assert counts == {JobState.DONE: (1, began), JobState.DEAD: (1, began + HOUR)}


def test_a_task_has_its_jobs_and_what_they_led_to_and_the_state_of_the_worst(tmp_path: Path) -> None:
    settings = {"home": str(tmp_path / "m"), "worker": False, "refine_quiet_seconds": 3600, "reorganize_hours": 0}
    model = ScriptedModel(lambda _prompt: reply())
    with Memory(settings=settings, embedder=new_store(tmp_path / "m"), llm=model, clock=SteppedClock()) as memory:
        added = memory.add("I live in Porto.", user="ann", task=7)
        memory.add("I like tea.", user="ann")
        assert memory.jobs.task("7", user="ann").state is JobState.QUEUED
        assert memory._parts.worker.run_once()
        told = memory.jobs.task(7, user="ann")
        assert [(job.kind, job.state, job.parent) for job in told.jobs] == [
            (ORGANIZE, JobState.DONE, None),
            (REFINE, JobState.QUEUED, added.job),
        ]
        assert told.state is JobState.QUEUED
        assert {job.kind for job in memory.jobs.wait(user="ann", task=7)} == {ORGANIZE, REFINE}
        assert memory.jobs.task(7, user="ann").state is JobState.DONE
        for name in ("8", "", "7 ", "../7"):
            with pytest.raises(InputError if not name else NotFoundError):
                memory.jobs.task(name, user="ann")
        with pytest.raises(NotFoundError):
            memory.jobs.task(7, user="bob")


def test_waiting_for_a_task_that_was_cancelled_or_failed_is_an_error_that_names_the_job(
    memory: Memory, clock: SteppedClock
) -> None:
    cancelled = memory.add("I live in Porto.", user="ann", task="cancelled").job
    assert cancelled is not None
    memory.jobs.cancel(cancelled, user="ann")
    assert memory.jobs.task("cancelled", user="ann").state is JobState.CANCELLED
    with pytest.raises(JobError, match="was cancelled"):
        memory.jobs.wait(user="ann", task="cancelled")
    dead = memory.add("I like tea.", user="ann", task="dead").job
    assert dead is not None
    fail_for_good(memory, dead)
    with pytest.raises(JobError, match="no luck") as told:
        memory.jobs.wait(user="ann", task="dead")
    assert told.value.fields["job"] == dead
    held = memory.add("I like coffee.", user="ann", task="held").job
    assert claim(dispatching(memory._parts), worker="another process")[0].id == held
    with pytest.raises(WaitTimeoutError, match="1 job"):
        memory.jobs.wait(user="ann", task="held", timeout=0.05)
    clock.forward(LEASE)
    assert [job.id for job in memory.jobs.wait(user="ann", task="held")] == [held]


def test_what_waits_can_be_cancelled_and_brought_back(memory: Memory) -> None:
    job = memory.add("I live in Porto.", user="ann").job
    assert job is not None
    cancelled = memory.jobs.cancel(job, user="ann")
    assert (cancelled.state, cancelled.lease_until) == (JobState.CANCELLED, None)
    assert cancelled.finished_at is not None
    assert memory.jobs.get(job, user="ann") == cancelled
    assert not memory._parts.worker.run_once(), "what is cancelled is done"
    with pytest.raises(JobError, match=r"cancelled; `jobs\.retry`"):
        memory.jobs.wait(job, user="ann")
    with pytest.raises(ConflictError, match="is cancelled: only what waits"):
        memory.jobs.cancel(job, user="ann")
    assert memory.jobs.retry(job, user="ann").state is JobState.FAILED
    memory.jobs.wait(job, user="ann")
    assert memory.jobs.get(job, user="ann").state is JobState.DONE
    assert memory.search("Where does Ann live?", user="ann", kinds="fact")[0].text == "ann lives in Porto."
    for call in (memory.jobs.cancel, memory.jobs.retry):
        with pytest.raises(ConflictError, match="is done"):
            call(job, user="ann")


def test_what_runs_cannot_be_cancelled_tried_again_or_dropped(memory: Memory) -> None:
    job = memory.add("I live in Porto.", user="ann").job
    assert job is not None
    rows = dispatching(memory._parts)
    [running] = claim(rows)
    calls: list[Callable[..., Job]] = [memory.jobs.cancel, memory.jobs.retry, memory.jobs.drop]
    for call in calls:
        with pytest.raises(ConflictError, match="is running"):
            call(job, user="ann")
    assert memory.jobs.get(job, user="ann") == running
    assert rows.end(rows.done(running, 1), "w")


def test_work_that_was_added_while_another_was_cancelled_is_done_and_retry_makes_no_second_one_wait(
    memory: Memory,
) -> None:
    first = memory.add("I live in Porto.", user="ann").job
    assert first is not None
    memory.jobs.cancel(first, user="ann")
    second = memory.add("I like tea.", user="ann").job
    assert second not in (None, first)
    memory.jobs.retry(first, user="ann")
    assert {job.id for job in memory.jobs.wait(user="ann")} == {first, second}
    assert len(memory.list(user="ann", kinds="memory")) == 2


def test_a_dead_job_gets_all_its_tries_again(memory: Memory, clock: SteppedClock) -> None:
    dead = fail_for_good(memory, put(memory))
    again = memory.jobs.retry(dead.id, user="ann")
    assert (again.state, again.attempts, again.finished_at) == (JobState.FAILED, 0, None)
    assert again.reason == "RuntimeError: no luck", "why it failed is told until it has done better"
    rows = dispatching(memory._parts)
    for attempt in range(1, KINDS[EMBED].tries + 1):
        [job] = claim(rows)
        assert (job.id, job.attempts) == (dead.id, attempt)
        assert rows.end(rows.failed(job, RuntimeError("no"), "RuntimeError: still no luck", 0), "w")
        clock.forward(HOUR)
    assert not claim(rows)
    assert memory.jobs.get(dead.id, user="ann").state is JobState.DEAD


def test_what_has_ended_can_be_dropped_and_nothing_else(memory: Memory) -> None:
    waiting, dead = put(memory), put(memory, state=JobState.DEAD)
    done = put(memory, state=JobState.DONE)
    assert memory.jobs.drop(dead, user="ann").id == dead
    assert memory.jobs.drop(done, user="ann").state is JobState.DONE
    with pytest.raises(ConflictError, match="cancel it before"):
        memory.jobs.drop(waiting, user="ann")
    for gone in (dead, done):
        with pytest.raises(NotFoundError):
            memory.jobs.get(gone, user="ann")
    assert [job.id for job in memory.jobs.list(user="ann")] == [waiting]


def test_a_share_is_kept_and_zeros_say_what_the_settings_say(memory: Memory) -> None:
    assert memory.jobs.share(user="ann") == memory.jobs.share(user="nobody") == Share()
    mine = Share(weight=2.5, running=3, per_minute=60)
    assert memory.jobs.set_share(user="ann", weight=2.5, running=3, per_minute=60) == mine
    assert memory.jobs.share(user="ann") == mine
    assert memory.jobs.share(user="bob") == Share()
    assert memory.jobs.set_share(user="ann") == memory.jobs.share(user="ann") == Share()


def test_a_limit_that_is_raised_lets_those_behind_it_step_forward_at_once(memory: Memory) -> None:
    memory.jobs.set_share(user="ann", running=1)
    rows = dispatching(memory._parts)
    jobs = [put(memory, EMBED), put(memory, REFINE)]
    assert [job.id for job in claim(rows)] == jobs[:1]
    assert not claim(rows, "slow"), "the limit counts all lanes"
    memory.jobs.set_share(user="ann", running=2)
    assert [job.id for job in claim(rows, "slow")] == jobs[1:]


def test_events_tell_what_is_there_then_what_changes_and_go_on_behind_the_last(
    memory: Memory, clock: SteppedClock
) -> None:
    first = memory.add("I live in Porto.", user="ann").job
    [told] = list(memory.jobs.events(user="ann", timeout=0))
    assert (told.id, told.state) == (first, JobState.QUEUED)
    clock.forward(HOUR)
    memory.jobs.wait(user="ann")
    clock.forward(timedelta(seconds=1))
    second = put(memory)
    assert [(job.id, job.state.value) for job in memory.jobs.events(user="ann", timeout=0)] == [
        (first, "done"),
        (second, "queued"),
    ]
    later = list(memory.jobs.events(user="ann", since=told, timeout=0))
    assert [job.id for job in later] == [first, second]
    clock.forward(timedelta(seconds=1))
    memory.jobs.cancel(second, user="ann")
    stream = memory.jobs.events(user="ann", since=later[-1], timeout=1.0)
    assert [(job.id, job.state.value) for job in stream] == [(second, "cancelled")], "what was told is told again"


def test_events_are_told_while_they_happen_and_end_when_nothing_does(memory: Memory, clock: SteppedClock) -> None:
    seen: list[tuple[str, str]] = []
    queued_one, done_one = threading.Event(), threading.Event()

    def watch() -> None:
        for job in memory.jobs.events(user="ann", timeout=3):
            seen.append((job.kind, job.state.value))
            queued_one.set()
            if job.state is JobState.DONE:
                done_one.set()

    memory.add("I live in Porto.", user="ann")
    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        assert queued_one.wait(PATIENCE)
        clock.forward(HOUR)
        memory.jobs.wait(user="ann")
        assert done_one.wait(PATIENCE)
        watching.result(PATIENCE)
    assert seen[0] == (ORGANIZE, "queued")
    assert seen[-1] == (ORGANIZE, "done")
    assert len(seen) == len(set(seen)), "a change is told twice"


def test_very_many_changes_are_told_once_each_and_in_order(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobdesk, "PAGE", 7)
    monkeypatch.setattr("mnemic.runtime.waiting.PAGE", 7)
    memory.jobs.set_share(user="ann")
    made = [put(memory) for _ in range(23)]
    told = [job.id for job in memory.jobs.events(user="ann", timeout=0.5)]
    assert told == made


def test_all_answers_are_the_same_after_a_restart(tmp_path: Path) -> None:
    clock = SteppedClock()
    with open_memory(tmp_path, clock=clock) as memory:  # type: ignore[arg-type]
        memory.add("I live in Porto.", user="ann", task="import 1")
        memory.jobs.wait(user="ann")
        memory.add("I like tea.", user="ann", task="import 1")
        memory.jobs.cancel(put(memory), user="ann")
        put(memory, state=JobState.DEAD, error="RuntimeError: no luck")
        put(memory, RETEXT)
        memory.jobs.set_share(user="ann", weight=2, running=4)
        before = looked_at(memory)
    with open_memory(tmp_path, clock=clock) as memory:  # type: ignore[arg-type]
        assert looked_at(memory) == before
        assert len(memory.jobs.list(user="ann")) == 5
        memory.jobs.wait(user="ann")
        assert memory.jobs.list(user="ann", open_only=True) == ()


def test_a_stranger_sees_nothing_of_anothers_jobs(memory: Memory) -> None:
    job = memory.add("I live in Porto.", user="ann", task="import 1").job
    assert job is not None
    memory.add("I like tea.", user="bob")
    cube = memory.cubes.list(user="ann")[0].id
    ask = memory.jobs
    assert job not in {each.id for each in ask.list(user="bob")}
    assert job not in {each.id for each in ask.events(user="bob", timeout=0)}
    assert sum(each.count for each in ask.counts(user="bob")) == 1
    assert [*ask.list(user="eve"), *ask.counts(user="eve")] == []
    by_id: list[Callable[..., object]] = [ask.get, ask.cancel, ask.retry, ask.drop, ask.wait]
    for call in by_id:
        for user in ("bob", "eve"):
            with pytest.raises(NotFoundError):
                call(job, user=user)
            with pytest.raises(NotFoundError, match="no cube"):
                call(job, user=user, cube=cube)
    of_cube: list[Callable[..., object]] = [ask.list, ask.counts, ask.share, ask.set_share, ask.events, ask.wait]
    for other in of_cube:
        with pytest.raises(NotFoundError, match="no cube"):
            other(user="bob", cube=cube)
    with pytest.raises(NotFoundError):
        ask.task("import 1", user="bob")
    assert ask.get(job, user="ann").state is JobState.QUEUED


def test_a_reader_of_a_shared_cube_looks_and_orders_nothing_about(memory: Memory) -> None:
    cube = memory.cubes.create("garden", user="ann")
    job = memory.add("I planted a pear tree.", user="ann", cube=cube.id, task="import 1").job
    assert job is not None
    grant(memory, cube.key, "eve", Role.READER)
    grant(memory, cube.key, "ed", Role.EDITOR)
    ask = memory.jobs
    assert [each.id for each in ask.list(user="eve", cube=cube.id)] == [job]
    assert ask.get(job, user="eve", cube=cube.id).id == job
    assert ask.task("import 1", user="eve", cube=cube.id).jobs[0].id == job
    assert [each.id for each in ask.events(user="eve", cube=cube.id, timeout=0)] == [job]
    assert ask.share(user="eve", cube=cube.id) == Share()
    calls: list[Callable[..., Job]] = [ask.cancel, ask.retry, ask.drop]
    for call in calls:
        with pytest.raises(AccessError, match="reader"):
            call(job, user="eve", cube=cube.id)
    with pytest.raises(AccessError, match="reader"):
        ask.set_share(user="eve", cube=cube.id, weight=2)
    assert ask.get(job, user="ann", cube=cube.id).state is JobState.QUEUED
    assert ask.cancel(job, user="ed", cube=cube.id).state is JobState.CANCELLED


BAD_IDS = ["", " ", "a\0b", "\ud800", "x" * 513, True, None, 1.5, ["a"], b"a"]
ODD_IDS = ["../../etc/passwd", "a/b?c#d%e&f=g h", "'; DROP TABLE job; --", "日本", "{}", "-1", "%", 7, 0]


@pytest.mark.parametrize("given", BAD_IDS, ids=repr)
def test_what_is_no_id_is_refused_by_its_name(memory: Memory, given: Any) -> None:
    ask = memory.jobs
    memory.add("I live in Porto.", user="ann")
    by_id: list[Callable[..., object]] = [ask.get, ask.cancel, ask.retry, ask.drop]
    for call in by_id:
        with pytest.raises(InputError) as told:
            call(given, user="ann")
        assert told.value.field == "id"
    of_user: list[Callable[..., object]] = [ask.list, ask.counts, ask.wait, ask.share, ask.set_share, ask.events]
    for call in of_user:
        with pytest.raises(InputError) as told:
            call(user=given)
        assert told.value.field == "user"
    with pytest.raises(InputError) as told:
        ask.task(given, user="ann")
    assert told.value.field == "task"
    if given is not None:
        by_field: dict[str, Callable[..., object]] = {"after": ask.list, "task": ask.wait, "cube": ask.counts}
        for field, call in by_field.items():
            with pytest.raises(InputError) as told:
                call(user="ann", **{field: given})
            assert told.value.field.startswith(field)
    if not isinstance(given, list) and given is not None:
        with pytest.raises(InputError) as told:
            ask.wait(given, user="ann")
        assert told.value.field == "jobs"


@pytest.mark.parametrize("given", ODD_IDS, ids=repr)
def test_an_odd_id_is_one_that_there_is_not(memory: Memory, given: Any) -> None:
    memory.add("I live in Porto.", user="ann", task=given)
    assert len(memory.jobs.task(given, user="ann").jobs) == 1
    for call in (memory.jobs.get, memory.jobs.cancel, memory.jobs.retry, memory.jobs.drop):
        with pytest.raises(NotFoundError):
            call(given, user="ann")
    assert memory.jobs.list(user=given) == ()
    assert isinstance(memory.jobs.list(user="ann", after=str(given)), tuple)
    assert len(memory.jobs.list(user="ann")) == 1


@pytest.mark.parametrize(
    "field, given",
    [
        ("limit", 0), ("limit", -1), ("limit", 10_001), ("limit", True), ("limit", "9"), ("limit", 2**70),
        ("states", "sleeping"), ("states", []), ("states", ["done", "x"]), ("states", 7), ("states", {"done": 1}),
        ("kinds", "cook"), ("kinds", []), ("kinds", [ORGANIZE, "\0"]), ("kinds", b"organize"), ("kinds", [None]),
        ("open_only", "yes"), ("open_only", 1),
    ],
)  # fmt: skip
def test_a_list_of_what_there_cannot_be_is_refused_by_the_name_of_the_field(
    memory: Memory, field: str, given: Any
) -> None:
    with pytest.raises(InputError) as told:
        memory.jobs.list(user="ann", **{field: given})
    assert told.value.field == field


def test_open_jobs_and_jobs_of_some_states_are_not_asked_for_at_once(memory: Memory) -> None:
    with pytest.raises(InputError) as told:
        memory.jobs.list(user="ann", open_only=True, states="dead")
    assert told.value.field == "states"


@pytest.mark.parametrize(
    "field, given",
    [
        *(("weight", each) for each in (0, -1, 0.001, 101, float("nan"), float("inf"), True, "2", None)),
        *(("running", each) for each in (-1, 1.5, True, "2", None, 2**40)),
        *(("per_minute", each) for each in (-1, 0.5, False, "2", None, 2**70)),
    ],
)
def test_a_share_that_cannot_be_is_refused_by_the_name_of_the_field(memory: Memory, field: str, given: Any) -> None:
    with pytest.raises(InputError) as told:
        memory.jobs.set_share(user="ann", **{field: given})
    assert told.value.field == field
    assert memory.cubes.list(user="ann") == [] or memory.jobs.share(user="ann") == Share()


@pytest.mark.parametrize("given", [-1, -0.5, float("nan"), True, "9", [1]], ids=repr)
def test_a_wait_of_what_is_no_time_is_refused(memory: Memory, given: Any) -> None:
    memory.add("I live in Porto.", user="ann", task="t")
    for call in (
        lambda: memory.jobs.wait(user="ann", timeout=given),
        lambda: memory.jobs.wait(user="ann", task="t", timeout=given),
        lambda: memory.jobs.events(user="ann", timeout=given),
    ):
        with pytest.raises(InputError) as told:
            call()
        assert told.value.field == "timeout"


def test_one_waits_for_jobs_or_for_a_task(memory: Memory) -> None:
    job = memory.add("I live in Porto.", user="ann", task="t").job
    assert job is not None
    with pytest.raises(InputError) as told:
        memory.jobs.wait(job, user="ann", task="t")
    assert told.value.field == "task"
    with pytest.raises(NotFoundError, match="no job 'nobody'"):
        memory.jobs.wait([job, "nobody"], user="ann")
    assert [each.id for each in memory.jobs.wait([job, job], user="ann")] == [job]
