"""The server beside a worker, as Prometheus and whoever restarts processes see it."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from mnemic import wiring
from mnemic.config import Settings
from mnemic.errors import InputError, StoreError
from mnemic.runtime.exposing import Exposed
from mnemic.runtime.readiness import Readiness


@contextmanager
def exposed(
    readiness: Readiness | None = None, figures: Callable[[], str] = lambda: "mnemic_up 1\n"
) -> Iterator[Exposed]:
    server = Exposed(figures, readiness or Readiness({}), host="127.0.0.1", port=0)
    try:
        yield server
    finally:
        server.close()


def ask(server: Exposed, path: str, method: str = "GET") -> tuple[HTTPResponse, str]:
    host, _, port = server.address.removeprefix("http://").rpartition(":")
    connection = HTTPConnection(host.strip("[]"), int(port), timeout=30)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response, response.read().decode()
    finally:
        connection.close()


def test_a_process_that_lives_says_so_whatever_its_parts_do() -> None:
    with exposed(Readiness({"store": lambda: "gone"})) as server:
        response, body = ask(server, "/health")
        assert (response.status, json.loads(body)) == (200, {"status": "alive"})
        assert response.headers["server"].strip() == "mnemic"


def test_it_is_ready_when_its_parts_are_and_tells_the_reason_when_not() -> None:
    wrong = {"store": ""}

    def store() -> str:
        if wrong["store"]:
            raise StoreError(wrong["store"])
        return ""

    with exposed(Readiness({"store": store, "queue": lambda: ""})) as server:
        response, body = ask(server, "/ready?verbose=1")
        assert (response.status, json.loads(body)["parts"]) == (200, {"store": "ok", "queue": "ok"})
        wrong["store"] = "postgresql://ann:hunter2@db/x: connection refused"
        response, body = ask(server, "/ready")
        assert response.status == 503
        assert json.loads(body) == {
            "status": "not ready",
            "parts": {"store": "postgresql://[hidden]@db/x: connection refused", "queue": "ok"},
        }


def test_figures_are_text_as_prometheus_reads_it_and_a_head_has_no_body() -> None:
    with exposed() as server:
        response, body = ask(server, "/metrics")
        assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert body == "mnemic_up 1\n"
        response, body = ask(server, "/metrics", "HEAD")
        assert (response.headers["content-length"], body) == ("12", "")


def test_other_paths_and_methods_are_refused() -> None:
    with exposed() as server:
        response, body = ask(server, "/")
        assert (response.status, json.loads(body)) == (404, {"paths": ["/metrics", "/health", "/ready"]})
        assert ask(server, "/metrics", "POST")[0].status == 501


def test_a_port_that_is_taken_is_told_by_its_setting() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match=r"metrics_port: 127\.0\.0\.1:"):
            Exposed(lambda: "", Readiness({}), host="127.0.0.1", port=taken.getsockname()[1])


def test_a_client_that_says_nothing_keeps_nobody_waiting() -> None:
    with exposed() as server, socket.create_connection(_place(server), timeout=30):
        assert ask(server, "/health")[0].status == 200


def test_more_requests_than_it_takes_are_turned_away_and_room_comes_back() -> None:
    with exposed() as server:
        silent = [socket.create_connection(_place(server), timeout=30) for _ in range(16)]
        try:
            with pytest.raises(ConnectionError):  # connections are taken in the order in which they were made
                ask(server, "/health")
        finally:
            for each in silent:
                each.close()
        for _ in range(1_000):
            try:
                assert ask(server, "/health")[0].status == 200
            except ConnectionError:
                continue
            return
        pytest.fail("no room came back")


def _place(server: Exposed) -> tuple[str, int]:
    host, _, port = server.address.removeprefix("http://").rpartition(":")
    return host, int(port)


def test_a_memory_is_shown_with_its_figures_and_its_store(tmp_path: Path) -> None:
    parts = wiring.build(Settings(home=str(tmp_path), embedder="hashing", worker=False))
    try:
        server = wiring.expose(parts, "127.0.0.1", 0, further={"worker": lambda: "it is being drained"})
        try:
            families = {family.name for family in text_string_to_metric_families(ask(server, "/metrics")[1])}
            assert {"mnemic_up", "mnemic_database_bytes", "mnemic_job_oldest_due_seconds"} <= families
            response, body = ask(server, "/ready")
            assert response.status == 503
            assert json.loads(body)["parts"] == {"store": "ok", "queue": "ok", "worker": "it is being drained"}
        finally:
            server.close()
    finally:
        parts.close()
