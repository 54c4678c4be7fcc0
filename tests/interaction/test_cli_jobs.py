"""`mnemic jobs` as people and programs type it: what each verb shows, does, and ends with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from mnemic import Memory, wiring
from mnemic.config import Settings
from mnemic.ids import new_id
from mnemic.model.job import EMBED, ORGANIZE, RETEXT, JobState, queued
from tests.interaction.terminal import Terminal

VERBS = ("list", "dead", "show", "task", "counts", "wait", "watch", "cancel", "retry", "drop", "share")
WHY = "Traceback (most recent call last):\n  File somewhere\nRuntimeError: the moon is full"


@dataclass(frozen=True)
class Made:
    """The folder of a memory, and the ids of its jobs by what they are."""

    home: Path
    ids: dict[str, str]


def opened(home: Path) -> Memory:
    return Memory(settings=Settings(home=str(home), embedder="hashing", worker=False))


@contextmanager
def parts_of(home: Path) -> Iterator[wiring.Parts]:
    parts = wiring.build(Settings(home=str(home), embedder="hashing", worker=False))
    try:
        yield parts
    finally:
        parts.close()


def put(parts: wiring.Parts, kind: str, **changed: Any) -> str:
    with parts.store.write() as tx:
        key = parts.scoping.for_write(tx, "ann", None).key
        job = queued(new_id(), key, kind, parts.clock.now())
        job = replace(job, merge=job.id)
        tx.jobs.put(job)
        if changed:
            tx.jobs.save(replace(job, **changed))
    return job.id


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A memory of ann's with jobs that wait, are done and are dead."""
    home = tmp_path_factory.mktemp("jobs") / "memory"
    with opened(home) as memory:
        done = memory.add("I live in Porto.", user="ann", task="import 1").job
        memory.jobs.wait(user="ann")
    with parts_of(home) as parts:
        dead = put(parts, EMBED, state=JobState.DEAD, attempts=5, error=WHY, finished_at=parts.clock.now())
        other = put(parts, RETEXT, state=JobState.DEAD, attempts=5, error="it broke")
    with opened(home) as memory:
        waiting = memory.add("I like tea.", user="ann", task="import 1").job
    assert done is not None
    assert waiting is not None
    return Made(home, {"done": done, "dead": dead, "other": other, "waiting": waiting})


@pytest.fixture
def jobs(model: Made, tmp_path: Path) -> tuple[Terminal, dict[str, str]]:
    """A copy of that memory, to be changed."""
    copytree(model.home, tmp_path / "memory")
    return Terminal(tmp_path / "memory"), model.ids


Jobs = tuple[Terminal, dict[str, str]]


