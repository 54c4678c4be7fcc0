"""`mnemic serve` as who runs it sees it: what it prints, what works when it is copied, and how it ends."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx2
import pytest

from mnemic import Memory
from tests.interaction.http_served import PATIENCE, until


@contextmanager
def served(home: Path, *options: str, **settings: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Start a server in a process of its own, and collect what it prints; kill it when it outlives the patience."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")}
    environment |= {f"MNEMIC_{name.upper()}": value for name, value in settings.items()}
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemic", "--home", str(home), "serve", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**environment, "MNEMIC_EMBEDDER": "hashing", "MNEMIC_LOG_FORMAT": "json"},
    )  # fmt: skip
    watchdog = threading.Timer(PATIENCE, process.kill)
    watchdog.start()
    lines: list[str] = []
    reader = threading.Thread(target=_collect, args=(process.stdout, lines))
    reader.start()
    try:
        yield process, lines
    finally:
        watchdog.cancel()
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        reader.join(PATIENCE)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def _collect(stream: IO[str] | None, lines: list[str]) -> None:
    assert stream is not None
    for line in stream:
        lines.append(line)  # noqa: PERF402 - as they come


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    assert process.stderr is not None
    told = process.stderr.read()
    return process.wait(PATIENCE), told


def test_it_starts_with_no_configuration_says_what_to_try_and_that_works(tmp_path: Path) -> None:
    with served(tmp_path, "--port", "0") as (process, lines):
        until(lambda: any("keys" in line for line in lines) or process.poll() is not None)
        shown = "".join(lines)
        address = re.findall(r"http://127\.0\.0\.1:\d+", shown)[0]
        assert f"{address}/openapi.json" in shown and "mnemic keys create" in shown
        assert httpx2.get(f"{address}/ready", timeout=PATIENCE).status_code == 200
        tries = [shlex.split(line)[1:] for line in lines if line.split()[:1] in (["add"], ["find"], ["python"])]
        assert len(tries) == 3
        for words in tries:
            if words[0] == "curl":
                body = json.loads(words[words.index("--json") + 1])
                answer = httpx2.post(words[1], json=body, timeout=PATIENCE)
                assert answer.status_code in (200, 201), answer.text
        done = subprocess.run(tries[2], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert "Stats(messages=1" in done.stdout, done.stderr
        process.send_signal(signal.SIGTERM)
        code, log = ended(process)
    told = [json.loads(line)["event"] for line in log.splitlines()]
    assert code == 0
    assert [each for each in told if each.startswith("server_")] == [
        "server_started", "server_draining", "server_closing", "server_ended",
    ]  # fmt: skip
    assert "job_ended" in told, "its worker has done what the add left behind"


def test_it_ends_by_ctrl_c_as_well_and_prints_json_for_programs(tmp_path: Path) -> None:
    with served(tmp_path, "--port", "0", "--json", "--no-worker") as (process, lines):
        until(lambda: lines or process.poll() is not None)
        told = json.loads(lines[0])
        assert httpx2.get(told["openapi"], timeout=PATIENCE).json()["info"]["title"] == "Mnemic"
        body = {"user": "ann", "messages": "I like tea."}
        assert httpx2.post(f"{told['address']}/v1/messages", json=body, timeout=PATIENCE).status_code == 201
        process.send_signal(signal.SIGINT)
        code, log = ended(process)
    assert code == 0
    assert "job_ended" not in log and "Traceback" not in log


def test_it_says_so_when_all_keys_are_over(tmp_path: Path) -> None:
    with Memory(tmp_path, settings={"embedder": "hashing", "worker": False}) as memory:
        memory.keys.revoke(memory.keys.create("phone").key.id)
    with served(tmp_path, "--port", "0") as (process, lines):
        until(lambda: any("keys" in line for line in lines) or process.poll() is not None)
        shown = "".join(lines)
        assert "all are over" in shown
        address = re.findall(r"http://127\.0\.0\.1:\d+", shown)[0]
        assert httpx2.get(f"{address}/v1/stats?user=ann", timeout=PATIENCE).status_code == 401


def test_another_machine_is_not_served_until_a_key_exists(tmp_path: Path) -> None:
    with served(tmp_path, "--host", "0.0.0.0", "--port", "0") as (process, _):
        code, told = ended(process)
    assert code == 2
    assert "host: 0.0.0.0 can be reached from other machines" in told and "mnemic keys create" in told
    environment = {**os.environ, "MNEMIC_EMBEDDER": "hashing"}
    made = subprocess.run(
        [sys.executable, "-m", "mnemic", "--home", str(tmp_path), "--json", "keys", "create", "phone"],
        capture_output=True, text=True, timeout=PATIENCE, check=True, env=environment,
    )  # fmt: skip
    secret = json.loads(made.stdout)["secret"]
    with served(tmp_path, "--host", "0.0.0.0", "--port", "0", "--json") as (process, lines):
        until(lambda: lines or process.poll() is not None)
        address = json.loads(lines[0])["address"].replace("0.0.0.0", "127.0.0.1")
        assert httpx2.get(f"{address}/v1/stats?user=ann", timeout=PATIENCE).status_code == 401
        key = {"Authorization": f"Bearer {secret}"}
        assert httpx2.get(f"{address}/v1/stats?user=ann", headers=key, timeout=PATIENCE).status_code == 200
        process.send_signal(signal.SIGTERM)
        code, log = ended(process)
    assert code == 0 and secret not in log


def test_a_port_that_is_taken_is_told_and_nothing_is_opened(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with served(tmp_path / "new", "--port", str(port)) as (process, _):
            code, told = ended(process)
    assert code == 2
    assert f"port: 127.0.0.1:{port} cannot be listened on" in told and "Traceback" not in told
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("options", [("--host", "no.such.host.invalid"), ("--port", "70000"), ("--port", "-1")])
def test_an_address_that_is_none_is_told_by_its_option(tmp_path: Path, options: tuple[str, str]) -> None:
    with served(tmp_path, *options) as (process, _):
        code, told = ended(process)
    assert code == 2 and "Traceback" not in told
    assert options[0].lstrip("-") in told


def test_a_call_that_runs_ends_before_the_process_does(tmp_path: Path) -> None:
    with served(tmp_path, "--port", "0", "--json", worker_kinds="embed") as (process, lines):
        until(lambda: lines or process.poll() is not None)
        address = json.loads(lines[0])["address"]
        body = {"user": "ann", "messages": "I like tea."}
        assert httpx2.post(f"{address}/v1/messages", json=body, timeout=PATIENCE).status_code == 201
        with httpx2.stream("GET", f"{address}/v1/jobs/events?user=ann", timeout=PATIENCE) as stream:
            heard = stream.iter_lines()
            assert next(heard).startswith("id: ")
            process.send_signal(signal.SIGTERM)
            assert "event: error" in list(heard)
        code, _ = ended(process)
    assert code == 0
