"""`mnemic worker` as who runs it sees it: its log, its figures, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from mnemic import Memory
from mnemic.config import Settings

PATIENCE = 100.0  # seconds after which a process that is still there is killed, and the test fails


@contextmanager
def working(home: Path, *options: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """Start a worker process; kill it when it outlives the test's patience."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")}
    environment |= {f"MNEMIC_{name.upper()}": value for name, value in settings.items()}
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemic", "--home", str(home), "worker", *options],
        stderr=subprocess.PIPE, text=True, env={**environment, "MNEMIC_EMBEDDER": "hashing"},
    )  # fmt: skip
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        assert process.stderr is not None
        process.stderr.close()


def heard(process: subprocess.Popen[str], event: str) -> list[dict[str, Any]]:
    """Read lines of the log up to an event."""
    assert process.stderr is not None
    lines: list[dict[str, Any]] = []
    for line in _lines(process.stderr):
        lines.append(line)
        if line["event"] == event:
            return lines
    pytest.fail(f"no {event} in {lines}")


def _lines(stream: IO[str]) -> Iterator[dict[str, Any]]:
    for line in stream:
        yield json.loads(line)


def ask(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_a_worker_logs_one_json_object_a_line_shows_its_figures_and_drains(tmp_path: Path) -> None:
    with Memory(settings=Settings(home=str(tmp_path), embedder="hashing", worker=False)) as memory:
        memory.add("I live in Porto.", user="ann")
        (job,) = memory.jobs.list(user="ann")
    port = free_port()
    with working(tmp_path, "--metrics-port", str(port), log_format="json") as process:
        lines = heard(process, "worker_started")
        assert "figures_exposed" in {line["event"] for line in lines}
        if "job_ended" not in {line["event"] for line in lines}:
            lines += heard(process, "job_ended")
        (ended,) = [line for line in lines if line["event"] == "job_ended"]
        assert (ended["trace"], ended["job"], ended["fields"]["outcome"]) == (job.trace, job.id, "done")
        assert ask(port, "/health")[0] == 200
        status, body = ask(port, "/ready")
        assert (status, json.loads(body)["parts"]) == (200, {"store": "ok", "queue": "ok", "process": "ok"})
        assert 'mnemic_jobs_run_total{kind="organize",outcome="done"} 1.0' in ask(port, "/metrics")[1]
        process.send_signal(signal.SIGTERM)
        assert [line["event"] for line in heard(process, "worker_ended")] == ["worker_draining", "worker_ended"]
        assert process.wait(PATIENCE) == 0


def test_each_of_several_processes_has_a_port_of_its_own(tmp_path: Path) -> None:
    port = free_port()
    with working(tmp_path, "--processes", "2", "--metrics-port", str(port), log_format="json") as process:
        (begun,) = [line for line in heard(process, "workers_started") if line["event"] == "workers_started"]
        assert len(begun["fields"]["pids"]) == 2
        found = [line["fields"]["address"] for line in _until_exposed(process, 2)]
        assert sorted(found) == [f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def _until_exposed(process: subprocess.Popen[str], count: int) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    while len(found := [line for line in lines if line["event"] == "figures_exposed"]) < count:
        lines += heard(process, "figures_exposed")
    return found


def test_a_worker_that_cannot_show_itself_says_so_and_ends(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with working(tmp_path, "--metrics-port", str(port)) as process:
            assert process.wait(PATIENCE) == 2
            assert process.stderr is not None
            assert f"metrics_port: 127.0.0.1:{port} cannot be listened on" in process.stderr.read()