def test_every_verb_is_told_by_help_and_has_help_of_its_own(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    told = terminal.type("jobs", "--help").out
    assert all(f" {verb} " in told for verb in VERBS)
    assert all(terminal.type("jobs", verb, "--help").code == 0 for verb in VERBS)


def test_jobs_are_listed_for_people_and_programs(jobs: Jobs) -> None:
    terminal, ids = jobs
    said = terminal.type("jobs", "list")
    assert said.code == 0
    assert all(job in said.out for job in ids.values())
    assert all(word in said.out for word in ("queued", "dead", "done", "organize", "the moon is full"))
    assert "Traceback" not in said.out, "a list tells why in a line"
    found = terminal.json("jobs", "list")
    assert [job["id"] for job in found] == [ids[name] for name in ("waiting", "other", "dead", "done")]
    assert {"kind", "state", "attempts", "priority", "lane", "parent", "trace", "payload", "error"} <= found[0].keys()


def test_a_list_is_of_some_states_and_kinds_and_in_pages(jobs: Jobs) -> None:
    terminal, ids = jobs

    def found(*words: str) -> list[str]:
        return [job["id"] for job in terminal.json("jobs", "list", *words)]

    assert found("--open") == [ids["waiting"]]
    assert found("--state", "dead") == [ids["other"], ids["dead"]]
    assert found("--state", "done", "--state", "queued") == [ids["waiting"], ids["done"]]
    assert found("--kind", RETEXT, "--kind", EMBED) == [ids["other"], ids["dead"]]
    assert found("--limit", "1") == [ids["waiting"]]
    assert found("--limit", "2", "--after", ids["waiting"]) == [ids["other"], ids["dead"]]
    assert found("--state", "cancelled") == []
    assert "no jobs" in terminal.type("jobs", "list", "--state", "cancelled").out


@pytest.mark.parametrize(
    "words, named",
    [
        (("list", "--state", "sleeping"), "states"),
        (("list", "--kind", "cook"), "kinds"),
        (("list", "--limit", "0"), "limit"),
        (("list", "--limit", "-3"), "limit"),
        (("list", "--after", ""), "after"),
        (("list", "--open", "--state", "dead"), "states"),
        (("dead", "--limit", "0"), "limit"),
        (("show", ""), "id"),
        (("task", " "), "task"),
        (("wait", "--timeout", "-1"), "timeout"),
        (("watch", "--timeout", "nan"), "timeout"),
        (("share", "--weight", "0"), "weight"),
        (("share", "--running", "-1"), "running"),
        (("share", "--per-minute", "99999999999"), "per_minute"),
    ],
)
def test_bad_input_ends_with_2_and_names_the_field(jobs: Jobs, words: tuple[str, ...], named: str) -> None:
    terminal, _ = jobs
    said = terminal.type("jobs", *words)
    assert said.code == 2
    assert named in said.err
    assert said.out == ""
    again = terminal.type("jobs", *words, "--json")
    assert (again.code, again.json["error"]["code"]) == (2, "invalid_input")


@pytest.mark.parametrize("verb", ["show", "task", "cancel", "retry", "drop", "wait"])
def test_what_there_is_not_ends_with_1_also_when_it_is_anothers(jobs: Jobs, verb: str) -> None:
    terminal, ids = jobs
    stranger = Terminal(terminal.home, user="eve")
    for who, name in ((terminal, "../nothing"), (stranger, ids["dead"] if verb != "task" else "import 1")):
        said = who.type("jobs", verb, name)
        assert (said.code, said.out) == (1, ""), said.err
        assert name in said.err
        assert who.type("jobs", verb, name, "--json").json["error"]["code"] == "not_found"


def test_dead_letters_are_listed_with_the_reason(jobs: Jobs) -> None:
    terminal, ids = jobs
    said = terminal.type("jobs", "dead")
    assert said.code == 0
    assert ids["dead"] in said.out
    assert "RuntimeError: the moon is full" in said.out
    assert [job["id"] for job in terminal.json("jobs", "dead", "--limit", "1")] == [ids["other"]]
    assert "no jobs" in Terminal(terminal.home, user="eve").type("jobs", "dead").out


def test_one_job_is_shown_whole_with_its_traceback(jobs: Jobs) -> None:
    terminal, ids = jobs
    said = terminal.type("jobs", "show", ids["dead"])
    assert said.code == 0
    assert all(word in said.out for word in (ids["dead"], EMBED, "dead", "Traceback", "the moon is full", "quick"))
    assert terminal.json("jobs", "show", ids["dead"])["error"] == WHY
    assert "not before" in terminal.type("jobs", "show", ids["waiting"]).out
    assert "ended" in terminal.type("jobs", "show", ids["done"]).out


def test_a_task_is_shown_with_its_jobs_and_may_be_named_on_the_command_line(jobs: Jobs) -> None:
    terminal, ids = jobs
    said = terminal.type("jobs", "task", "import 1")
    assert said.code == 0
    assert said.out.startswith("import 1: queued")
    found = terminal.json("jobs", "task", "import 1")
    assert (found["id"], found["state"]) == ("import 1", "queued")
    assert [job["id"] for job in found["jobs"]] == [ids["done"], ids["waiting"]]
    assert terminal.type("add", "I like coffee.", "--task", "by hand").code == 0
    assert terminal.json("jobs", "task", "by hand")["state"] == "done"


def test_counts_tell_how_many_are_in_each_state_and_since_when(jobs: Jobs) -> None:
    terminal, _ = jobs
    said = terminal.type("jobs", "counts")
    assert said.code == 0
    assert "dead" in said.out
    found = {each["state"]: each["count"] for each in terminal.json("jobs", "counts")}
    assert found == {"queued": 1, "done": 1, "dead": 2}
    assert Terminal(terminal.home, user="eve").json("jobs", "counts") == []


def test_waiting_does_the_work_when_nobody_else_does(jobs: Jobs) -> None:
    terminal, ids = jobs
    said = terminal.type("jobs", "wait", ids["waiting"])
    assert said.code == 0
    assert "done" in said.out
    assert terminal.json("jobs", "show", ids["waiting"])["state"] == "done"
    assert [job["id"] for job in terminal.json("jobs", "wait", "--task", "import 1")] == [ids["done"], ids["waiting"]]
    assert terminal.type("jobs", "wait", "--quiet").out == ""


def test_waiting_for_what_failed_or_was_cancelled_ends_with_6(jobs: Jobs) -> None:
    terminal, ids = jobs
    terminal.type("jobs", "cancel", ids["waiting"])  # nothing is done, so that nothing dead gets one more try
    for name, why in (("dead", "the moon is full"), ("waiting", "was cancelled")):
        said = terminal.type("jobs", "wait", ids[name], "--timeout", "5")
        assert (said.code, said.out) == (6, "")
        assert why in said.err
        assert terminal.type("jobs", "wait", ids[name], "--json").json["error"]["code"] == "job_failed"


def test_changes_are_printed_one_a_line_until_nothing_changes(jobs: Jobs) -> None:
    terminal, ids = jobs
    said = terminal.type("jobs", "watch", "--timeout", "0")
    assert said.code == 0
    lines = said.out.strip().split("\n")
    assert len(lines) == 4
    assert sum("the moon is full" in line for line in lines) == 1
    programs = terminal.type("jobs", "watch", "--timeout", "0", "--json")
    assert programs.code == 0
    assert sorted(line.split('"id": "')[1].split('"')[0] for line in programs.out.strip().split("\n")) == sorted(
        ids.values()
    )


def test_what_waits_is_cancelled_and_brought_back(jobs: Jobs) -> None:
    terminal, ids = jobs
    said = terminal.type("jobs", "cancel", ids["waiting"])
    assert said.code == 0
    assert "cancelled" in said.out
    again = terminal.type("jobs", "cancel", ids["waiting"])
    assert (again.code, again.out) == (2, "")
    assert "only what waits can be cancelled" in again.err
    retried = terminal.json("jobs", "retry", ids["waiting"])
    assert [(job["id"], job["state"]) for job in retried] == [(ids["waiting"], "failed")]
    assert terminal.type("jobs", "wait", ids["waiting"]).code == 0


def test_dead_letters_are_tried_again_one_or_all_and_none_ends_with_1(jobs: Jobs) -> None:
    terminal, ids = jobs
    assert [job["id"] for job in terminal.json("jobs", "retry", ids["dead"])] == [ids["dead"]]
    said = terminal.type("jobs", "retry")
    assert said.code == 0
    assert ids["other"] in said.out
    assert terminal.type("jobs", "retry").code == 1
    assert terminal.type("jobs", "wait").code == 0
    assert {job["state"] for job in terminal.json("jobs", "list")} == {"done"}


def test_a_dead_letter_is_dropped_and_nothing_that_waits(jobs: Jobs) -> None:
    terminal, ids = jobs
    said = terminal.type("jobs", "drop", ids["dead"])
    assert said.code == 0
    assert f"dropped embed {ids['dead']}" in said.out
    assert terminal.type("jobs", "show", ids["dead"]).code == 1
    assert terminal.type("jobs", "drop", ids["waiting"]).code == 2
    assert terminal.json("jobs", "drop", ids["other"])["state"] == "dead"


def test_a_share_is_shown_and_changed_in_part(jobs: Jobs) -> None:
    terminal, _ = jobs
    assert "as the settings say" in terminal.type("jobs", "share").out
    changed = terminal.json("jobs", "share", "--weight", "2.5", "--running", "3")
    assert changed == {"weight": 2.5, "running": 3, "per_minute": 0}
    assert terminal.json("jobs", "share", "--per-minute", "60") == {"weight": 2.5, "running": 3, "per_minute": 60}
    assert "3 at one time" in terminal.type("jobs", "share").out
    assert terminal.json("jobs", "share", "--running", "0")["running"] == 0


def test_a_job_of_a_cube_is_found_by_the_cube(jobs: Jobs) -> None:
    terminal, _ = jobs
    cube = terminal.json("cubes", "create", "garden")["id"]
    terminal.type("add", "I planted a pear tree.", "--cube", cube)
    found = terminal.json("jobs", "list", "--cube", cube)
    assert [(job["kind"], job["state"]) for job in found] == [(ORGANIZE, "done")]
    assert terminal.type("jobs", "show", found[0]["id"]).code == 1
    assert terminal.type("jobs", "show", found[0]["id"], "--cube", cube).code == 0
    assert Terminal(terminal.home, user="eve").type("jobs", "list", "--cube", cube).code == 1
