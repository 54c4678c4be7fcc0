"""`mnemic worker` as processes: it does what waits, drains when it is told to, loses nothing, and leaves no orphan."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mnemic import Memory
from mnemic.backends.sql.sqlite import DATABASE_FILE
from mnemic.config import Settings
from mnemic.model.job import EMBED, ORGANIZE, JobState
from tests.faults.counting import faults
from tests.interaction.test_working import PATIENCE, heard, working

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

MANY = 500
"""Messages whose organizing takes long enough to be met in the middle."""


@contextmanager
def opened(home: Path) -> Iterator[Memory]:
    with Memory(settings=Settings(home=str(home), embedder="hashing", worker=False)) as memory:
        yield memory


def asked(home: Path, query: str) -> list[Any]:
    """Ask the store without opening a memory, which might do the work itself."""
    with closing(sqlite3.connect(home / DATABASE_FILE, timeout=30)) as connection:
        return connection.execute(query).fetchall()


def eventually(held: Callable[[], object], told: str) -> None:
    """Wait until something holds, no longer than the test's patience."""
    for _ in range(int(PATIENCE / 0.05)):
        if held():
            return
        threading.Event().wait(0.05)
    pytest.fail(told)


def states(home: Path) -> dict[str, str]:
    return dict(asked(home, "SELECT kind, state FROM job"))


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that only waits for its parent to take notice does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def pids_of(process: subprocess.Popen[str]) -> list[int]:
    (begun,) = [line for line in heard(process, "workers_started") if line["event"] == "workers_started"]
    return [int(pid) for pid in begun["fields"]["pids"]]


def started(process: subprocess.Popen[str]) -> int:
    """Wait until one worker process has opened its memory; return its id."""
    return int(heard(process, "worker_started")[-1]["fields"]["pid"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
def test_a_worker_does_what_waits_and_what_comes_and_ends_well_when_told(
    tmp_path: Path, number: signal.Signals
) -> None:
    with opened(tmp_path) as memory:
        memory.add("I live in Porto.", user="ann")
    with working(tmp_path, log_format="json") as process:
        started(process)
        eventually(lambda: states(tmp_path) == {ORGANIZE: "done"}, "what waited is not done")
        with opened(tmp_path) as memory:
            memory.add("I like green tea.", user="bob")
        eventually(
            lambda: asked(tmp_path, "SELECT DISTINCT state FROM job") == [("done",)],
            "what another process has queued is not done",
        )
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
    with opened(tmp_path) as memory:
        assert memory.search("Where does Ann live?", user="ann", kinds="fact")[0].text == "ann lives in Porto."
        assert memory.search("tea", user="bob", kinds="preference")
    assert faults(tmp_path, finished=True) == []


def test_a_job_in_the_middle_goes_back_and_is_done_at_the_next_opening(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add([f"I live in Porto, says note {number}." for number in range(MANY)], user="ann")
    with working(tmp_path, log_format="json") as process:
        started(process)
        read = "SELECT count(*) FROM message WHERE extracted = 1"
        eventually(lambda: asked(tmp_path, read)[0][0] > 0, "nothing is read")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert 0 < asked(tmp_path, read)[0][0] < MANY, "it was not met in the middle"
    [(job_id, state, attempts, lease)] = asked(tmp_path, "SELECT id, state, attempts, lease_until FROM job")
    assert (state, attempts, lease) == ("queued", 0, None), "being stopped counts as a try, or keeps the job"
    with opened(tmp_path) as memory:
        done = memory.jobs.wait(user="ann", timeout=PATIENCE)
        assert job_id in {job.id for job in done if job.state is JobState.DONE}
        assert memory.stats(user="ann").messages == MANY
    assert faults(tmp_path, finished=True) == []


def test_a_worker_of_some_kinds_does_only_these(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        job = memory.add("I live in Porto.", user="ann").job
        assert job is not None
    with working(tmp_path, "--kinds", EMBED, log_format="json") as process:
        started(process)
        with opened(tmp_path) as memory:
            memory.add("I like tea.", user="bob")
        threading.Event().wait(1.0)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert set(asked(tmp_path, "SELECT kind, state FROM job")) == {(ORGANIZE, "queued")}
    with working(tmp_path, "--kinds", f"{EMBED}, {ORGANIZE}", log_format="json") as process:
        eventually(lambda: states(tmp_path) == {ORGANIZE: "done"}, "a kind that it has is not done")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    "options, named",
    [
        (("--kinds", "organize,cook"), "'cook' is no kind of job"),
        (("--processes", "2", "--kinds", "cook"), "'cook' is no kind of job"),
        (("--processes", "0"), "processes"),
        (("--threads", "0"), "worker_threads"),
        (("--processes", "2", "--threads", "0"), "worker_threads"),
    ],
)
def test_what_cannot_be_run_is_refused_once_by_name(tmp_path: Path, options: tuple[str, ...], named: str) -> None:
    with working(tmp_path, *options) as process:
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert told.count(named) == 1, told


def test_several_processes_are_looked_after_and_drained_together(tmp_path: Path) -> None:
    with working(tmp_path, "--processes", "2", log_format="json") as process:
        first, second = pids_of(process)
        for _ in range(2):
            started(process)
        with opened(tmp_path) as memory:
            memory.add("I live in Porto.", user="ann")
        eventually(lambda: states(tmp_path) == {ORGANIZE: "done"}, "nothing is done")
        os.kill(first, signal.SIGKILL)
        died = heard(process, "worker_died")[-1]["fields"]
        assert (died["pid"], died["code"]) == (first, -signal.SIGKILL)
        again = started(process)
        assert again not in (first, second)
        assert [is_alive(pid) for pid in (first, second, again)] == [False, True, True]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert not [pid for pid in (first, second, again) if is_alive(pid)], "an orphan is left"


def test_processes_whose_parent_was_killed_end_by_themselves(tmp_path: Path) -> None:
    with working(tmp_path, "--processes", "2", log_format="json") as process:
        pids = pids_of(process)
        for _ in range(2):
            started(process)
        process.kill()
        assert process.wait(PATIENCE) == -signal.SIGKILL
        eventually(lambda: not [pid for pid in pids if is_alive(pid)], "orphans go on for ever")


def test_a_worker_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add([f"I live in Porto, says note {number}." for number in range(MANY)], user="ann")
    with working(tmp_path, log_format="json") as process:
        started(process)
        read = "SELECT count(*) FROM message WHERE extracted = 1"
        eventually(lambda: asked(tmp_path, read)[0][0] > 0, "nothing is read")
        process.kill()
        process.wait(PATIENCE)
    assert 0 < asked(tmp_path, read)[0][0] < MANY, "it was not met in the middle"
    assert states(tmp_path) == {ORGANIZE: "running"}
    with working(tmp_path, log_format="json") as process:
        eventually(
            lambda: asked(tmp_path, "SELECT state, attempts FROM job WHERE kind = 'organize'")[:1] == [("done", 2)],
            "the job is not taken over",
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert asked(tmp_path, read) == [(MANY,)]
    assert faults(tmp_path, finished=True) == []
