"""A server with its doors on loopback, and MemOS's own client in an environment of its own beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from mnemic.acting import acting
from mnemic.api import Memory
from mnemic.config import Settings
from mnemic.model.caller import LOCAL
from mnemic.shells.http.app import build
from mnemic.shells.http.running import Server, address_of, listening
from tests.databases import address_of as address_of_store
from tests.services.opened import new_store

ROOT: Final = Path(__file__).parents[2]
DRIVER: Final = Path(__file__).with_name("memos_client.py")
CLIENT: Final = "MemoryOS==2.0.33"
NEEDS: Final = ("requests", "pydantic", "python-dotenv", "concurrent-log-handler", "pyyaml", "typing-extensions")
"""What the client's module imports; the package itself asks for hundreds of megabytes that it does not use."""

PLACE: Final = "MEMOS_CLIENT_PYTHON"
"""In the environment: a Python that has the client, instead of one that is made."""

_PATIENCE: Final = 60  # seconds


class ClientMissingError(Exception):
    """The client is not here, and cannot be brought."""


@contextmanager
def served(memory: Memory) -> Iterator[str]:
    """Serve a memory while the block runs; yield the address."""
    listener = listening("127.0.0.1", 0)
    server = Server(build(memory), patience=5.0)
    thread = threading.Thread(target=server.serve_on, args=(listener,), daemon=True)
    thread.start()
    try:
        yield address_of(listener)
    finally:
        server.end()
        thread.join(_PATIENCE)
        assert not thread.is_alive()


def client_python(cache: Path) -> str:
    """Return a Python with MemOS's client, made once. Raises `ClientMissingError` without a package index."""
    if given := os.environ.get(PLACE):
        return given
    place = cache / "memos-client" / CLIENT.rpartition("=")[2]
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (place / "complete").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        steps = (
            [sys.executable, "-m", "venv", str(place)],
            [str(python), "-m", "pip", "install", "-q", "--no-deps", CLIENT],
            [str(python), "-m", "pip", "install", "-q", *NEEDS],
        )
        if uv := shutil.which("uv"):
            target = ["--python", str(python)]
            steps = (
                [uv, "venv", "-q", "--python", sys.executable, str(place)],
                [uv, "pip", "install", "-q", *target, "--no-deps", CLIENT],
                [uv, "pip", "install", "-q", *target, *NEEDS],
            )
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode:
                raise ClientMissingError(f"MemOS's client cannot be installed here: {done.stderr.strip()[-300:]}")
        (place / "complete").touch()
    return str(python)


class MemosClient:
    """MemOS's client in a process of its own. A context manager; `transcript` has what was asked and given."""

    def __init__(self, python: str, address: str, key: str, *, user: str = "") -> None:
        command = [python, str(DRIVER), f"{address}/api/openmem/v1", key, *([user] if user else [])]
        place = Path(python).parents[1]  # the client writes a log wherever it is told to
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**environment, "MEMOS_BASE_PATH": str(place), "NO_PROXY": "*"}, cwd=place,
        )  # fmt: skip
        self.transcript: list[tuple[str, dict[str, Any], Any]] = []
        self.version = str(self._line()["client"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(_PATIENCE)
        self._process.stdout.close()

    def told(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Return what a call gave or raised."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"method": method, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        found = self._line()
        self.transcript.append((method, arguments, found))
        return found

    def gave(self, method: str, **arguments: Any) -> Any:
        """Return what a call gave; what it raised fails the test."""
        found = self.told(method, **arguments)
        assert "gave" in found, found
        return found["gave"]

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the client ended with {self._process.poll()}"
        found: dict[str, Any] = json.loads(line)
        return found


def new_memory(folder: Path, **settings: Any) -> Memory:
    """Open a guarded memory as a server does, with a small embedder."""
    given = Settings(home=str(folder), database_url=address_of_store(folder), **settings)
    return Memory(settings=given, embedder=new_store(folder), guarded=True)


def new_key(memory: Memory, name: str = "app", **reach: Any) -> str:
    """Make a key as somebody at the machine does."""
    with acting(LOCAL):
        return memory.keys.create(name, **reach).secret
